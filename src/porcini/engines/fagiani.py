"""The Fagiani algorithm (P0, Alg. 1): all executable permutations of one recorded trace, one per class.

It works on labels alone; the program is not run again.

    I := {empty}
    for i := 1 to length(trace):
      I' := I; I := {}
      for each prefix in I', for each process in proc(prefix) that has a next label:
        longer := canon(prefix . next(process, prefix))
        if longer is not in I and its path condition holds in the initial state: add longer to I

    compile_trace   compiles the labels of each process (Def. 16's `next`) to functions over a flat store
    permutations    the two loops, depth first over prefixes instead of level by level; a prefix is extended by
                    the next label of an active process (Def. 13) whose condition holds in the store (Def. 14:
                    forward, so that the prefix is shared, instead of a weakest precondition from scratch)
    Seeds           states in which a process could go on, but not by its recorded label: section 8

Alg. 1 keeps a set of canonical prefixes. Def. 12 is not a normal form (erratum 1); here a prefix is kept if
it is the first of its class in lexicographic order, the true lexicographic normal form. Sleep sets decide
that step by step: a process that was tried before and does not conflict with what came since would only
give a word of a class that is already listed. Adding a label costs about the number of processes. If no
remaining step can wake a sleeper, the prefix cannot be completed to a normal form and is dropped at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from porcini.core.footprints import Footprint, Location
from porcini.core.pids import Pid
from porcini.core.systems import Scalar, Value
from porcini.ir.analysis import footprint
from porcini.ir.expr import Expr, free
from porcini.ir.flat import codegen
from porcini.ir.symbolic.formulas import LabelledRun
from porcini.ir.symbolic.labels import Label

Store = list[Any]
Masks = tuple[int, int]
"""What a label reads and writes, as bits over slots."""


@dataclass(frozen=True, slots=True, eq=False)
class CompiledLabel:
    """A label, compiled: `fire` gives the store after it, or None where its condition does not hold."""

    label: Label
    fire: Callable[[Store], Store | None]
    able: Callable[[Store], Sequence[int]]
    masks: Masks
    cells: Callable[[Store], tuple[int, ...]] | None
    largest: Masks
    spawned: int
    family: Masks
    """What its process might read and write there by another choice; the same as `masks` where it has no
    choice."""

    def other_choices(self, store: Store, fired: bool) -> list[int]:
        """The enabled choices by which the process could do something that was not recorded."""
        label = self.label
        if not label.choices:
            return [] if fired else list(self.able(store))
        mine = label.choices[label.taken] if fired else None
        return [choice for choice in dict.fromkeys(self.able(store)) if choice != mine]

    def touched(self, store: Store) -> Masks:
        """What the label reads and writes in a given store."""
        if self.cells is None:
            return self.masks
        found = self.cells(store)
        middle = found.index(-1)
        reads, writes = self.masks
        for slot in found[:middle]:
            reads |= 1 << slot
        for slot in found[middle + 1 : -1]:
            writes |= 1 << slot
        return reads, writes


@dataclass(frozen=True, slots=True, eq=False)
class CompiledTrace:
    """A recorded run, compiled: for each process its steps in order, and the initial store.

    `waiting` gives, for each process that was blocked at the end, the step that it could not take.
    """

    pids: tuple[Pid, ...]
    steps: tuple[tuple[CompiledLabel, ...], ...]
    waiting: tuple[CompiledLabel | None, ...]
    roots: int
    store: Store
    slots: dict[str, tuple[int, int | None]]
    bits: dict[Location, int]

    def value(self, store: Store, name: str) -> Value:
        first, size = self.slots[name]
        return cast(Scalar, store[first]) if size is None else tuple(store[first : first + size])

    def footprint(self, masks: Masks) -> Footprint:
        """What a step touched, by name."""
        reads, writes = (frozenset(name for name, bit in self.bits.items() if mask & bit) for mask in masks)
        return Footprint(reads, writes)

    def unfinished(self, store: Store) -> bool:
        """Could a process that was blocked in the recorded run go on in this store?"""
        return any(step is not None and step.able(store) for step in self.waiting)


def compile_trace(
    labels: Sequence[Label], waiting: Sequence[Label], store: dict[str, Any], roots: Sequence[Pid]
) -> CompiledTrace:
    """Compile a symbolic trace. `store` gives the initial value of every variable in it by name."""
    slots: dict[str, tuple[int, int | None]] = {}
    cells: Store = []
    for name, value in store.items():
        slots[name] = (len(cells), len(value) if isinstance(value, tuple) else None)
        cells += value if isinstance(value, tuple) else [value]
    pids = sorted({*roots, *(label.pid for label in labels), *(p for label in labels for p in label.spawned)})
    compiler = _Compiler(slots, {pid: i for i, pid in enumerate(pids)})
    made = {label: compiler.step(label) for label in [*labels, *waiting]}
    by_pid = {pid: tuple(made[label] for label in labels if label.pid == pid) for pid in pids}
    blocked = {label.pid: made[label] for label in waiting}
    return CompiledTrace(
        tuple(pids),
        tuple(by_pid[pid] for pid in pids),
        tuple(blocked.get(pid) for pid in pids),
        sum(1 << pids.index(pid) for pid in roots),
        cells,
        slots,
        compiler.bits,
    )


def compile_run(run: LabelledRun) -> CompiledTrace:
    """The same for a run with its labels."""
    return compile_trace(run.labels, run.waiting, dict(run.before), run.roots)


class _Compiler:
    def __init__(self, slots: dict[str, tuple[int, int | None]], numbers: dict[Pid, int]) -> None:
        self.numbers = numbers
        self.slots = codegen.Slots({name: first for name, (first, _) in slots.items()}, {})
        self.bits: dict[Location, int] = {}
        for name, (first, size) in slots.items():
            if size is None:
                self.bits[Location(name)] = 1 << first
            else:
                self.bits |= {footprint.cell(name, i): 1 << (first + i) for i in range(size)}
        self.used = sum(size or 1 for _, size in slots.values())
        self.module = codegen.Module()

    def step(self, label: Label) -> CompiledLabel:
        touched = label.touched
        moving = touched.read_cells or touched.written_cells
        reads, writes = self._masks(footprint.static(touched))
        masks = family = self._masks(touched.fixed)
        if label.family is None:
            reads |= self._variables(label.guards)
        else:
            wide = self._masks(label.family)
            family = reads, writes = reads | wide[0], writes | wide[1]
        cells = codegen.cells(touched.read_cells, touched.written_cells, self.slots) if moving else None
        return CompiledLabel(
            label,
            self._function(codegen.fire_label(label, self.slots)),
            self._able(label),
            masks,
            self._function(cells) if cells else None,
            (reads, writes),
            sum(1 << self.numbers[pid] for pid in label.spawned),
            family,
        )

    def _able(self, label: Label) -> Callable[[Store], Sequence[int]]:
        can_move, slots = label.can_move, self.slots.shared
        if can_move is None:
            return self._function(codegen.can_move(label, self.slots))
        return lambda store: [0] if can_move(lambda name: store[slots[name]]) else []

    def _function(self, lines: list[str]) -> Callable[[Store], Any]:
        return self.module.add(lines, "s")

    def _masks(self, foot: Footprint) -> Masks:
        return sum(map(self._bit, foot.reads)), sum(map(self._bit, foot.writes))

    def _bit(self, location: Location) -> int:
        """The bit of a location, which need not be a variable: it may be a whole channel."""
        if location not in self.bits:
            self.bits[location] = 1 << self.used
            self.used += 1
        return self.bits[location]

    def _variables(self, exprs: Sequence[Expr]) -> int:
        bits = 0
        for v in (v for expr in exprs for v in free(expr)):
            for location in footprint.locations(v):
                bits |= self.bits[location]
        return bits


@dataclass(frozen=True, slots=True, eq=False)
class Permutation:
    """A complete executable permutation: the order of processes, what each step touched, the store at its end."""

    order: tuple[int, ...]
    masks: tuple[Masks, ...]
    store: Store


@dataclass(slots=True)
class _Prefix:
    """A node of the search: a normal form, ready to be extended."""

    store: Store
    active: int
    sleeping: int
    moves: Iterator[tuple[int, Store, Masks, int]]


@dataclass(slots=True)
class Permuter:
    """The search. `tick` is called for each label that is added; `seeds` collects where runs leave the recorded
    one."""

    recorded: CompiledTrace
    tick: Callable[[], None] = field(default=lambda: None)
    seeds: Seeds | None = None
    total: int = field(init=False)
    at: list[int] = field(init=False)
    order: list[int] = field(default_factory=list)
    masks: list[Masks] = field(default_factory=list)
    _remaining: list[list[Masks]] = field(init=False)

    def __post_init__(self) -> None:
        self.total = sum(map(len, self.recorded.steps))
        self.at = [0] * len(self.recorded.pids)
        self._remaining = [
            _suffixes(steps if blocked is None else (*steps, blocked))
            for steps, blocked in zip(self.recorded.steps, self.recorded.waiting, strict=True)
        ]

    def permutations(self) -> Iterator[Permutation]:
        """Alg. 1, depth first. Each class is listed once."""
        stack = [self._prefix(self.recorded.store, self.recorded.roots, 0)]
        while stack:
            if len(self.order) == self.total:
                yield Permutation(tuple(self.order), tuple(self.masks), stack[-1].store)
            move = next(stack[-1].moves, None)
            if move is None:
                stack.pop()
                if stack:
                    self.at[self.order.pop()] -= 1
                    self.masks.pop()
                continue
            process, store, masks, sleeping = move
            active = stack[-1].active | self.recorded.steps[process][self.at[process]].spawned
            self.order.append(process)
            self.masks.append(masks)
            self.at[process] += 1
            self.tick()
            stack.append(self._prefix(store, active, sleeping))

    def _prefix(self, store: Store, active: int, sleeping: int) -> _Prefix:
        return _Prefix(store, active, sleeping, self._moves(store, active, sleeping))

    def _moves(self, store: Store, active: int, sleeping: int) -> Iterator[tuple[int, Store, Masks, int]]:
        """Each extension that stays a normal form: who moves, the store after it, what it touched, and who then
        sleeps.

        Processes are tried in order. One that was tried before, or sleeps already, goes to sleep unless it
        conflicts with the step that is taken.
        """
        tried: list[tuple[int, Masks]] = []
        ready: list[tuple[int, Store, Masks]] = []
        stuck = len(self.order) < self.total
        for process, steps in enumerate(self.recorded.steps):
            if not active >> process & 1:
                continue
            position = self.at[process]
            step = steps[position] if position < len(steps) else self.recorded.waiting[process]
            if step is None:
                continue
            if sleeping >> process & 1:
                stuck = False
                tried.append((process, self._touched(step, store)))
                continue
            after = step.fire(store)
            if after is not None:
                ready.append((process, after, self._touched(step, store)))
            if self.seeds:
                for choice in step.other_choices(store, after is not None):
                    stuck = False
                    self.seeds.add_divergence(self.order, self.masks, process, choice)
        if self.seeds and stuck and not ready:
            self.seeds.add_stuck(self.order)
        left = self._remaining_of_others() if len(ready) + len(tried) > 1 else []
        for process, after, masks in ready:
            asleep = 0
            for other, others in tried:
                if not _conflict(masks, others):
                    asleep |= 1 << other
                    if not _conflict(self.recorded.steps[other][self.at[other]].largest, left[other]):
                        break  # nobody can wake this process again, so no normal form begins with this prefix
            else:
                yield process, after, masks, asleep
            tried.append((process, masks))

    def _touched(self, step: CompiledLabel, store: Store) -> Masks:
        """What a step is taken to touch. When seeds are collected, its process may do something that was not
        recorded: then two steps are independent only if no other choice of either process depends on the other."""
        return step.family if self.seeds and step.label.choices else step.touched(store)

    def _remaining_of_others(self) -> list[Masks]:
        """For each process, all that the others may still read and write: a pass from the left adds the processes
        before it, and a pass from the right those after it."""
        mine = [suffixes[at] for suffixes, at in zip(self._remaining, self.at, strict=True)]
        found: list[Masks] = []
        reads = writes = 0
        for r, w in mine:
            found.append((reads, writes))
            reads, writes = reads | r, writes | w
        reads = writes = 0
        for process in range(len(mine) - 1, -1, -1):
            r, w = found[process]
            found[process] = (r | reads, w | writes)
            reads, writes = reads | mine[process][0], writes | mine[process][1]
        return found


def _conflict(a: Masks, b: Masks) -> bool:
    return bool(a[1] & (b[0] | b[1]) or b[1] & a[0])


def _suffixes(steps: Sequence[CompiledLabel]) -> list[Masks]:
    """For each position, everything that the steps from there on may read and write."""
    reads = writes = 0
    found = [(0, 0)]
    for step in reversed(steps):
        reads, writes = reads | step.largest[0], writes | step.largest[1]
        found.append((reads, writes))
    return found[::-1]


Seed = tuple[tuple[int, ...], int | None]
"""The order of processes, and the choice by which the last of them does something that was not recorded."""


class Seeds:
    """Collects seed traces (section 8): prefixes that lead a fresh run to a class that is not listed.

    Either a process then does something that was not recorded, or nothing can move although some recorded steps
    have not been taken.
    """

    def __init__(self, recorded: CompiledTrace, *, whole: bool = False) -> None:
        self.recorded = recorded
        self.whole = whole
        self.found: dict[Seed, None] = {}

    def add_stuck(self, order: Sequence[int]) -> None:
        self.found[tuple(order), None] = None

    def add_divergence(self, order: Sequence[int], masks: Sequence[Masks], process: int, choice: int) -> None:
        """Keep only what must come before the step that was not recorded, in normal form; or the whole prefix."""
        if self.whole:
            self.found[(*order, process), choice] = None
            return
        at = [0] * len(self.recorded.pids)
        spawned: list[int] = []
        for p in order:
            spawned.append(self.recorded.steps[p][at[p]].spawned)
            at[p] += 1
        steps = self.recorded.steps[process]
        step = steps[at[process]] if at[process] < len(steps) else self.recorded.waiting[process]
        assert step is not None
        kept: list[int] = []  # positions, latest first
        needs = [(process, (step.largest[0], 0))]
        for i in range(len(order) - 1, -1, -1):
            p, mine = order[i], masks[i]
            if any(p == q or spawned[i] >> q & 1 or _conflict(mine, theirs) for q, theirs in needs):
                kept.append(i)
                needs.append((p, mine))
        levels: list[tuple[int, int]] = []
        for i in reversed(kept):
            earlier = [
                level
                for (level, _), j in zip(levels, reversed(kept), strict=False)
                if order[j] == order[i] or spawned[j] >> order[i] & 1 or _conflict(masks[j], masks[i])
            ]
            levels.append((1 + max(earlier, default=0), order[i]))
        self.found[(*(p for _, p in sorted(levels)), process), choice] = None

    def shortest_first(self) -> list[Seed]:
        return sorted(self.found, key=lambda seed: (len(seed[0]), seed[0], seed[1] or 0))
