"""Promela: the language of SPIN, as far as common models use it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError, Place
from porcini.core.events import Schedule
from porcini.core.languages import Claim, Model, Source
from porcini.core.reports import Cycles
from porcini.core.systems import System, Value
from porcini.ir.expr import Expr
from porcini.ir.packed.claims import AcceptanceCycles, NeverClaim, NonProgressCycles
from porcini.ir.packed.view import PackedView
from porcini.ir.passes.forgetting import forget_dead_variables
from porcini.ir.passes.merging import merge_private_steps
from porcini.ir.program import Variable
from porcini.langs.promela.lower import Lowered
from porcini.langs.promela.preprocess import includer

if TYPE_CHECKING:
    from porcini.ir.symbolic.formulas import SymbolicSystem

CAPABILITIES = Capabilities(
    ".pml programs",
    {
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

    takes_inputs: ClassVar[bool] = True
    chooses_inputs: ClassVar[bool] = True
    input_hint: ClassVar[str] = "-D N=3 defines a macro"
    kind: ClassVar[str] = "Promela models"
    capabilities: ClassVar[Capabilities] = CAPABILITIES

    @property
    def observable(self) -> set[str]:
        program = self.graph.program
        return {v.name for v in program.variables} | {channel.name for channel in program.channels}

    @property
    def claims(self) -> Sequence[Claim]:
        return [Claim(block.name, block.formula, block.place) for block in self.graph.syntax.formulas]

    @property
    def has_never_claim(self) -> bool:
        return bool(self.graph.nevers)

    def never_claim(self, system: System) -> NeverClaim:
        assert isinstance(system, PackedView)
        self._refuse_hidden_accepts()
        return NeverClaim(system.system, self.graph.nevers[0])

    def with_claim(self, text: str, file: str) -> PromelaModel:
        return replace(self, graph=self.graph.with_claim(text, file))

    def cycle_claim(self, system: System, cycles: Cycles) -> AcceptanceCycles | NonProgressCycles:
        assert isinstance(system, PackedView)
        if cycles == "non-progress":
            return NonProgressCycles(system.system)
        self._refuse_hidden_accepts()
        return AcceptanceCycles(system.system)

    def _refuse_hidden_accepts(self) -> None:
        """SPIN sees `accept` labels inside of `atomic`; here states are those between two steps. (It does not see
        `progress` labels there, either.)"""
        for template in self.graph.program.templates:
            inside = {edge.target for edge in template.edges if edge.atomic and edge.target != template.end}
            for point in map(template.points.__getitem__, sorted(inside)):
                for label in point.labels:
                    if label.startswith(AcceptanceCycles.label):
                        raise InputError(
                            f"`{label}` is inside of `atomic`, where nobody stands between two steps",
                            file=self.file,
                            place=point.place,
                            source=self.graph.source,
                            hint="put the label before the `atomic`",
                        )

    def proposition(self, text: str, place: Place) -> Expr:
        return self.graph.proposition(text, place)

    def show_proposition(self, proposition: str) -> str:
        return self.graph.show_proposition(proposition)

    @property
    def inputs(self) -> Mapping[str, str]:
        """Shared variables that are neither arrays nor channels, and on which no declaration depends."""
        return {v.name: "bool" if v.bounded.kind == "bool" else "int" for v in self._inputs.values()}

    @property
    def _inputs(self) -> dict[str, Variable]:
        settled = self.graph.settled
        return {
            v.name: v
            for v in self.graph.program.variables
            if not v.array and v.bounded.kind != "chan" and v.var not in settled
        }

    def compile(self, inputs: Mapping[str, Value], *, optimise: bool) -> PackedView:
        values = {self._inputs[name]: int(value) for name, value in inputs.items() if isinstance(value, int)}
        for variable, value in values.items():
            bounds = variable.bounded
            if not bounds.holds(value):
                name, low, high = variable.name, bounds.low, bounds.high
                raise InputError(f"input `{name}` wants a number from {low} to {high}, not {value}")
        program = self.graph.program
        if optimise and not self.graph.world.sees_who_can_move:
            program = merge_private_steps(program)
        if optimise:
            program = forget_dead_variables(program)
        return PackedView(program, values)

    def read_trail(self, trail: str) -> tuple[Schedule, Schedule | None]:
        from porcini.langs.promela.spin import plain_text
        from porcini.langs.promela.trails import schedule_of

        return schedule_of(PackedView(self.graph.program), plain_text(self.graph.words()), trail)

    def write_trail(self, schedule: Schedule, loop: Schedule | None = None) -> str:
        from porcini.langs.promela.spin import plain_text
        from porcini.langs.promela.trails import trail_of

        return trail_of(PackedView(self.graph.program), plain_text(self.graph.words()), schedule, loop)

    def symbolic(self, inputs: Sequence[str] = ()) -> SymbolicSystem:
        from porcini.ir.packed.formulas.symbolic import SymbolicPacked

        for name in inputs:
            if name not in self._inputs:
                known = ", ".join(sorted(self._inputs))
                raise InputError(f"`{name}` cannot be an input", file=self.file, hint=f"known: {known}")
        return SymbolicPacked(self.graph.program, [self._inputs[name] for name in dict.fromkeys(inputs)])


class Promela:
    title = "Promela, the language of SPIN"
    capabilities = CAPABILITIES
    takes_macros = takes_latin = True
    takes_description = False

    def load(self, source: Source) -> PromelaModel:
        return PromelaModel(source.file, "pml", source.text, load(source.text, source.file, source.defines))


LANGUAGE = Promela()
