"""The actions, events and labels of macro-steps: each is created once, for all states in which it is the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from porcini.core.events import Action, Event, Failure
from porcini.core.footprints import NOWHERE, Footprint, Location
from porcini.core.pids import Pid
from porcini.ir.analysis.numbering import ENDED, FAILED_ERROR, FIRST_POINT, Numbering
from porcini.ir.tasks.code import Compiled, Segment
from porcini.ir.tasks.effects import Effect, commute_on_one_object, effect_of
from porcini.solvers.smt import Smt

_LONGEST = 24


@dataclass(frozen=True, slots=True)
class StepLabel:
    """A macro-step: its task, where it starts and where it ends. `actor` is the group of `me`, the object that it
    runs on; `arguments` are those of a task that begins.
    """

    text: str
    actor: Pid
    me: Pid
    start: int
    end: int
    arguments: tuple[Any, ...]
    effects: Effects = field(compare=False, repr=False)
    digest: int = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "digest", hash((self.text, self.actor, self.start, self.end)))

    def __hash__(self) -> int:
        return self.digest  # labels are hashed very often

    def __str__(self) -> str:
        return self.text


@dataclass(slots=True)
class Effects:
    """The effects of steps as formulas, each computed once."""

    numbering: Numbering
    _known: dict[tuple[int, tuple[Any, ...]], Effect | None] = field(default_factory=dict)

    def of(self, label: StepLabel) -> Effect | None:
        key = label.start, label.arguments
        if key not in self._known:
            self._known[key] = effect_of(self.numbering, *key)
        return self._known[key]

    def commute(self, a: StepLabel, b: StepLabel, smt: Smt) -> bool:
        """Is it proved that two steps on the same object commute in every state?"""
        one, two = self.of(a), self.of(b)
        return (
            one is not None
            and two is not None
            and commute_on_one_object(one, two, self.numbering.program.library.theory, smt)
        )


class Where(NamedTuple):
    """A task at its point. `waited` are the futures that its guard reads."""

    point: int
    me: Pid
    group: Pid
    arguments: tuple[Any, ...]
    waited: tuple[Any, ...]


class Taken(NamedTuple):
    """A step as it was taken: where it started, which segments of its code ran, where it ended, the number of
    children of its task before and after, and its trail: the futures that it read, segments of other methods, a
    failure.
    """

    where: Where
    segments: int
    end: int
    before: int
    after: int
    trail: frozenset[Any]


@dataclass(frozen=True, slots=True, eq=False)
class StepAction(Action):
    """An action, its event, and the step as it was foreseen. `failure` says that its guard has no value.
    `looks_around` says that it reads a future that existed before it, so that other tasks may change what it does.
    """

    point: int = field(kw_only=True)
    event: Event | None = field(kw_only=True)
    taken: Taken | None = field(kw_only=True, default=None)
    failure: Failure | None = field(kw_only=True, default=None)
    looks_around: bool = field(kw_only=True, default=False)


class StepEvents:
    """Creates actions and events from what is known about the points of a program."""

    def __init__(
        self,
        numbering: Numbering,
        points: Sequence[Compiled],
        guards: Sequence[Segment],
        methods: Sequence[Segment],
    ) -> None:
        self.numbering, self.program = numbering, numbering.program
        self._points = points
        self._guards = guards
        self._methods = methods
        self._effects = Effects(numbering)
        self.watched: Mapping[Pid, frozenset[Location]] = {}
        """The fields that a formula reads, by object. Creating such an object is visible to the formula as well,
        though to nobody else."""

    def blocked_action(self, pid: Pid, at: Where) -> StepAction:
        guard = self._guard_reads(at)
        label = self._label(at, at.point, " waits")
        return StepAction(pid, 0, label, Footprint(guard), False, guard, point=at.point, event=None)

    def failing_action(self, pid: Pid, at: Where, failure: Failure) -> StepAction:
        """The action of a task whose guard cannot be evaluated: it is enabled, and fails."""
        guard = self._guard_reads(at)
        label = self._label(at, FAILED_ERROR, f" fails: {failure.message}")
        foot = Footprint(guard)
        event = Event(pid, 0, label, foot, (), failure, guard)
        return StepAction(pid, 0, label, foot, True, guard, point=at.point, event=event, failure=failure)

    def enabled_action(self, pid: Pid, taken: Taken) -> StepAction:
        at, numbering = taken.where, self.numbering
        compiled = self._points[at.point]
        guard = self._guard_reads(at)
        reads, writes = set(guard), set[Location]()
        for k, segment in enumerate(compiled.segments):
            if taken.segments >> k & 1:
                touch(segment, at.me, reads, writes)
        failure: Failure | None = None
        for item in taken.trail:
            if isinstance(item, Pid):
                reads.add(future(item))
            elif isinstance(item, Failure):
                failure = item
            else:
                ref, number = item
                touch(self._methods[number], ref, reads, writes)
        ends_in_get = taken.end >= FIRST_POINT and numbering.points[taken.end].kind == "get"
        if numbering.program.uses_get and (ends_in_get or numbering.points[at.point].kind == "get"):
            writes.add(lock(at.group))
        if taken.end == ENDED and numbering.program.uses_futures:
            writes.add(future(pid))
        spawned = tuple(pid.child(k) for k in range(taken.before, taken.after))
        for child in spawned if self.watched else ():
            writes |= self.watched.get(child, NOWHERE)
        foot = Footprint(frozenset(reads), frozenset(writes))
        # If a step reads the same values, it takes the same path through the code. A simple step has only one
        # path.
        guard_locations = guard if compiled.simple else guard | foot.reads
        label = self._label(at, taken.end, f" fails: {failure.message}" if failure else "")
        event = Event(pid, 0, label, foot, spawned, failure, guard_locations)
        around = any(isinstance(item, Pid) and item.parent != pid for item in taken.trail)
        return StepAction(
            *(pid, 0, label, foot, True, guard_locations),
            point=at.point,
            event=event,
            taken=taken,
            looks_around=around,
        )

    def _guard_reads(self, at: Where) -> frozenset[Location]:
        reads = {field_of(at.me, name) for name in self._guards[at.point].reads}
        reads.update(future(item) for item in at.waited if isinstance(item, Pid))
        if self.program.uses_get and self.numbering.points[at.point].kind != "get":
            reads.add(lock(at.group))
        return frozenset(reads)

    def _label(self, at: Where, end: int, note: str) -> StepLabel:
        arguments = [self._show_argument(value) for value in at.arguments]
        text = text_of(self.numbering, at.point, at.me, arguments, end, note)
        return StepLabel(text, at.group, at.me, at.point, end, at.arguments, self._effects)

    def _show_argument(self, value: Any) -> str:
        shown = self.program.library.values.show(value)
        text = str(list(shown)) if isinstance(shown, tuple) else str(shown)
        return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def text_of(numbering: Numbering, start: int, me: Pid, arguments: Sequence[str], end: int, note: str) -> str:
    """A step in words: its task, where it starts, and where it ends or a note instead."""
    point = numbering.points[start]
    is_main = numbering.template_of[start] == 0
    text = "main" if is_main else f"{me}.{numbering.template_at(start).name}"
    if point.kind != "start":
        text += f" from {point.text}"
    elif not is_main:
        text += f"({', '.join(arguments)})"
    if note:
        text += note
    elif end >= FIRST_POINT:
        text += f" until {numbering.points[end].text}"
    return text


def touch(segment: Segment, ref: Pid, reads: set[Location], writes: set[Location]) -> None:
    """Add what a stretch of code touches when it runs on an object."""
    reads.update(field_of(ref, name) for name in segment.reads)
    writes.update(field_of(ref, name) for name in segment.writes)


def field_of(ref: Pid, name: str) -> Location:
    return Location(f"{ref}.{name[1:]}")


def future(task: Pid) -> Location:
    return Location(str(task))


def lock(group: Pid) -> Location:
    return Location(f"{group}!")
