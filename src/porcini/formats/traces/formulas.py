"""The formulas of a recording as labels: then permuting it is exact, without the program.

Formulas are checked against what was recorded (`checking`). A label touches the variables in its formula, except
for those that are book-keeping, and what its step is said to touch. Private variables are locations like all
others here; their process, and the step that spawned it, are ordered anyway, so that adds no conflict.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import prod
from typing import Any, NoReturn, TypeVar

from porcini.core.errors import InputError, Place
from porcini.core.footprints import EMPTY, Footprint, Location
from porcini.core.formulas import Formula
from porcini.core.observations import Cells, Observation
from porcini.core.pids import Pid
from porcini.core.recordings import RecordedStep, RecordedWait, Recording
from porcini.core.systems import Final
from porcini.core.traces import Trace
from porcini.engines.fagiani import compile_run
from porcini.formats.traces.checking import Check
from porcini.ir.analysis.footprint import Touched, locations, of_edge, of_guards, static
from porcini.ir.expr import ArrayType, Expr, Select, Type, Var, var
from porcini.ir.operations import Assert, Assign, variable_of
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
    extra = Check(recording, file, compile_run(run), run.observed).extra()
    return reader.run(extra) if extra else run


class _Reader:
    def __init__(self, recording: Recording, file: str) -> None:
        self.recording, self.file = recording, file
        types = {name: _type_of(value) for name, value in recording.initial.items()}
        types |= {name: "bool" if type_ == "bool" else "int" for name, type_ in recording.unset.items()}
        own = {name: var(name, type_) for name, type_ in types.items() if type_ is not None}
        self.store: dict[str, Any] = {name: recording.initial[name] for name in own if name in recording.initial}
        # A run assigns to these before it reads them, so any value will do. No code of data is negative.
        self.store |= {name: False if type_ == "bool" else -1 for name, type_ in recording.unset.items()}
        self.observed = recording.observed or Observation.of(sorted(own.keys() - recording.unset.keys()))
        self._names = Names(Frame(-1), own=own)
        self._check_names()
        self._check_observed()
        self._guards: dict[str, Expr] = {}
        self._operations: dict[str, _Operation] = {}
        self._labels: dict[object, Label] = {}

    def _check_names(self) -> None:
        """Each variable, and each cell of an array, must be a location of its own."""
        seen: set[Location] = set()
        for each in self._names.own.values():
            if each.private:
                self._refuse(f"a variable cannot be called `{each.name}`", 1)
            for place in locations(each):
                if place in seen:
                    self._refuse(f"`{place}` is a variable and a cell of an array", 1)
                seen.add(place)

    def _check_observed(self) -> None:
        """What is observed must be made of variables of the right shape."""

        def size(name: str) -> int | None:
            if name not in self._names.own:
                self._refuse(f"`{name}` is observed, and must be a number, a boolean or a list of them", 1)
            type_ = self._names.own[name].type
            return type_.size if isinstance(type_, ArrayType) else None

        for name, part in self.observed.parts.items():
            if isinstance(part, Cells):
                cells = size(part.name)
                fits = not part.sizes or prod(part.sizes) == cells
            else:
                sizes = {size(field) for field in part.fields}
                fits = size(part.length) is None and None not in sizes and len(sizes) == 1
                fits = fits and self._names.own[part.length].type == "int"
            if not fits:
                self._refuse(f"`{name}` is observed, but the sizes or types of its variables do not fit", 1)

    def run(self, extra: dict[int, Footprint]) -> LabelledRun:
        """The labelled run; `extra` is what the steps of some lines touch in addition to their formulas."""
        recording = self.recording
        events, labels = [], []
        for step in recording.steps:
            label = self._label(step, extra.get(step.line, EMPTY))
            foot = step.event.footprint | label.touched.fixed
            events.append(replace(step.event, label=label, footprint=foot))
            labels.append(label)
        waiting = tuple(wait.waiting for wait in recording.waiting)
        final = Final(recording.kind, self.observed(self.store.__getitem__), waiting)
        blocked = [self._waiting_label(wait) for wait in (*recording.waiting, *recording.idle)]
        return LabelledRun(
            Trace(events),
            labels,
            blocked,
            self.store,
            recording.processes,
            final,
            self.observed,
            recording.symbols,
            bookkeeping=recording.bookkeeping,
            seen_by=self._seen_by(),
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
            failure, stops = event.failure, event.failure is not None and not formula.fails_after
            stopped = done[-1] if stops and done else None
            if stops and failure and failure.kind == "assertion" and not isinstance(stopped, Assert):
                self._refuse("who fails by an assertion has an `assert` as the last of `do`", step.line)
            undefined = stops and stopped is None
            touched = of_guards(_choice(guards)) if undefined else _touched(Edge(guards[0], done, 0))
            self._labels[key] = Label(
                event.pid,
                str(event.label),
                guards,
                UNDEFINED if undefined else 0,
                done[:-1] if stopped else done,
                self._counted(touched) | Touched(extra, (), ()),
                event.spawned,
                stopped,
                failure,
                formula.choices,
                self._family(formula, guards),
            )
        return self._labels[key]

    def _waiting_label(self, wait: RecordedWait) -> Label:
        formula = wait.formula
        assert formula is not None, "a wait of an exact recording has a formula"
        guards = tuple(self._guard(text, wait.line) for text in formula.guards)
        touched, family = self._counted(of_guards(_choice(guards))), self._family(formula, guards)
        touched |= Touched(Footprint(wait.reads), (), ())
        pid, choices = wait.waiting.pid, formula.choices
        return Label(pid, wait.label, guards, BLOCKED, (), touched, choices=choices, family=family)

    def _seen_by(self) -> dict[Pid, Mapping[str, str]]:
        for wait in self.recording.waiting:
            for name in (wait.sees or {}).values():
                if name not in self.store:
                    self._refuse(f"`sees` names `{name}`, which has no initial value", wait.line)
        return {wait.waiting.pid: wait.sees for wait in self.recording.waiting if wait.sees is not None}

    def _counted(self, touched: Touched) -> Touched:
        """Without what is book-keeping."""
        if not self.recording.bookkeeping:
            return touched
        foot = touched.fixed
        fixed = Footprint(foot.reads - self._uncounted, foot.writes - self._uncounted)
        return Touched(fixed, self._counted_cells(touched.read_cells), self._counted_cells(touched.written_cells))

    def _counted_cells(self, cells: tuple[Select, ...]) -> tuple[Select, ...]:
        return tuple(cell for cell in cells if variable_of(cell).name not in self.recording.bookkeeping)

    @cached_property
    def _uncounted(self) -> frozenset[Location]:
        names = self.recording.bookkeeping & self._names.own.keys()
        return frozenset(place for name in names for place in locations(self._names.own[name]))

    def _family(self, formula: Formula, guards: Sequence[Expr]) -> Footprint | None:
        """What the process might touch there: what its guards read, unless it is said."""
        if formula.family is not None or not self.recording.bookkeeping:
            return formula.family
        return static(self._counted(of_guards(_choice(guards))))

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
