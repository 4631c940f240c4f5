"""Symbolic execution of objects and tasks: the tasks and objects are known, numbers and booleans need not be.

States are those of `states`, with formulas over the inputs; the steps of a task are all paths through its code
that are possible there, as labels (`labels`). A condition that depends on an input is followed both ways, as two
steps. Everything else (references, lists, the arguments of methods) must be known: if it depends on an input, that
is an error with its place.

A loop whose end depends on an input may have any number of iterations, so there may be infinitely many paths
through one step. A path with too many such conditions is cut: the state after it is the end of its path, and its
kind is `unfinished`, so that it is never taken for an answer.

There is no lookahead here: a persistent set contains either one task that is alone, or all tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from porcini.core.errors import InputError
from porcini.core.footprints import OPAQUE, Footprint
from porcini.core.pids import Pid
from porcini.core.systems import Kind, Observed, Value
from porcini.ir.analysis.numbering import ENDED, FAILED_ASSERTION, FAILED_ERROR, FIRST_POINT
from porcini.ir.expr import TRUE, Const, DataType, Expr, ScalarType, const, datum, not_
from porcini.ir.program import Program
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.commuting import Terms
from porcini.ir.symbolic.program import show_result
from porcini.ir.tasks.labels import ActorStep, StepLabels
from porcini.ir.tasks.states import Functions, StepState
from porcini.ir.tasks.system import StepSystem
from porcini.solvers.smt import Smt


class SymbolicActors:
    """A program of objects and tasks, run on symbols (`ir.symbolic.formulas.SymbolicSystem`)."""

    def __init__(self, program: Program, file: str, source: str) -> None:
        self.program = program
        self.file = file
        self.source = source
        system = StepSystem(program)
        functions = Functions.of(program.library, system.functions)
        self._labels = StepLabels(system.numbering, functions, possible=self._possible)
        self._smt = Smt()
        self._term = Terms(self._smt)
        self._known: dict[Expr, bool] = {}

    @property
    def inputs(self) -> Mapping[str, ScalarType]:
        return self.program.library.inputs

    @property
    def assumed(self) -> Expr:
        return TRUE

    @property
    def arrays(self) -> Mapping[str, Value]:
        return {}

    def show_observed(self, name: str, value: Expr) -> Observed:
        return show_result(value)

    def _possible(self, condition: Expr) -> bool:
        """Can a condition on the inputs hold? What is not known may."""
        condition = simplify(condition)
        if isinstance(condition, Const):
            return bool(condition.value)
        if condition not in self._known:
            self._known[condition] = not self._smt.proves(self._term(not_(condition)))
        return self._known[condition]

    def initial(self) -> StepState:
        return self._labels.initial()

    def waiting(self, state: StepState) -> Sequence[Pid]:
        if state.cut:
            return ()
        return [pid for pid, task in sorted(state.tasks.items()) if task.point >= FIRST_POINT]

    def steps(self, state: StepState, pid: Pid) -> Sequence[ActorStep]:
        try:
            return list(self._labels.steps(state, pid))
        except InputError as problem:
            problem.file, problem.source = self.file, self.source
            raise

    def when(self, state: StepState, step: ActorStep) -> Expr:
        return self._labels.when(state, step)

    def take(self, state: StepState, step: ActorStep) -> StepState:
        return self._labels.take(state, step)

    def now(self, state: StepState, pid: Pid) -> Footprint:
        return OPAQUE

    def later(self, state: StepState, pid: Pid) -> Footprint:
        return OPAQUE

    def kind(self, state: StepState) -> Kind:
        points = {task.point for task in state.tasks.values()}
        if state.cut:
            return "unfinished"
        if FAILED_ERROR in points:
            return "error"
        if FAILED_ASSERTION in points:
            return "assertion"
        return "terminated" if points == {ENDED} else "deadlock"

    def observed(self, state: StepState) -> dict[str, Expr]:
        """The fields of every object, and where unfinished tasks stand."""
        vocabulary = self._labels.vocabulary
        seen: dict[str, Expr] = {}
        for field in self._labels.fields(state):
            value = state.values.get(field.var)
            if value is None:
                seen[field.var.name] = _as_datum(self.program.library.values.show(None))
            elif field.whole:
                assert isinstance(value, Const)
                seen[field.var.name] = _as_datum(vocabulary.show(value.value))
            else:
                seen[field.var.name] = value
        for pid, task in sorted(state.tasks.items()):
            if task.point != ENDED:
                seen[str(pid)] = _as_datum(vocabulary.describe_point(task.method, task.point))
        return seen


def _as_datum(value: Observed) -> Expr:
    """A value as reports show it. Its type tells `[True]` from `[1]`, which Python holds to be equal."""
    return const(value) if isinstance(value, int) else datum(value, DataType(repr(value)))
