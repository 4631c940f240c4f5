"""Promela: the language of SPIN, as far as common models use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, Place
from porcini.core.languages import Claim, Model, Source
from porcini.core.systems import System, Value
from porcini.ir.packed.claims import NeverClaim
from porcini.ir.packed.program import Expr
from porcini.ir.packed.view import PackedView
from porcini.langs.promela.lower import Lowered
from porcini.langs.promela.preprocess import includer

CAPABILITIES = Capabilities(
    ".pml programs",
    {
        "commuting": "steps with channels and bounded variables are not translated for the solver yet",
        "symbolic": "a model has no inputs, and its steps are not translated to formulas yet",
        "actors": "its processes are not tasks of actors",
        "theory": "it is not a rewrite theory",
    },
)


def load(source: str, file: str, defines: Mapping[str, str] | None = None) -> Lowered:
    """Parse, check and lower a model; `defines` are macros that it finds defined."""
    path = Path(file)
    try:
        return Lowered(source, file, includer(path.parent) if path.is_file() else None, defines)
    except RecursionError:
        raise InputError("nested too deep", file=file) from None


@dataclass(frozen=True, eq=False)
class PromelaModel(Model):
    graph: Lowered

    input_hint: ClassVar[str] = "-D N=3 defines a macro"
    kind: ClassVar[str] = "Promela models"
    capabilities: ClassVar[Capabilities] = CAPABILITIES

    @property
    def observable(self) -> set[str]:
        program = self.graph.program
        return {v.name for v in program.globals} | {channel.name for channel in program.channels}

    @property
    def claims(self) -> Sequence[Claim]:
        return [Claim(block.name, block.formula, block.place) for block in self.graph.syntax.formulas]

    @property
    def has_never_claim(self) -> bool:
        return bool(self.graph.nevers)

    def never_claim(self, system: System) -> NeverClaim:
        assert isinstance(system, PackedView)
        return NeverClaim(system.system, self.graph.nevers[0])

    def proposition(self, text: str, place: Place) -> Expr:
        return self.graph.proposition(text, place)

    def shown(self, proposition: str) -> str:
        return self.graph.shown(proposition)

    def compiled(self, inputs: Mapping[str, Value], *, optimise: bool) -> PackedView:
        return PackedView(self.graph.program, optimise=optimise)


class Promela:
    title = "Promela, the language of SPIN"
    capabilities = CAPABILITIES
    takes_macros = True
    takes_description = False

    def load(self, source: Source) -> PromelaModel:
        return PromelaModel(source.file, "pml", source.text, load(source.text, source.file, source.defines))


LANGUAGE = Promela()
