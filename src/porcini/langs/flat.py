"""Models of points and edges, which run in flat states: guarded commands and the parallel language."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, Place
from porcini.core.languages import Model, Source
from porcini.core.systems import StateGraph, Structure, Value, Watched
from porcini.ir.expr import Expr
from porcini.ir.flat.interpreter import FlatSystem
from porcini.ir.passes.forgetting import forget_dead_variables
from porcini.ir.program import Program

if TYPE_CHECKING:
    from porcini.ir.packed.unfolded import Unfolding
    from porcini.ir.symbolic.formulas import SymbolicSystem


class PointSystem(FlatSystem):
    """A program of points and edges. Its graph of states is packed, if it can be: see `ir.packed.unfolded`."""

    def __init__(self, program: Program, *, packed: bool = True) -> None:
        super().__init__(program)
        self._may_be_packed = packed

    @cached_property
    def unfolding(self) -> Unfolding | None:
        from porcini.ir.packed.unfolded import Unfolding  # which runs do not need

        flat = PointSystem(self.program, packed=False)
        return Unfolding.of(flat) if self._may_be_packed else None

    @property
    def structure(self) -> Structure:
        return "processes" if self.unfolding is None else "packed"

    def state_graph(self, *, exact: bool = True) -> StateGraph[Any]:
        return super().state_graph() if self.unfolding is None else self.unfolding.graph()

    def watching(self, propositions: Sequence[Expr]) -> Watched[Any]:
        return super().watching(propositions) if self.unfolding is None else self.unfolding.watching(propositions)


@dataclass(frozen=True, slots=True)
class FlatLanguage:
    """A language that is lowered to points and edges; both have the same expressions."""

    ending: str
    title: str
    lower: Callable[[str, str], Program]
    proposition: Callable[[Program, str, Place], Expr]
    takes_macros: bool = False
    takes_description: bool = False
    takes_latin: bool = False

    @property
    def capabilities(self) -> Capabilities:
        return Capabilities(
            f".{self.ending} programs",
            {
                "actors": "its processes are not tasks of actors",
                "theory": "it is not a rewrite theory",
            },
        )

    def load(self, source: Source) -> FlatModel:
        return FlatModel(source.file, self.ending, source.text, self.lower(source.text, source.file), self)


@dataclass(frozen=True, eq=False)
class FlatModel(Model):
    program: Program
    of: FlatLanguage

    takes_inputs: ClassVar[bool] = True
    input_hint: ClassVar[str] = "an input is bound to `?`, or in .par read before it is written"

    @property
    def capabilities(self) -> Capabilities:
        return self.of.capabilities

    @property
    def inputs(self) -> Mapping[str, str]:
        return {name: str(type_) for name, type_ in self.program.inputs.items()}

    @property
    def observable(self) -> set[str]:
        return {variable.name for variable in self.program.variables if "#" not in variable.name}

    def compile(self, inputs: Mapping[str, Value], *, optimise: bool) -> PointSystem:
        missing = self.inputs.keys() - inputs.keys()
        if missing:
            flags = " ".join(f"--input {name}=..." for name in sorted(missing))
            raise InputError(f"no value for input {', '.join(sorted(missing))}", file=self.file, hint=flags)
        program = forget_dead_variables(self.program) if optimise else self.program
        return PointSystem(program.with_inputs(dict(inputs)))

    def symbolic(self, inputs: Sequence[str] = ()) -> SymbolicSystem:
        if inputs:
            raise InputError("`symbolic` ranges over all inputs that the program declares", file=self.file)
        from porcini.ir.symbolic.program import SymbolicProgram

        return SymbolicProgram(self.program)

    def proposition(self, text: str, place: Place) -> Expr:
        return self.of.proposition(self.program, text, place)
