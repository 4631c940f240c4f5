"""ABS: active objects, as far as common examples use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, Place
from porcini.core.languages import Model, Source
from porcini.core.systems import Value
from porcini.ir.objects import ObjectProposition
from porcini.ir.passes.forgetting import forget_dead_variables
from porcini.ir.program import Program
from porcini.ir.tasks.system import StepSystem
from porcini.langs.actors.lower import lower
from porcini.langs.actors.parser import parse
from porcini.langs.actors.propositions import proposition

if TYPE_CHECKING:
    from porcini.ir.symbolic.formulas import SymbolicSystem

CAPABILITIES = Capabilities(
    ".abs programs",
    {
        "theory": "it is not a rewrite theory",
    },
)


def load(source: str, file: str) -> Program:
    """Parse, check and lower a program."""
    try:
        return lower(parse(source, file), file, source)
    except RecursionError:
        raise InputError("nested too deep", file=file) from None


@dataclass(frozen=True, eq=False)
class ActorModel(Model):
    program: Program

    takes_inputs: ClassVar[bool] = True
    input_hint: ClassVar[str] = "an input is a function such as `def Int n() = 3;`"
    capabilities: ClassVar[Capabilities] = CAPABILITIES

    @property
    def inputs(self) -> Mapping[str, str]:
        return self.program.library.inputs

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(self.program.notes)

    @property
    def observable(self) -> set[str]:
        return {v.name[1:] for class_ in self.program.classes for v in class_.fields}

    def proposition(self, text: str, place: Place) -> ObjectProposition:
        return proposition(self.program, text, place)

    def symbolic(self, inputs: Sequence[str] = ()) -> SymbolicSystem:
        from porcini.ir.tasks.symbolic import SymbolicActors  # with its solver

        return SymbolicActors(self.program, self.file, self.source)

    def compile(self, inputs: Mapping[str, Value], *, optimise: bool) -> StepSystem:
        program = forget_dead_variables(self.program) if optimise else self.program
        return StepSystem(program.with_inputs(inputs))


class Abs:
    title = "actors: active objects of ABS"
    capabilities = CAPABILITIES
    takes_macros = takes_description = takes_latin = False

    def load(self, source: Source) -> ActorModel:
        return ActorModel(source.file, "abs", source.text, load(source.text, source.file))


LANGUAGE = Abs()
