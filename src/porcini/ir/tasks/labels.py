"""Labels of macro-steps: what a task did, as tests and assignments over named variables
(`ir.symbolic.labels.Label`).

A label is one path through a step, for all states: its tests say exactly in which states the step takes this path,
with the same references and data, and its assignments say what it does there. In another order a step may find
other numbers and send other numbers on, and still be the same; one that finds another list, or another receiver,
is another step. So where a label can be taken, the program does exactly what the label says:

    the same path   every condition on it is a test, including those in functions, and whether something fails
    the same names  children are counted, and their number on a path is fixed; receivers are tested
    the same end    the path determines where it ends; the futures and the lock that it read are tested

Whether a task can move at all is decided by the state itself (`Label.can_move`): its guard may read data, which
formulas cannot express.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from porcini.core.errors import InternalError, LimitHit
from porcini.core.events import Event
from porcini.core.footprints import Location
from porcini.core.observations import Cells, Observation
from porcini.core.pids import Pid
from porcini.core.systems import Observed, Run
from porcini.core.traces import Trace
from porcini.ir.analysis.footprint import Touched
from porcini.ir.analysis.numbering import FIRST_POINT, Numbering
from porcini.ir.expr import TRUE, Const, Expr, Var, conj, const, free, substitute
from porcini.ir.objects import MAIN, MAIN_OBJECT
from porcini.ir.operations import Assert, Assign
from porcini.ir.simplify import simplify
from porcini.ir.symbolic.formulas import LabelledRun
from porcini.ir.symbolic.labels import BLOCKED, CanMove, Label, condition
from porcini.ir.tasks.events import text_of
from porcini.ir.tasks.guards import when_can_move
from porcini.ir.tasks.names import FormulaVariable, Vocabulary
from porcini.ir.tasks.paths import Walk
from porcini.ir.tasks.states import Functions, Instance, StepState, Task

MOST_WAYS = 1_000


@dataclass(frozen=True, slots=True)
class ActorStep:
    """What a task may do at its point. `made` are the tasks and objects that it creates or changes; it is `cut` if
    it was not followed to its end."""

    label: Label
    made: Mapping[Pid, Task | Instance]
    cut: bool = False
    choice: int = 0

    @property
    def pid(self) -> Pid:
        return self.label.pid


@dataclass(frozen=True, slots=True)
class _Moved:
    """A task just before its steps with one label, and the codes that its own variables then held. Others do not
    change these, and its own steps keep their order, so they hold the same codes in every permutation."""

    mover: Task
    codes: dict[Var, set[int]] = field(default_factory=dict)


class StepLabels:
    """The steps of one program as labels. Labels are interned, and compared by identity."""

    def __init__(
        self,
        numbering: Numbering,
        functions: Functions,
        given: Mapping[Var, Expr] | None = None,
        possible: Callable[[Expr], bool] = lambda condition: True,
    ) -> None:
        self.numbering, self.program = numbering, numbering.program
        self.given = given or {}
        """The inputs whose values are known; they occur in labels as well."""
        self.vocabulary = Vocabulary(numbering)
        self.functions = functions
        self.possible = possible
        self._labels: dict[Hashable, Label] = {}

    @staticmethod
    def of_given_inputs(numbering: Numbering, compiled: Mapping[str, Callable[..., Any]]) -> StepLabels:
        """For a program whose inputs have values."""
        functions = Functions.of(numbering.program.library, compiled)
        given = functions.given()
        symbols = {name: functions.inputs[name] for name in given}
        values = {symbols[name]: value for name, value in given.items()}
        return StepLabels(numbering, replace(functions, inputs=symbols), values)

    def initial(self) -> StepState:
        entry = self.numbering.entries[0]
        code = self.vocabulary.codes.of
        values: dict[Var, Expr] = {
            **self.given,
            self.vocabulary.standing(MAIN): const(code(self.vocabulary.describe_point(0, entry))),
            self.vocabulary.lock(MAIN_OBJECT): const(code(None)),
        }
        return StepState({MAIN: Task(0, entry, MAIN_OBJECT)}, {MAIN_OBJECT: Instance(0, MAIN_OBJECT)}, values)

    def steps(self, state: StepState, pid: Pid) -> Iterator[ActorStep]:
        """All paths through the next step of a task that are possible in a state."""
        left: list[tuple[bool, ...]] = [()]
        ways = 0
        while left:
            ways += 1
            if ways > MOST_WAYS:
                raise LimitHit(f"the limit of {MOST_WAYS:,} ways through one step")
            walk = Walk(self.vocabulary, self.functions, state, left.pop(), self.possible)
            went = walk.go(pid)
            left += walk.others
            if went:
                yield ActorStep(self._label(walk), walk.made, walk.cut)

    def when(self, state: StepState, step: ActorStep) -> Expr:
        """The condition on the inputs under which a step happens here."""
        return simplify(substitute(condition(step.label), state.values))

    def take(self, state: StepState, step: ActorStep) -> StepState:
        """The state after a step."""
        values = dict(state.values)
        for effect in step.label.effects:
            assert isinstance(effect.target, Var)
            values[effect.target] = simplify(substitute(effect.value, values))
        tasks = {pid: made for pid, made in step.made.items() if isinstance(made, Task)}
        objects = {pid: made for pid, made in step.made.items() if isinstance(made, Instance)}
        path = simplify(conj(state.path, self.when(state, step)))
        return StepState({**state.tasks, **tasks}, {**state.objects, **objects}, values, path, step.cut)

    # Labels

    def _label(self, walk: Walk) -> Label:
        line: tuple[Assign | Assert, ...] = (*map(Assert, walk.tests), *self._assignments(walk))
        spawned = tuple(walk.pid.child(k) for k in range(walk.mover.children, walk.children))
        step = walk.pid, walk.mover.point, walk.mover.me, walk.end, walk.failure, walk.cut
        key = *step, line, spawned, walk.footprint
        label = self._labels.get(key)
        if label is None:
            label = self._labels[key] = Label(
                walk.pid,
                self._text(walk),
                (TRUE,),
                0,
                line,
                Touched(walk.footprint, (), ()),
                spawned,
                failure=walk.failure,
                can_move=self._can_move(walk.state, walk.pid),
            )
        return label

    def _assignments(self, walk: Walk) -> list[Assign]:
        """The changes of a step as a sequence of assignments: an old value that is needed later is saved first."""
        own = {self.vocabulary.variable(walk.pid, v).var for v in self.program.templates[walk.mover.method].vars}
        kept = walk.end >= FIRST_POINT
        changed = {v: value for v, value in walk.changed.items() if value is not v and (kept or v not in own)}
        needed = {v for target, value in changed.items() for v in free(value) if v in changed and v is not target}
        saved: dict[Var, Expr] = {v: self.vocabulary.saved(walk.pid, v) for v in sorted(needed, key=_name)}
        before = [Assign(self.vocabulary.saved(walk.pid, v), v) for v in saved]
        return before + [Assign(v, substitute(value, saved)) for v, value in changed.items()]

    def _text(self, walk: Walk) -> str:
        parameters = [v.title for v in self.program.templates[walk.mover.method].parameters]
        note = f" fails: {walk.failure.message}" if walk.failure else " goes on and on" if walk.cut else ""
        return text_of(self.numbering, walk.mover.point, walk.mover.me, parameters, walk.end, note)

    def _can_move(self, state: StepState, pid: Pid) -> CanMove:
        def can_move(value_of: Callable[[str], Any]) -> bool:
            return Walk(self.vocabulary, self.functions, replace(state, values=_Values(value_of))).could_go(pid)

        return can_move

    # Recorded runs

    def label_run(self, trace: Trace, after: Run) -> LabelledRun:
        """A recorded run as formulas (`ir.symbolic.formulas.FormulaSystem`)."""
        state, labels, moved = self.initial(), list[Label](), dict[Label, _Moved]()
        for event in trace:
            steps = list(self.steps(state, event.pid))
            if len(steps) != 1 or not _agree(steps[0].label, event):
                raise InternalError(f"`{event.label}` was recorded, and formulas say otherwise")
            labels.append(steps[0].label)
            self._note(moved, steps[0].label, state)
            state = self.take(state, steps[0])
        final = after.final()
        waiting = [self._waiting(state, w.pid) for w in final.waiting]
        for label in waiting:
            self._note(moved, label, state)
        names = {str(place) for each in (*labels, *waiting) for place in _places(each)} | final.state.keys()
        names |= {v.name for label in labels for op in label.line for v in _variables(op)}
        before: dict[str, Any] = dict.fromkeys(sorted(names))
        for v, value in self.initial().values.items():
            if isinstance(value, Const):
                before[v.name] = value.value
        fields = {field.var.name for field in self.fields(state)}
        inputs = frozenset(v.name for v in self.given)
        codes = self._codes_held(labels)
        return LabelledRun(
            trace,
            labels,
            waiting,
            before,
            [MAIN],
            final,
            Observation({name: Cells(name) for name in final.state}, self._meanings(state, codes)),
            inputs,
            tells_values=True,
            bookkeeping=frozenset(before.keys() - fields - inputs),
            in_guards=lambda label: self._in_guards(label, state, moved[label], codes),
        )

    def _waiting(self, state: StepState, pid: Pid) -> Label:
        """The label of a blocked task: what it reads, without an effect."""
        walk = Walk(self.vocabulary, self.functions, state)
        walk.could_go(pid)
        text = text_of(self.numbering, walk.mover.point, walk.mover.me, (), walk.mover.point, " waits")
        touched = Touched(walk.footprint, (), ())
        return Label(pid, text, (TRUE,), BLOCKED, (), touched, can_move=self._can_move(state, pid))

    def _codes_held(self, labels: Sequence[Label]) -> dict[Var, set[int]]:
        """The numbers that variables may hold in permutations of a run, where all of these are known: its initial
        value, and what steps assign to it."""
        held: dict[Var, set[int]] = {}
        first = [Assign(v, value) for v, value in self.initial().values.items()]
        for effect in (*first, *(effect for label in labels for effect in label.effects)):
            if isinstance(effect.target, Var) and isinstance(effect.value, Const):
                held.setdefault(effect.target, set()).add(int(effect.value.value))
        return held

    def _meanings(self, state: StepState, codes: Mapping[Var, set[int]]) -> dict[str, Mapping[int, Observed]]:
        """What the codes of observed variables stand for."""
        whole = [self.vocabulary.standing(pid) for pid in state.tasks]
        whole += [field.var for field in self.fields(state) if field.whole]
        return {v.name: {code: self.vocabulary.show(code) for code in sorted(codes.get(v, ()))} for v in whole}

    def _note(self, moved: dict[Label, _Moved], label: Label, state: StepState) -> None:
        """Note in which state a label was recorded."""
        mover = state.tasks[label.pid]
        found = moved.setdefault(label, _Moved(mover))
        for v in self.program.templates[mover.method].vars:
            named = self.vocabulary.variable(label.pid, v)
            value = state.values.get(named.var) if named.whole else None
            if isinstance(value, Const):
                found.codes.setdefault(named.var, set()).add(int(value.value))

    def _in_guards(
        self, label: Label, state: StepState, moved: _Moved, codes: Mapping[Var, set[int]]
    ) -> Label | None:
        """A label whose guards say what its tests say, and when its task can move at all."""

        def make_walk(kind: type[Walk], at: StepState, forks: tuple[bool, ...]) -> Walk:
            return kind(self.vocabulary, self.functions, at, forks)

        there = replace(state, tasks={**state.tasks, label.pid: moved.mover})
        able = when_can_move(make_walk, there, label.pid, {**codes, **moved.codes})
        if able is None:
            return None
        if label.taken == BLOCKED:
            return replace(label, guards=(able,), can_move=None)
        tests = conj(*(op.test for op in label.line if isinstance(op, Assert)))
        return replace(label, guards=(tests, able), line=label.effects, can_move=None)

    def fields(self, state: StepState) -> Iterator[FormulaVariable]:
        """The fields of all objects."""
        for ref, instance in sorted(state.objects.items()):
            for v in self.program.classes[instance.class_].fields:
                yield self.vocabulary.field(ref, v)


class _Values(dict[Var, Expr]):
    """The values of variables, computed when they are needed."""

    def __init__(self, value_of: Callable[[str], Any]) -> None:
        self.value_of = value_of

    def __missing__(self, variable: Var) -> Expr:
        return const(self.value_of(variable.name))

    def __contains__(self, variable: object) -> bool:
        return True


def _agree(label: Label, event: Event) -> bool:
    """Does a label describe the step of an event?"""
    failed = (label.failure and label.failure.kind) == (event.failure and event.failure.kind)
    return failed and label.touched.fixed == event.footprint and label.spawned == event.spawned


def _places(label: Label) -> frozenset[Location]:
    return label.touched.fixed.reads | label.touched.fixed.writes


def _variables(op: Assign | Assert) -> frozenset[Var]:
    if isinstance(op, Assert):
        return free(op.test)
    return free(op.value) | free(op.target)


def _name(variable: Var) -> str:
    return variable.name
