"""Canonical states of objects and tasks: up to names, and up to what cannot make a difference any more.

A server that runs for ever starts a task for each message, and each task has a longer name than the one before.
Its behaviour repeats itself all the same. The canonical state contains only what can still be observed:

    kept        tasks that have not ended, objects that have a name of their own, and all that can be reached from
                these: through variables, fields, groups, locks and the values of futures. Of a task that has ended
                only the value of its future is kept, and of tasks that failed only the fact that one did
    named       what can be created only a bounded number of times (`flow`) keeps its name, and so does what a
                formula refers to, with those that created it; all others are numbered (`-1.0`, `-1.1`, ...) in the
                order in which they are found from those with names, and from tasks that cannot be found otherwise
    counted     the number of children of a task determines the names of its next ones. It is kept for tasks whose
                children may keep their names, and for others only as far as names of their children are in use

*Why* this loses nothing: let s be a state and c its canonical state. Each task that can move in s is in c, and the
step that it takes depends on what it can reach, which is in c. References can be compared and followed, and
nothing else can be done with them unless `names_matter`, so the step does the same in c: it fails or not, it ends
at the same point, and the states after it have the same canonical state. So s and c are bisimilar, step by step,
and so are two states with the same canonical state. What formulas refer to has its name in both. A run ends in
both or in neither (tasks that wait are kept), and fails in both or in neither (of the tasks that failed, at least
one of each kind is kept). Objects with names are never dropped, so a program that creates only boundedly many
things has the same outcomes; for other programs, outcomes that differ only in names and in what is unreachable are
merged.

The numbering need not be optimal: two states that are equal up to names may get different numbers where tasks
cannot be distinguished within three references. Then they are two states instead of one, but there are still
finitely many.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from porcini.core.errors import LimitHit
from porcini.core.pids import Pid
from porcini.ir.analysis.numbering import ENDED, FIRST_POINT
from porcini.ir.flat.frames import Process, State
from porcini.ir.objects import Values, collect_references
from porcini.ir.tasks.code import OBJECT_FRAME, TASK_FRAME
from porcini.ir.tasks.system import StepSystem

_NUMBERED = -1
_LOOKED_AHEAD = 3
"""How many references are followed to distinguish tasks from each other."""

MOST_NUMBERED = 300
"""Tasks and objects without names at one time: with more, the mailboxes of a program are assumed to grow for
ever."""

Frames = dict[Pid, list[Any]]
"""The slots of each process that is kept."""
References = dict[Pid, set[Pid]]
"""The references in these slots."""
Names = dict[Pid, Pid]
Ranks = dict[tuple[Any, ...], Any]
"""Sort keys of frames that refer to nothing without a name."""


def is_numbered(pid: Pid) -> bool:
    """Has a process lost its name?"""
    return pid[0] == _NUMBERED


class Canonical:
    """Computes canonical states. `watched` are objects that must keep their names."""

    def __init__(self, system: StepSystem, watched: Iterable[Pid] = ()) -> None:
        self.system = system
        self.flow = system.flow
        self._watched = {Pid(ref[: size + 1]) for ref in watched for size in range(len(ref))}
        self._needed = _counts(self._watched)
        """For each process that creates something watched: how many children must be counted."""
        self._ranks: Ranks = {}

    def nameless_of(
        self, before: Sequence[Any], maker: Pid, after: Sequence[Any], made: Iterable[Pid]
    ) -> set[Pid]:
        """The processes created by a step that do not keep their names."""
        point = before[before[0].by_pid[maker].base]
        counted = not is_numbered(maker) and point not in self.flow.uncounted
        by_pid, recursive = after[0].by_pid, self.flow.recursive
        return {
            pid
            for pid in made
            if pid not in self._watched and not (counted and by_pid[pid].template not in recursive)
        }

    def canonicalise(self, state: Sequence[Any], nameless: Set[Pid] = frozenset()) -> tuple[State, Names]:
        """The canonical state of a state, and the names in it of all that is kept."""
        frames, references = self._find_kept(state, nameless)
        by_pid = state[0].by_pid
        lost = {pid for pid in frames if is_numbered(pid) or pid in nameless}
        names: Names = {pid: pid for pid in frames}
        if len(lost) > MOST_NUMBERED:
            raise LimitHit(f"the limit of {MOST_NUMBERED:,} tasks and objects without names at one time")
        if lost:
            for pid in lost:
                frames[pid][1] = 0
            numbering = _Numbering(
                frames, references, by_pid, lost, self.system.program.library.values, self._ranks
            )
            names |= {pid: Pid((_NUMBERED, number)) for number, pid in enumerate(numbering.order())}
        self._count_children(frames, names)
        order = sorted(frames, key=names.__getitem__)
        layout = self.system.layouts.of(tuple((names[pid], by_pid[pid].template) for pid in order))
        slots: list[Any] = [layout]
        renamed = self.system.program.library.values.renamed
        for pid in order:
            if lost.isdisjoint(references[pid]):
                slots += frames[pid]
            else:
                slots += [renamed(value, names.__getitem__) for value in frames[pid]]
        return tuple(slots), names

    def _find_kept(self, state: Sequence[Any], nameless: Set[Pid]) -> tuple[Frames, References]:
        left: list[Pid] = []
        failed: dict[tuple[int, int], Pid] = {}
        is_object = self.system.class_template
        for process in state[0].processes:
            named = not is_numbered(process.pid) and process.pid not in nameless
            point = state[process.base]
            if point >= FIRST_POINT or (named and (process.template >= is_object or point != ENDED)):
                left.append(process.pid)
            elif process.template < is_object and point != ENDED:
                failed[process.template, point] = process.pid
        frames: Frames = {}
        references: References = {}
        self._reach(state, left, frames, references)
        by_pid = state[0].by_pid
        known = {(by_pid[pid].template, frame[0]) for pid, frame in frames.items()}
        self._reach(state, [pid for kind, pid in failed.items() if kind not in known], frames, references)
        return frames, references

    def _reach(self, state: Sequence[Any], left: list[Pid], frames: Frames, references: References) -> None:
        """Keep some processes, and all that can be reached from them."""
        by_pid = state[0].by_pid
        while left:
            pid = left.pop()
            if pid not in frames:
                frame = frames[pid] = self._frame(state, by_pid[pid])
                found = references[pid] = set()
                for value in frame:
                    collect_references(value, found)
                left += found

    def references(self, state: Sequence[Any]) -> set[Pid]:
        """All references in a state."""
        found: set[Pid] = set()
        for value in state[1:]:
            collect_references(value, found)
        return found

    def frame(self, state: Sequence[Any], pid: Pid) -> tuple[Any, ...]:
        """Everything that distinguishes a process, except its name."""
        process = state[0].by_pid[pid]
        return (process.template, *self._frame(state, process))

    def _frame(self, state: Sequence[Any], process: Process) -> list[Any]:
        """The slots of a process, as far as they can still be observed."""
        b = process.base
        if process.template >= self.system.class_template:
            fields = self.system.program.classes[process.template - self.system.class_template].fields
            return list(state[b : b + OBJECT_FRAME + len(fields)])
        variables = self.system.program.templates[process.template].variables
        if state[b] >= FIRST_POINT:
            return list(state[b : b + TASK_FRAME + len(variables)])
        result = state[b + 3] if state[b] == ENDED else None
        return [state[b], 0, None, result, *(None for _ in variables)]

    def _count_children(self, frames: Frames, names: Names) -> None:
        """Reduce the number of children of tasks, where it only has to prevent that a name in use is used
        again."""
        used: dict[Pid, int] | None = None
        for pid, frame in frames.items():
            if frame[0] in self.flow.uncounted and not is_numbered(names[pid]):
                used = _counts(names.values()) if used is None else used
                frame[1] = min(frame[1], max(used.get(pid, 0), self._needed.get(pid, 0)))


def _counts(pids: Iterable[Pid]) -> dict[Pid, int]:
    """For each process that has created one of these: the least number of children that it must have had."""
    found: dict[Pid, int] = {}
    for pid in pids:
        if len(pid) > 1:
            maker = Pid(pid[:-1])
            found[maker] = max(found.get(maker, 0), pid[-1] + 1)
    return found


class _Numbering:
    """Finds an order of the processes without names that does not depend on their current names."""

    def __init__(
        self,
        frames: Frames,
        references: References,
        by_pid: Mapping[Pid, Process],
        lost: Set[Pid],
        values: Values,
        ranks: Ranks,
    ) -> None:
        self.frames, self.references, self.by_pid = frames, references, by_pid
        self.lost, self.values, self.ranks = lost, values, ranks
        self.numbers: dict[Pid, int] = {}

    def order(self) -> Iterable[Pid]:
        self._find(sorted(self.frames.keys() - self.lost))
        left = self.lost - self.numbers.keys()
        keys = {pid: self._key(pid) for pid in left} if len(left) > 1 else dict.fromkeys(left)
        for pid in sorted(left, key=lambda pid: (keys[pid], pid)):
            if pid not in self.numbers and self._is_root(pid):
                self.numbers[pid] = len(self.numbers)
                self._find([pid])
        return self.numbers

    def _is_root(self, pid: Pid) -> bool:
        """Is a process kept even if nothing refers to it? Only tasks that have not terminated normally are."""
        return bool(self.frames[pid][0] != ENDED)

    def _find(self, start: Iterable[Pid]) -> None:
        """Number what can be reached from some processes, in the order in which it is found."""
        left = deque(start)
        while left:
            pid = left.popleft()
            if self.references[pid].isdisjoint(self.lost):
                continue
            for ref in self._references(self.frames[pid]):
                if ref in self.lost and ref not in self.numbers:
                    self.numbers[ref] = len(self.numbers)
                    left.append(ref)

    def _references(self, value: Any) -> Iterator[Pid]:
        if type(value) is Pid:
            yield value
        elif type(value) in (list, tuple):
            for part in value:
                yield from self._references(part)
        elif isinstance(value, tuple | frozenset):  # sets and maps, which are ordered by names
            found: set[Pid] = set()
            collect_references(value, found)
            keys = {pid: self._key(pid) for pid in found}
            yield from sorted(found, key=lambda pid: (keys[pid], pid))

    def _key(self, pid: Pid) -> Any:
        if pid not in self.lost or pid in self.numbers or not self.references[pid].isdisjoint(self.lost):
            return self.values.rank(self._describe(pid, _LOOKED_AHEAD))
        frame = (self.by_pid[pid].template, *self.frames[pid])
        rank = self.ranks.get(frame)
        if rank is None:
            rank = self.ranks[frame] = self.values.rank(self._describe(pid, _LOOKED_AHEAD))
        return rank

    def _describe(self, pid: Pid, depth: int) -> Any:
        """What a reference leads to, described without names."""
        if pid not in self.lost:
            return pid
        if pid in self.numbers:
            return (self.numbers[pid],)
        template = self.by_pid[pid].template
        if depth == 0:
            return (template, ())
        look: Callable[[Pid], Any] = lambda ref: self._describe(ref, depth - 1)  # noqa: E731
        return (template, tuple(self.values.renamed(value, look) for value in self.frames[pid]))
