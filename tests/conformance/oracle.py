"""An independent count: the classes and the outcomes of a program, by searches that share no code with `src`.

A judge gives the semantics of a program as a `Machine`: immutable states, and the steps that can be taken in each
with what they read and write. From that:

    outcomes     how runs end, by a plain search over states: independence is not consulted at all
    classes      the lexicographic normal forms of complete runs. A word is one unless some step could move left
                 past a run of steps that it is independent of, the first of which belongs to a larger process
                 (Anisimov and Knuth 1979). Every class of equivalent runs has exactly one, and its beginnings are
                 normal forms too: so a depth-first search that only takes steps that keep the word one finds all
    normal_form  the normal form of a given run, for comparing what an engine ran

Two steps are dependent if they are of one process, if one made the process of the other, or if one writes what the
other reads or writes.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

Pid = tuple[int, ...]
Move = tuple[Pid, int]
"""A process and which of its choices it takes."""
Word = tuple[Move, ...]
Outcome = tuple[str, Hashable]
"""How a run ended (`terminated`, `deadlock`, `assertion`, `error`), and what can be observed then."""


LONGEST = 150
"""Steps in a run."""


class TooMany(Exception):
    """There is more than the judge was told to look at."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step that can be taken, and the state after it."""

    pid: Pid
    after: Any
    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    spawned: tuple[Pid, ...] = ()
    choice: int = 0

    @property
    def move(self) -> Move:
        return self.pid, self.choice


class Machine(Protocol):
    """A program, as a judge understands it. States can be hashed."""

    def initial(self) -> Any: ...

    def steps(self, state: Any) -> Sequence[Step]:
        """Every step that can be taken now."""

    def outcome(self, state: Any) -> Outcome:
        """How a run ended that can take no step."""


def dependent(a: Step, b: Step) -> bool:
    return (
        a.pid == b.pid
        or a.pid in b.spawned
        or b.pid in a.spawned
        or not a.writes.isdisjoint(b.writes)
        or not a.writes.isdisjoint(b.reads)
        or not a.reads.isdisjoint(b.writes)
    )


def outcomes(machine: Machine, most: int = 100_000) -> set[Outcome]:
    """How the runs of a program can end; `most` bounds the states."""
    start = machine.initial()
    seen, left, found = {start}, [start], set()
    while left:
        state = left.pop()
        steps = machine.steps(state)
        if not steps:
            found.add(machine.outcome(state))
        for step in steps:
            if step.after not in seen:
                seen.add(step.after)
                left.append(step.after)
        if len(seen) > most:
            raise TooMany
    return found


def classes(machine: Machine, most: int = 20_000) -> dict[Word, Outcome]:
    """The normal form of every class of complete runs, with its outcome; `most` bounds the words looked at. A run
    longer than `LONGEST` is taken for one that never ends."""
    found: dict[Word, Outcome] = {}
    words = 0
    start = machine.initial()
    stack: list[tuple[list[Step], Iterator[Step]]] = [([], _from(machine, start, [], found))]
    while stack:
        word, extensions = stack[-1]
        step = next(extensions, None)
        if step is None:
            stack.pop()
            continue
        words += 1
        if words > most or len(word) > LONGEST:
            raise TooMany
        longer = [*word, step]
        stack.append((longer, _from(machine, step.after, longer, found)))
    return found


def _from(machine: Machine, state: Any, word: list[Step], found: dict[Word, Outcome]) -> Iterator[Step]:
    """The steps that keep a word a normal form; a word that cannot go on is complete."""
    steps = machine.steps(state)
    if not steps:
        found[tuple(step.move for step in word)] = machine.outcome(state)
    return (step for step in steps if _keeps_normal(word, step))


def _keeps_normal(word: Sequence[Step], step: Step) -> bool:
    for earlier in reversed(word):
        if dependent(earlier, step):
            return True
        if earlier.pid > step.pid:
            return False
    return True


def run(machine: Machine, schedule: Iterable[Move]) -> tuple[list[Step], Any]:
    """Follow a schedule; a move that cannot be taken is a `KeyError`."""
    state, taken = machine.initial(), []
    for move in schedule:
        step = {each.move: each for each in machine.steps(state)}[move]
        taken.append(step)
        state = step.after
    return taken, state


def normal_form(machine: Machine, schedule: Iterable[Move]) -> Word:
    """The normal form of a run: the smallest process first, of those that nothing left must come before."""
    taken, _ = run(machine, schedule)
    before = [{i for i in range(j) if dependent(taken[i], taken[j])} for j in range(len(taken))]
    word: list[Move] = []
    left = set(range(len(taken)))
    while left:
        first = min((j for j in left if not before[j] & left), key=lambda j: taken[j].pid)
        left.remove(first)
        word.append(taken[first].move)
    return tuple(word)
