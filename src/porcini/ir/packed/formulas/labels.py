"""Steps of packed programs as labels, and recorded runs as formulas (`ir.symbolic.formulas.FormulaSystem`).

Each step of a run becomes the one outcome (`ir.packed.formulas.outcomes`) that holds in the state in which it was
taken. The guards of its label are all options that its process has at that point. A rendezvous moves the receiver
as well, so the point of such a process need not be the one where its own next step begins: then the guards are the
options of all points where it stood in the run, which are those where it may stand in a permutation of it. A label
touches what the step touched (`PackedView`): so classes are the same as for all engines.

A label is one step of the program as it happened. A statement that communicates over another channel, because the
variable that holds the channel has another value, is another step; so is one that takes a message from another
position (`??`) or inserts it at another one (`!!`), that takes another path through a `d_step`, or that has, keeps
or loses the turn where it did not.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from porcini.core.errors import InternalError
from porcini.core.footprints import EMPTY, Footprint
from porcini.core.pids import Pid
from porcini.core.systems import Value
from porcini.ir import expr as ir
from porcini.ir.analysis.footprint import Touched
from porcini.ir.expr import TRUE, binary, conj, const, disj, substitute
from porcini.ir.operations import Assert
from porcini.ir.packed.formulas.lines import Births
from porcini.ir.packed.formulas.options import Option, WorldOptions
from porcini.ir.packed.formulas.outcomes import Outcomes, StepOutcome, Values
from porcini.ir.packed.formulas.world import TURN, Instance, World
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.labels import BLOCKED, Label
from porcini.ir.symbolic.program import literal


def pid_of(slot: int, births: int) -> Pid:
    """The name of a process whose slot has had so many processes, including itself (`ir.packed.runs.Names`)."""
    return Pid((slot,)) if births == 1 else Pid((slot, births - 1))


@dataclass(frozen=True, slots=True)
class Who:
    """A process in a run: its instance, how many processes have had its slot, and the points at which it may
    stand."""

    me: Instance
    births: int
    points: tuple[int, ...]

    @property
    def pid(self) -> Pid:
        return pid_of(self.me.slot, self.births)


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What is known about a step besides its formula: its text, what it touches, and what its process might
    touch."""

    text: str
    foot: Footprint = EMPTY
    family: Footprint = EMPTY


@dataclass(slots=True)
class Labels:
    """Builds the labels of a world, each once."""

    world: World
    options: WorldOptions = field(init=False)
    outcomes: Outcomes = field(init=False)
    _guards: dict[Who, tuple[list[tuple[int, Option]], tuple[ir.Expr, ...]]] = field(default_factory=dict)
    _labels: dict[Hashable, Label] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.options = WorldOptions(self.world)
        self.outcomes = Outcomes(self.options)

    def step(
        self, who: Who, point: int, option: Option, held: bool, outcome: StepOutcome, seen: StepInfo
    ) -> Label:
        """The label of an outcome."""
        key = who, point, outcome.path, seen.foot, seen.family
        if key not in self._labels:
            found, guards = self.guards(who)
            turn = binary("==", TURN, const(who.me.slot + 1 if held else 0))
            mine: tuple[Assert, ...] = (Assert(turn),) if self.outcomes.has_atomic else ()
            self._labels[key] = Label(
                who.pid,
                seen.text,
                guards,
                found.index((point, option)),
                (*mine, *outcome.line),
                Touched(seen.foot, (), ()),
                tuple(self._started_pids(outcome)),
                failure=outcome.failure,
                choices=tuple(option.choice for _, option in found),
                family=seen.family,
            )
        return self._labels[key]

    def waiting(self, who: Who, seen: StepInfo) -> Label:
        """The label of a process that can do nothing at the end of a run."""
        key = who, seen.text, seen.foot, seen.family
        if key not in self._labels:
            found, guards = self.guards(who)
            choices = tuple(option.choice for _, option in found)
            self._labels[key] = Label(
                who.pid,
                seen.text,
                guards,
                BLOCKED,
                (),
                Touched(seen.foot, (), ()),
                choices=choices,
                family=seen.family,
            )
        return self._labels[key]

    def guards(self, who: Who) -> tuple[list[tuple[int, Option]], tuple[ir.Expr, ...]]:
        """All options of a process at the points where it may stand, and their full conditions."""
        if who not in self._guards:
            me = who.me
            found = [(point, option) for point in who.points for option in self.options.at(me, point)]
            mine: list[ir.Expr] = []
            if self.world.started:
                mine.append(binary("==", self.world.births(me.slot), const(who.births)))
            if self.outcomes.has_atomic:
                mine.append(disj(*(binary("==", TURN, const(turn)) for turn in (0, me.slot + 1))))
            guards = tuple(
                conj(self.world.at(me.slot, me.template, point), *mine, option.when) for point, option in found
            )
            self._guards[who] = found, guards
        return self._guards[who]

    def outcome_of(
        self, me: Instance, point: int, choice: int, held: bool, values: Values, births: Births
    ) -> tuple[Option, StepOutcome]:
        """The option and the outcome of a step in a concrete state."""
        found = [
            (option, outcome)
            for option in self.options.at(me, point)
            if option.choice == choice and simplify(substitute(option.when, values)) is TRUE
            for outcome in self.outcomes.of(me, option, held, values, births)
        ]
        if len(found) != 1:
            raise InternalError(f"a step has {len(found)} outcomes in formulas, not one")
        return found[0]

    def _started_pids(self, outcome: StepOutcome) -> list[Pid]:
        """The names of the processes that an outcome starts, from how many it says have had their slots."""
        found = []
        for slot, _ in outcome.spawned:
            target = self.world.births(slot)
            counts = [op.value for op in outcome.line if not isinstance(op, Assert) and op.target is target]
            assert isinstance(counts[0], ir.Const)
            found.append(pid_of(slot, int(counts[0].value)))
        return found


def values_of(store: Mapping[str, Value]) -> dict[ir.Var, ir.Expr]:
    """A state as expressions without variables."""
    found: dict[ir.Var, ir.Expr] = {}
    for name, value in store.items():
        type_: ir.Type = ir.ArrayType("int", len(value)) if isinstance(value, tuple) else "int"
        variable = ir.var(name, type_)
        found[variable] = literal(variable, value)
    return found
