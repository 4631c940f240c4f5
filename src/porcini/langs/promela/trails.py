"""SPIN's trails as schedules, and schedules as trails.

schedule_of    follow what SPIN does under a trail: each of its steps is one of ours of the same process, with the
               same line or text. Where several are, all are tried, until one way leads to the end, and to the same
               values of shared variables.
trail_of       find, for each process, a way through SPIN's transitions that has the lines and texts of its steps.

A `d_step` is one step of ours, one transition of SPIN's, and several lines of its simulation. A rendezvous is one
step of ours, and two of SPIN's. The `goto` at the end of a `for` can be one of SPIN's and none of ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice, takewhile

from porcini.core.errors import InputError
from porcini.core.events import Action, Move, Schedule
from porcini.core.pids import Pid
from porcini.core.systems import Observed
from porcini.ir.packed.runs import PackedAction, PackedRun
from porcini.ir.packed.view import PackedView
from porcini.ir.program import Edge
from porcini.langs.promela.spin import Simulated, SpinProctype, SpinTransition, is_jump, numbering, simulate

_START_OF_CYCLE = "-1:-1:-1\n"
_BOTH_DIFFER = 2
_MOST_TRIED = 100_000
_BLANKS = re.compile(r"[\s()]+")
_SPELLINGS = {"skip": "1", "true": "1", "false": "0", "fi": ".goto"}


def schedule_of(view: PackedView, text: str, trail: str) -> tuple[Schedule, Schedule | None]:
    """The run of a trail, and what it does for ever after it, if it has a cycle. `text` is the model for SPIN."""
    return _Matching(view, simulate(text, trail)).schedule()


def trail_of(view: PackedView, text: str, schedule: Schedule, loop: Schedule | None) -> str:
    """A trail under which SPIN does what a schedule does, and then a loop; SPIN is asked whether it does so."""
    steps = list(_steps_of(view, schedule + (loop or ())))
    if not steps:
        raise InputError("no step was taken: there is nothing to write into a trail")
    ids = zip(steps, _ids(steps, numbering(text)), strict=True)
    lines = [f"{depth}:{step.pid[0]}:{id_}\n" for depth, (step, id_) in enumerate(ids, 1)]
    if loop is not None:
        lines.insert(sum(1 for _ in _steps_of(view, schedule)), _START_OF_CYCLE)
    trail = "".join(lines)
    again, round_ = schedule_of(view, text, trail)
    if [step.edge for step in _steps_of(view, again + (round_ or ()))] != [step.edge for step in steps]:
        raise InputError("SPIN does not follow this schedule under any trail")
    return trail


# Do two texts say the same?


def _spelling(text: str) -> str:
    """A statement without blanks and parentheses, which SPIN sets in its own way."""
    bare = _BLANKS.sub("", text)
    return _SPELLINGS.get(bare, bare)


def _cost(edge: Edge, text: str, line: int | None) -> int:
    """In how much an edge differs from what SPIN shows, of its text and its line."""
    own = edge.place.line if edge.place else None
    is_same = _spelling(edge.text) == _spelling(text) or (edge.d_step and text.startswith("D_STEP"))
    is_here = line is None or own is None or line == own
    return (not is_same) + (not is_here)


# Trails to schedules


@dataclass(slots=True)
class _Choice:
    """A point of the search: after `done` lines of the simulation, what could be next, best last. Each is an
    action and how many lines it takes; None passes over a line."""

    run: PackedRun
    done: int
    left: list[tuple[Action | None, int]]
    taken: Move | None = None


class _Matching:
    """A search for the run of ours that does what SPIN does."""

    def __init__(self, view: PackedView, simulated: Simulated) -> None:
        self.view, self.simulated = view, simulated
        self.steps = simulated.steps
        self.furthest = 0
        self._seen: set[tuple[int, int]] = set()

    def schedule(self) -> tuple[Schedule, Schedule | None]:
        moves: list[Move] = []
        cycle: int | None = None
        for choice in self._found():
            if cycle is None and choice.done == self.simulated.cycle:
                cycle = len(moves)
            if choice.taken is not None:
                moves.append(choice.taken)
        if cycle is None:
            return tuple(moves), None
        return tuple(moves[:cycle]), tuple(moves[cycle:])

    def _found(self) -> list[_Choice]:
        """The choices of a run that fits, the last of which is its end."""
        stack = [self._choice(self.view.start(), 0)]
        while stack:
            here = stack[-1]
            if here.done == len(self.steps) and self._ends_alike(here.run):
                return stack
            if not here.left or len(self._seen) > _MOST_TRIED + len(self.steps):
                stack.pop()
                continue
            action, lines = here.left.pop()
            here.taken = None if action is None else action.move
            after = here.run.fork()
            if action is not None:
                after.step(action)
            key = here.done + lines, after.state
            if key not in self._seen:
                self._seen.add(key)
                stack.append(self._choice(after, here.done + lines))
        raise self._problem()

    def _choice(self, run: PackedRun, done: int) -> _Choice:
        self.furthest = max(self.furthest, done)
        if done == len(self.steps):
            return _Choice(run, done, [])
        fitting = [found for action in run.actions() if (found := self._fit(action, done)) is not None]
        fitting.sort(key=lambda found: -found[0])
        passed: list[tuple[Action | None, int]] = [(None, 1)] if is_jump(self.steps[done].text) else []
        return _Choice(run, done, [*passed, *((action, lines) for _, lines, action in fitting)])

    def _fit(self, action: Action, done: int) -> tuple[int, int, Action] | None:
        """In how much an action differs from what SPIN does next, and how many of its lines that takes."""
        assert isinstance(action, PackedAction)
        shown, step = self.steps[done], action.step
        if step is None:
            return None
        if step.process.slot != shown.process:
            return None
        lines, cost = 1, _cost(step.code.edge, shown.text, shown.line)
        if step.partner is not None and step.partner_code is not None:
            lines = 2
            answer = self.steps[done + 1] if done + 1 < len(self.steps) else None
            if answer is None or answer.process != step.partner.slot:
                return None
            cost = max(cost, _cost(step.partner_code.edge, answer.text, answer.line))
        elif step.code.edge.d_step:
            lines = self._lines_of_transition(done)
        return None if cost >= _BOTH_DIFFER else (cost, lines, action)

    def _lines_of_transition(self, done: int) -> int:
        first = self.steps[done]
        same = takewhile(
            lambda shown: (shown.depth, shown.process) == (first.depth, first.process),
            islice(self.steps, done, None),
        )
        return sum(1 for _ in same)

    def _ends_alike(self, run: PackedRun) -> bool:
        """Do the variables that SPIN shows at the end have the same values here?"""
        values = dict(_cells(self.view.observe(run.state)))
        shown = self.simulated.globals
        return all(_as_spin(value) == shown[name] for name, value in values.items() if name in shown)

    def _problem(self) -> InputError:
        if self.furthest == len(self.steps):
            return InputError("the trail does not fit the model: its end is another state here")
        shown = self.steps[self.furthest]
        where = f" in line {shown.line}" if shown.line else ""
        return InputError(
            f"the trail does not fit the model: in step {shown.depth} process {shown.process} does "
            f"`{shown.text}`{where}, and cannot do that here"
        )


def _cells(values: Mapping[str, Observed]) -> Iterator[tuple[str, Observed]]:
    """Variables by the names that SPIN shows: arrays of one dimension cell by cell, others not at all."""
    for name, value in values.items():
        if not isinstance(value, tuple):
            yield name, value
        else:
            yield from ((f"{name}[{k}]", each) for k, each in enumerate(value) if not isinstance(each, tuple))


def _as_spin(value: Observed) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)


# Schedules to trails


@dataclass(frozen=True, slots=True)
class _OwnStep:
    """A step as SPIN counts them: of a rendezvous, one of its two halves."""

    pid: Pid
    proctype: str
    edge: Edge

    @property
    def text(self) -> str:
        return self.edge.text


def _steps_of(view: PackedView, schedule: Schedule) -> Iterator[_OwnStep]:
    """The steps of a schedule that fits."""
    run = view.start()
    for move in schedule:
        action = next(each for each in run.actions() if each.move == move)
        assert isinstance(action, PackedAction) and action.step is not None
        step = action.step
        yield _OwnStep(action.pid, step.process.template.name, step.code.edge)
        if step.partner is not None and step.partner_code is not None:
            partner = run.names(Pid((step.partner.slot,)))
            yield _OwnStep(partner, step.partner.template.name, step.partner_code.edge)
        run.step(action)


@dataclass(slots=True)
class _Way:
    """The cheapest way of a process to a state of SPIN's, as the way before its last step and the transition for
    that."""

    cost: int
    state: int
    before: _Way | None = None
    last: SpinTransition | None = None

    def ids(self) -> list[int]:
        found: list[int] = []
        way = self
        while way.before is not None and way.last is not None:
            found.append(way.last.id)
            way = way.before
        return found[::-1]


def _ids(steps: list[_OwnStep], proctypes: Mapping[str, SpinProctype]) -> list[int]:
    """The number of SPIN's transition for each step. Processes do not depend on each other here."""
    ways: dict[Pid, dict[int, _Way]] = {}
    for number, step in enumerate(steps, 1):
        proctype = proctypes[step.proctype]
        before = ways.setdefault(step.pid, {proctype.start: _Way(0, proctype.start)})
        ways[step.pid] = _next_ways(proctype, before, step.edge)
        if not ways[step.pid]:
            raise InputError(f"SPIN has no transition for step {number}, `{step.text}` of process {step.pid}")
    ids = {pid: iter(min(found.values(), key=lambda way: way.cost).ids()) for pid, found in ways.items()}
    return [next(ids[step.pid]) for step in steps]


def _next_ways(proctype: SpinProctype, before: Mapping[int, _Way], edge: Edge) -> dict[int, _Way]:
    """The cheapest ways to go on by a step that looks like an edge."""
    found: dict[int, _Way] = {}
    for way in before.values():
        for transition in proctype.visible(way.state):
            cost = _cost(edge, transition.text, transition.line)
            if cost < _BOTH_DIFFER:
                target = found.get(transition.target)
                if target is None or way.cost + cost < target.cost:
                    found[transition.target] = _Way(way.cost + cost, transition.target, way, transition)
    return found
