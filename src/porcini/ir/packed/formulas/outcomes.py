"""The outcomes of an option: straight lines from one state to the next, one for each path that a step can take.

A step goes as far as packed steps do (`ir.packed.system`): through a `d_step` to its end, taking the first enabled
edge; and if it ends inside `atomic`, the process keeps the turn exactly if it can go on. Each of these paths is an
outcome of its own, and its line asserts the conditions of the path. A failure leaves the state as it was before
the edge that failed, and stops its process.

`values` is what is known about the state: outcomes that are impossible there are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from porcini.core.errors import InputError
from porcini.core.events import Failure
from porcini.ir import expr as ir
from porcini.ir.expr import FALSE, TRUE, conj, const, disj, not_, substitute
from porcini.ir.operations import Assert, Assign, Spawn
from porcini.ir.packed.formulas.lines import Births, Line, Need
from porcini.ir.packed.formulas.options import Option, WorldOptions
from porcini.ir.packed.formulas.world import FAILED_ASSERTION, FAILED_ERROR, TURN, Instance
from porcini.ir.program import Edge
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.labels import before
from porcini.ir.symbolic.paths import carry_out

Values = Mapping[ir.Var, ir.Expr]
Straight = tuple[Assign | Assert, ...]
MOST_WAYS, MOST_STATEMENTS = 2_000, 20_000


@dataclass(frozen=True, slots=True)
class StepOutcome:
    """A line from state to state. `spawned` are slots with their templates; `path` has the edges that were taken,
    and what else distinguishes this outcome from others."""

    line: Straight
    path: tuple[object, ...]
    spawned: tuple[tuple[int, int], ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class _Way:
    """A step in progress: what was done, what is known now, and the last edge."""

    line: Straight
    values: Values
    edge: Edge
    births: Births
    path: tuple[object, ...]
    spawned: tuple[tuple[int, int], ...]


class Outcomes:
    """The outcomes of a world's options."""

    def __init__(self, options: WorldOptions) -> None:
        self.options, self.world = options, options.world
        self.has_atomic = self.world.system.has_atomic

    def of(
        self, me: Instance, option: Option, held: bool, values: Values, births: Births
    ) -> Iterator[StepOutcome]:
        """All outcomes; `held` says whether the process has the turn before the step."""
        if option.broken is not None:
            yield self._stopped(me, (), option.broken, held, (option, "broken"), ())
            return
        who, last = (me, option.edge) if option.partner is None else (option.partner.me, option.partner.edge)
        moved = [_move_point(self, me, option.edge)]
        if option.partner is not None:
            moved.append(_move_point(self, who, option.partner.edge))
        line = (*option.line, *self.options.lines(me).ops(option.edge, births), *moved)
        todo: list[_Way] = []
        for part, failure, after in _split(line, values):
            if failure is not None:
                yield self._stopped(who, part, failure, held, (option, part), ())
                continue
            way = self._on(_Way((), values, option.edge, births, (option,), ()), part, after, option.edge)
            todo.append(replace(way, edge=last))
        ways = statements = 0
        while todo:
            way = todo.pop()
            statements += 1
            if way.edge.d_step:
                todo += self._next(who, way)
                yield from self._stuck(who, way, held)
            else:
                ways += 1
                yield from self._settle(who, way, held)
            if ways + len(todo) > MOST_WAYS or statements > MOST_STATEMENTS:
                limit = (
                    f"{MOST_WAYS:,} ways" if statements <= MOST_STATEMENTS else f"{MOST_STATEMENTS:,} statements"
                )
                raise InputError(
                    f"a d_step of more than {limit}: there are no formulas for it", place=option.edge.place
                )

    # Inside a `d_step`

    def _on(self, way: _Way, part: Straight, after: Values, edge: Edge) -> _Way:
        born = tuple(op.template for op in edge.block if isinstance(op, Spawn))
        first = way.births.population
        spawned = tuple(enumerate(born, first))
        births = way.births.after(len(born))
        line = way.line + part
        return _Way(line, after, edge, births, (*way.path, edge, part), way.spawned + spawned)

    def _tries(self, me: Instance, way: _Way) -> Iterator[tuple[ir.Expr, Edge | None, Line | None]]:
        """What may come next in a `d_step`: the condition, the edge (None: it is blocked) and what it does first
        (None: it cannot be tried)."""
        edges = self.world.program.templates[me.template].points[way.edge.target].edges
        passed: ir.Expr = TRUE
        for edge in edges:
            if edge.otherwise:
                continue
            broken, ways = self.options.ways(me, edge, inside=True)
            yield conj(passed, broken), edge, None
            for found in ways:
                yield conj(passed, not_(broken), found.when), edge, found.line
            passed = simplify(conj(passed, not_(disj(broken, *(found.when for found in ways)))))
        otherwise = next((edge for edge in edges if edge.otherwise), None)
        yield passed, otherwise, () if otherwise is not None else None

    def _next(self, me: Instance, way: _Way) -> Iterator[_Way]:
        for when, edge, first in self._tries(me, way):
            if edge is None or first is None or not _possible(when, way.values):
                continue
            line = (*first, *self.options.lines(me).ops(edge, way.births), _move_point(self, me, edge))
            for part, failure, after in _split((Assert(when), *line), way.values):
                if failure is None:
                    yield self._on(way, part, after, edge)

    def _stuck(self, me: Instance, way: _Way, held: bool) -> Iterator[StepOutcome]:
        """The failures that may come next: they keep what was done up to here."""
        for when, edge, first in self._tries(me, way):
            if not _possible(when, way.values):
                continue
            if edge is None or first is None:
                place = self.world.program.templates[me.template].points[way.edge.target].place
                message = "blocked inside d_step" if edge is None else "no value in d_step"
                failure = Failure("error", message, place if edge is None else edge.place)
                line = (*way.line, Assert(when))
                yield self._stopped(me, line, failure, held, (*way.path, edge, when), way.spawned)
                continue
            line_ = (Assert(when), *first, *self.options.lines(me).ops(edge, way.births))
            for part, found, _ in _split(line_, way.values):
                if found is not None:
                    path = (*way.path, edge, part)
                    yield self._stopped(me, way.line + part, found, held, path, way.spawned)

    # The end of a step

    def _settle(self, me: Instance, way: _Way, held: bool) -> Iterator[StepOutcome]:
        if not way.edge.atomic:
            yield StepOutcome(way.line + self._turn(0, held), (*way.path, held), way.spawned)
            return
        able = self.options.can_move(me, way.edge.target)
        for when, turn in ((able, me.slot + 1), (simplify(not_(able)), 0)):
            if _possible(when, way.values):
                asserted: Straight = () if when is TRUE else (Assert(when),)
                line = way.line + asserted + (Assign(TURN, const(turn), silent=True),)
                yield StepOutcome(line, (*way.path, held, turn), way.spawned)

    def _turn(self, turn: int, held: bool) -> Straight:
        return (Assign(TURN, const(turn), silent=True),) if held else ()

    def _stopped(
        self,
        who: Instance,
        line: Straight,
        failure: Failure,
        held: bool,
        path: tuple[object, ...],
        spawned: tuple[tuple[int, int], ...],
    ) -> StepOutcome:
        how = FAILED_ASSERTION if failure.kind == "assertion" else FAILED_ERROR
        stopped = Assign(self.world.point(who.slot), const(self.world.failed(who.template, how)), silent=True)
        return StepOutcome((*line, stopped, *self._turn(0, held)), (*path, held), spawned, failure)


def _move_point(outcomes: Outcomes, who: Instance, edge: Edge) -> Assign:
    """The assignment of the new point of a process after an edge: 0 if the process has ended."""
    world = outcomes.world
    code = 0 if edge.exits else world.code(who.template, edge.target)
    return Assign(world.point(who.slot), const(code), silent=True)


def _possible(when: ir.Expr, values: Values) -> bool:
    return simplify(substitute(when, values)) is not FALSE


def _split(line: Line, values: Values) -> Iterator[tuple[Straight, Failure | None, Values]]:
    """A line to its end, if the end can be reached; and for each `Need`, the condition before the line under which
    it fails. A failure has no effects."""
    done: list[Assign | Assert] = []
    now: dict[ir.Var, ir.Expr] = dict(values)
    for op in line:
        match op:
            case Need(test=test, failure=failure):
                missing = simplify(before(done, not_(test)))
                if _possible(missing, values):
                    yield (Assert(missing),), failure, values
                op = Assert(test)
            case Assign():
                carry_out(op, now)
        if isinstance(op, Assert) and not _possible(op.test, now):
            return
        done.append(op)
    yield tuple(done), None, now
