"""All inputs at once: symbolic execution with partial order reduction (P3, Def. 4.1).

This is a depth-first search over symbolic states. In each state there are

    options     what each process may do, and under which condition on the inputs
    persistent  a set of processes that are independent of all that other processes may ever do: only these move
                first
    sleeping    steps that were tried from an earlier state on the path and are independent of all since: they are
                not tried again, so that each class of traces is completed once
    rest        the inputs for which none of the chosen processes can move: these never will, and the others go on

The conditions are assumptions of one solver, pushed and popped along the search. A path is complete for the inputs
for which nothing can move any more. What the solver cannot decide in time counts as possible, and is reported at
the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from porcini.core.errors import LimitHit
from porcini.core.events import Move, Schedule
from porcini.core.pids import Pid
from porcini.core.systems import Kind
from porcini.engines.closures import close_under_conflicts
from porcini.engines.equivalences import TraceEquivalence
from porcini.engines.limits import DEFAULT_SOLVER_TIMEOUT, DEFAULT_SYMBOLIC_DEPTH
from porcini.engines.stats import SearchStats
from porcini.ir.expr import FALSE, TRUE, Expr, conj, var
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.commuting import Terms
from porcini.ir.symbolic.formulas import SymbolicStep, SymbolicSystem
from porcini.ir.symbolic.labels import Label
from porcini.ir.symbolic.program import blocked
from porcini.solvers.smt import Assumptions, Smt


@dataclass(frozen=True, slots=True)
class Path:
    """A class of traces: its condition on the inputs, how it ends, and an input that takes it."""

    steps: tuple[SymbolicStep, ...]
    condition: Expr
    kind: Kind
    state: Any
    input: dict[str, int | bool] | None
    cut: bool = False

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(step.label for step in self.steps)

    @property
    def schedule(self) -> Schedule:
        return tuple(Move(step.pid, step.choice) for step in self.steps)


@dataclass(slots=True)
class _Node:
    """A state on the search stack. `frozen` processes cannot move for the inputs that are left."""

    state: Any
    sleeping: frozenset[Label]
    frozen: frozenset[Pid]
    branches: Iterator[tuple[SymbolicStep | None, Expr, frozenset[Pid]]]
    tried: list[Label] = field(default_factory=list)


class Symbolic:
    """A search in progress; `paths` are its results."""

    def __init__(
        self,
        system: SymbolicSystem,
        equivalence: TraceEquivalence,
        stats: SearchStats,
        *,
        reduced: bool = True,
        timeout: float = DEFAULT_SOLVER_TIMEOUT,
    ) -> None:
        self.system, self.equivalence, self.stats, self.reduced = system, equivalence, stats, reduced
        self.smt = Smt(timeout)
        self.term = Terms(self.smt)
        self.assumed = Assumptions(self.smt, timeout)
        self.inputs = {name: var(name, type_) for name, type_ in system.inputs.items()}
        self.paths: list[Path] = []
        self._entered: list[bool] = []
        """For each node except the first: was it entered by a step?"""
        self.cut = 0
        self.cut_inside = 0
        """Paths that end in a step that the program does not follow to its end."""

    @property
    def depth(self) -> int:
        return self.stats.limits.max_depth or DEFAULT_SYMBOLIC_DEPTH

    def search(self) -> None:
        steps: list[SymbolicStep] = []
        conditions: list[Expr] = []
        self.assumed.push(self.term(self.system.assumed))
        nodes = [self._node(self.system.initial(), frozenset(), frozenset(), steps, conditions)]
        while nodes:
            node = nodes[-1]
            branch = next(node.branches, None)
            if branch is None:
                nodes.pop()
                if nodes:
                    self.assumed.pop()
                    conditions.pop()
                    if self._entered.pop():
                        steps.pop()
                continue
            step, when, chosen = branch
            self.assumed.push(self.term(when))
            conditions.append(when)
            if step is None:
                self._entered.append(False)
                frozen = node.frozen | chosen
                nodes.append(self._node(node.state, node.sleeping, frozen, steps, conditions))
                continue
            self._entered.append(True)
            steps.append(step)
            self.stats.step()
            sleeping = frozenset(
                label
                for label in (*node.sleeping, *node.tried)
                if self.reduced and self.equivalence.independent(label, step.label)
            )
            node.tried.append(step.label)
            after = self.system.take(node.state, step)
            nodes.append(self._node(after, sleeping, node.frozen, steps, conditions))

    def _node(
        self,
        state: Any,
        sleeping: frozenset[Label],
        frozen: frozenset[Pid],
        steps: Sequence[SymbolicStep],
        conditions: Sequence[Expr],
    ) -> _Node:
        waiting = [pid for pid in self.system.waiting(state) if pid not in frozen]
        options = self._persistent_options(state, waiting)
        if not any(options.values()):
            inside = self.system.kind(state) == "unfinished"
            if inside:
                self.cut_inside += 1
                self.stats.leave_out("a loop within one step whose end depends on the inputs")
            self._complete(state, steps, conditions, cut=inside)
            return _Node(state, sleeping, frozen, iter(()))
        if len(steps) >= self.depth:
            self.cut += 1
            self.stats.leave_out(f"the depth limit of {self.depth:,} steps")
            self._complete(state, steps, conditions, cut=True)
            return _Node(state, sleeping, frozen, iter(()))
        return _Node(state, sleeping, frozen, self._branches(options, sleeping))

    def _persistent_options(
        self, state: Any, waiting: Sequence[Pid]
    ) -> dict[Pid, list[tuple[SymbolicStep, Expr]]]:
        """What the processes of a persistent set may do: the smallest set that may do something."""
        if self.reduced:
            for chosen in sorted(self._persistent_sets(state, waiting), key=len):
                options = {pid: self._options(state, pid) for pid in sorted(chosen)}
                if any(options.values()):
                    return options
        return {pid: self._options(state, pid) for pid in waiting}

    def _options(self, state: Any, pid: Pid) -> list[tuple[SymbolicStep, Expr]]:
        found = ((step, self.system.when(state, step)) for step in self.system.steps(state, pid))
        return [(step, when) for step, when in found if when is not FALSE]

    def _branches(
        self, options: dict[Pid, list[tuple[SymbolicStep, Expr]]], sleeping: frozenset[Label]
    ) -> Iterator[tuple[SymbolicStep | None, Expr, frozenset[Pid]]]:
        went, chosen = False, frozenset(options)
        for found in options.values():
            for step, when in found:
                if step.label not in sleeping and self._may_hold(when):
                    went = True
                    yield step, when, chosen
        rest = blocked([when for found in options.values() for _, when in found])
        if self._may_hold(rest):
            went = True
            yield None, rest, chosen
        if not went:
            self.stats.counts.blocked += 1

    def _may_hold(self, when: Expr) -> bool:
        """May a condition hold, given all that is assumed? If the solver does not know, it may."""
        if when is TRUE or when is FALSE:
            return when is TRUE
        return self.assumed.possible(self.term(when)) is not False

    def _persistent_sets(self, state: Any, waiting: Sequence[Pid]) -> Iterator[frozenset[Pid]]:
        """Sets of processes that are closed under conflicts with what others may still do: one that begins with
        each process, until one of them has a single member."""
        now = {pid: self.system.now(state, pid) for pid in waiting}
        later = {pid: self.system.later(state, pid) for pid in waiting}
        for pid in waiting:
            found = close_under_conflicts(pid, now, later)
            assert found is not None, "nothing limits it"
            yield found
            if len(found) == 1:
                return

    def _complete(
        self, state: Any, steps: Sequence[SymbolicStep], conditions: Sequence[Expr], cut: bool = False
    ) -> None:
        kind: Kind = "unfinished" if cut else self.system.kind(state)
        wanted = {name: self.term(variable) for name, variable in self.inputs.items()}
        example = self.assumed.example(wanted=wanted)
        condition = simplify(conj(*conditions))
        path = Path(tuple(steps), condition, kind, state, example, cut)
        if self.equivalence.compares:
            for other in self.paths:
                if other.kind == kind and self.equivalence.same(other.labels, path.labels):
                    return
        self.paths.append(path)
        self.stats.counts.executions += 1
        self.stats.counts.classes += 1
        if self.stats.counts.executions == self.stats.limits.max_executions:
            raise LimitHit(f"the limit of {self.stats.limits.max_executions:,} executions")
