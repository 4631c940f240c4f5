"""The formulas of a recording as labels: then permuting it is exact, without the program.

Formulas are checked against what was recorded: in the recorded order each guard must hold, and values must be
those that the formulas give. A location that a step is said to touch and that is not in its formulas counts as
touched, too: leaving it out could lose a conflict. Private variables are locations like all others here; their
process, and the step that spawned it, are ordered anyway, so that adds no conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

from porcini.core.errors import InputError, Place
from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.core.formulas import Formula
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.core.systems import Final
from porcini.core.traces import Trace
from porcini.engines.fagiani import CompiledTrace, Store, compile_run
from porcini.ir.analysis.footprint import Touched, locations, of_edge, of_guards
from porcini.ir.expr import ArrayType, Expr, Type, Var, var
from porcini.ir.operations import Assert, Assign
from porcini.ir.program import Choice, Edge
from porcini.ir.symbolic.formulas import LabelledRun
from porcini.ir.symbolic.labels import BLOCKED, UNDEFINED, Label
from porcini.langs.gcl import syntax as ast
from porcini.langs.gcl.names import Frame, Names, lvalue, typed
from porcini.langs.gcl.parser import parse_expression, parse_simple

T = TypeVar("T")
_Operation = Assign | Assert


def label_recording(recording: Recording, file: str) -> LabelledRun:
    """The labels of a recording in which every step has a formula. Contradictions raise `InputError`."""
    reader = _Reader(recording, file)
    run = reader.run({})
    extra = _Check(recording, file, compile_run(run)).extra()
    return reader.run(extra) if extra else run


class _Reader:
    def __init__(self, recording: Recording, file: str) -> None:
        self.recording, self.file = recording, file
        types = {name: _type_of(value) for name, value in recording.initial.items()}
        own = {name: var(name, type_) for name, type_ in types.items() if type_ is not None}
        self.store: dict[str, Any] = {name: recording.initial[name] for name in own}
        self._names = Names(Frame(-1), own=own)
        self._check_names()
        self._guards: dict[str, Expr] = {}
        self._operations: dict[str, _Operation] = {}
        self._labels: dict[object, Label] = {}

    def _check_names(self) -> None:
        """Each variable, and each cell of an array, must be a location of its own."""
        seen: set[Location] = set()
        for each in self._names.own.values():
            if each.private or each.own:
                self._refuse(f"a variable cannot be called `{each.name}`", 1)
            for place in locations(each):
                if place in seen:
                    self._refuse(f"`{place}` is a variable and a cell of an array", 1)
                seen.add(place)

    def run(self, extra: dict[int, Footprint]) -> LabelledRun:
        """The labelled run; `extra` is what the steps of some lines touch in addition to their formulas."""
        recording, store = self.recording, dict(self.store)
        known = {place for each in self._names.own.values() for place in locations(each)}
        for foot in extra.values():
            store |= {str(place): 0 for place in (foot.reads | foot.writes) - known}
        events, labels = [], []
        for step in recording.steps:
            label = self._label(step, extra.get(step.line, EMPTY))
            foot = step.event.footprint | label.touched.fixed
            events.append(replace(step.event, label=label, footprint=foot))
            labels.append(label)
        waiting = tuple(wait.waiting for wait in recording.waiting)
        observed = sorted(self.store) if recording.observed is None else recording.observed
        for name in observed:
            if name not in self.store:
                self._refuse(f"`{name}` is observed, and must be a number, a boolean or a list of them", 1)
        final = Final(recording.kind, {name: self.store[name] for name in observed}, waiting)
        blocked = [self._waiting_label(wait) for wait in recording.waiting]
        return LabelledRun(
            Trace(events),
            labels,
            blocked,
            store,
            recording.processes,
            final,
            lambda value: {name: value(name) for name in observed},
        )

    def _refuse(self, message: str, line: int) -> NoReturn:
        raise InputError(message, file=self.file, place=Place(line, 1))

    def _label(self, step: RecordedStep, extra: Footprint) -> Label:
        event, formula = step.event, step.formula
        assert formula is not None, "a step of an exact recording has a formula"
        key = event.pid, str(event.label), formula, event.spawned, event.failure, extra
        if key not in self._labels:  # equal steps are one label
            guards = tuple(self._guard(text, step.line) for text in formula.guards)
            done = tuple(self._operation(text, step.line) for text in formula.do)
            failure, stopped = event.failure, done[-1] if event.failure and done else None
            if failure and failure.kind == "assertion" and not isinstance(stopped, Assert):
                self._refuse("who fails by an assertion has an `assert` as the last of `do`", step.line)
            undefined = failure is not None and stopped is None
            touched = of_guards(_choice(guards)) if undefined else _touched(Edge(guards[0], done, 0))
            self._labels[key] = Label(
                event.pid,
                str(event.label),
                guards,
                UNDEFINED if undefined else 0,
                done[:-1] if stopped else done,
                touched | Touched(extra, (), ()),
                event.spawned,
                stopped,
                failure,
            )
        return self._labels[key]

    def _waiting_label(self, wait: RecordedWait) -> Label:
        assert wait.formula is not None, "a wait of an exact recording has a formula"
        guards = [self._guard(text, wait.line) for text in wait.formula.guards]
        return Label(wait.waiting.pid, wait.label, tuple(guards), BLOCKED, (), of_guards(_choice(guards)))

    # Text

    def _guard(self, text: str, line: int) -> Expr:
        if text not in self._guards:
            at = Place(line, 1)
            self._guards[text] = self._locate_errors(
                text, line, lambda: typed(parse_expression(text, at, quoted=True), "bool", self._names)
            )
        return self._guards[text]

    def _operation(self, text: str, line: int) -> _Operation:
        if text not in self._operations:
            self._operations[text] = self._locate_errors(
                text, line, lambda: self._parse_operation(text, Place(line, 1))
            )
        return self._operations[text]

    def _parse_operation(self, text: str, at: Place) -> _Operation:
        match parse_simple(text, at, quoted=True):
            case ast.Assertion(test=test):
                return Assert(typed(test, "bool", self._names))
            case ast.Assignment(target=ast.Name(index=None) as target, value=ast.Name(index=None) as value):
                one = self._names.resolve(target.name, target.place)
                two = self._names.resolve(value.name, value.place)
                if one.type != two.type:
                    raise InputError(f"`{one.name}` and `{two.name}` are not of one type")
                return Assign(one, two)
            case ast.Assignment(target=target, value=value):
                place = lvalue(target, self._names)
                return Assign(place, typed(value, place.type, self._names))
        raise InputError("an operation is an assignment or an assertion")

    def _locate_errors(self, text: str, line: int, read: Callable[[], T]) -> T:
        """Let errors in an expression refer to its line."""
        if not text.strip():
            self._refuse("a guard, or something to do, is empty", line)
        try:
            return read()
        except InputError as problem:
            shown = text if len(text) <= 60 else text[:57] + "..."
            what = f"{problem.message} in `{shown}`"
            raise InputError(what, file=self.file, place=Place(line, 1), hint=problem.hint) from None


def _type_of(value: object) -> Type | None:
    """The type of a variable is that of its first value."""
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int"
    if isinstance(value, tuple) and value:
        kinds = {_type_of(each) for each in value}
        (kind, *others) = kinds
        if not others and kind in ("int", "bool"):
            return ArrayType(kind, len(value))
    return None


def _choice(guards: Sequence[Expr]) -> Choice:
    return Choice(0, tuple(Edge(guard, (), 0) for guard in guards))


def _touched(edge: Edge) -> Touched:
    """What an edge touches; copying an array reads all of its cells."""
    copied = [op.value for op in edge.block if isinstance(op, Assign) and isinstance(op.value.type, ArrayType)]
    cells = {place for value in copied if isinstance(value, Var) for place in locations(value)}
    return of_edge(edge) | Touched(Footprint(frozenset(cells)), (), ())


class _Check:
    """Follows the recorded order through the formulas."""

    def __init__(self, recording: Recording, file: str, compiled: CompiledTrace) -> None:
        self.recording, self.file, self.compiled = recording, file, compiled
        self._slots = {place: bit.bit_length() - 1 for place, bit in compiled.bits.items()}

    def extra(self) -> dict[int, Footprint]:
        """What steps touch in addition to their formulas, by their lines."""
        compiled, store = self.compiled, self.compiled.store
        at = dict.fromkeys(compiled.pids, 0)
        extra: dict[int, Footprint] = {}
        for recorded in self.recording.steps:
            pid = recorded.event.pid
            step = compiled.steps[compiled.pids.index(pid)][at[pid]]
            at[pid] += 1
            self._compare("reads", recorded.reads, store, recorded.line)
            after = step.fire(store)
            if after is None:
                self._cannot_happen(recorded, store)
            besides = self._besides(recorded, compiled.footprint(step.touched(store)))
            if besides != EMPTY:
                extra[recorded.line] = besides
            store = after
            self._compare("writes", recorded.writes, store, recorded.line)
        for wait in self.recording.waiting:
            blocked = compiled.waiting[compiled.pids.index(wait.waiting.pid)]
            if blocked is not None and blocked.able(store):
                self._refuse(f"process {wait.waiting.pid} need not wait: it can move at the end", wait.line)
        return extra

    def _refuse(self, message: str, line: int, hint: str | None = None) -> NoReturn:
        raise InputError(message, file=self.file, place=Place(line, 1), hint=hint)

    def _cannot_happen(self, recorded: RecordedStep, store: Store) -> NoReturn:
        formula = recorded.formula
        assert formula is not None
        seen = [
            f"{name} = {self.compiled.value(store, name)}"
            for name in sorted(self.compiled.slots)
            if _occurs(name, formula)
        ]
        shown = ", ".join(seen)
        hint = f"where {shown}" if seen and len(shown) < 200 else None
        self._refuse(f"this step cannot happen here: its guard is `{formula.guard[:60]}`", recorded.line, hint)

    def _compare(self, what: str, values: Any, store: Store, line: int) -> None:
        for place, value in values.items():
            slot = self._slots.get(place)
            if slot is not None and value is not None and _differs(value, store[slot]):
                self._refuse(f"`{what}` says that {place} is {value!r:.40}, but by the formulas it is not", line)

    def _besides(self, recorded: RecordedStep, foot: Footprint) -> Footprint:
        reads, writes = (self._cells(names) for names in (recorded.reads, recorded.writes))
        return Footprint(reads - foot.reads - foot.writes, writes - foot.writes)

    def _cells(self, names: Any) -> frozenset[Location]:
        """Locations; an array is replaced by all of its cells."""
        found: set[Location] = set()
        for name in names:
            _, size = self.compiled.slots.get(name, (0, None))
            found |= {name} if size is None else {Location(f"{name}[{i}]") for i in range(size)}
        return frozenset(found)


def _differs(a: object, b: object) -> bool:
    return isinstance(a, bool) != isinstance(b, bool) or a != b


def _occurs(name: str, formula: Formula) -> bool:
    return any(name in text for text in (*formula.guards, *formula.do))
