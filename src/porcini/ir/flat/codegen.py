"""Programs to Python source: one function per decision and per block, over a flat list of slots.

`s` is the state, `b` the slot where the frame of the running process begins. The source holds slot numbers
and literals only, never a name or a string from the input, and runs without builtins.

    decide(s, b)   returns which edge of a choice is enabled: its position, BLOCKED or UNDEFINED
    apply(s, b)    runs an edge's block in place, and returns None or which operation stopped it
    cells(s, b)    returns the array cells, as slots, that a step reads and (after -1) writes

Functions with the same text are compiled once, so that ten thousand equal statements share one function.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from porcini.ir.evaluation import defined
from porcini.ir.expr import TRUE, ArrayType, Const, Expr, Select, Type, Var
from porcini.ir.operations import Assert, Assign, Forget, Op, Spawn, defined_op, reads_of
from porcini.ir.program import Choice, Edge
from porcini.ir.source import source
from porcini.ir.symbolic.labels import BLOCKED, UNDEFINED, Label

STEP = Callable[..., object]
_ERRORS = "except (ZeroDivisionError, IndexError)"


def index(i: int, size: int) -> int:
    """Check an array index: Python would count a negative one from the end."""
    if 0 <= i < size:
        return i
    raise IndexError


@dataclass(frozen=True, slots=True)
class Slots:
    """Where each variable lives: shared ones at fixed slots, private ones relative to the frame."""

    shared: Mapping[str, int]
    private: Mapping[str, int]

    def first(self, variable: Var) -> str:
        """Source for the slot number of a variable, or of the first cell of an array."""
        if variable.private:
            return f"b+{self.private[variable.name]}"
        return str(self.shared[variable.name])


def expression(expr: Expr, slots: Slots) -> str:
    """Source for the value of an expression. Depth is bounded where languages are parsed."""

    def leaf(part: Expr) -> str | None:
        match part:
            case Var():
                return f"s[{slots.first(part)}]"
            case Select(array=Var() as array, index=i):
                return f"s[{_cell(array, i, slots)}]"
            case _:
                return None

    return source(expr, leaf)


def _size(type_: Type) -> int:
    assert isinstance(type_, ArrayType)
    return type_.size


def _cell(array: Var, i: Expr, slots: Slots) -> str:
    size = _size(array.type)
    if isinstance(i, Const) and 0 <= i.value < size:
        return f"{slots.first(array)}+{int(i.value)}"
    return f"{slots.first(array)}+index({expression(i, slots)}, {size})"


class Module:
    """Compiles function texts, each distinct one once, into one namespace."""

    def __init__(self, **helpers: object) -> None:
        self._functions: dict[str, STEP] = {}
        self._scope: dict[str, object] = {
            "__builtins__": {},
            "index": index,
            "ZeroDivisionError": ZeroDivisionError,
            "IndexError": IndexError,
            "tuple": tuple,
            **helpers,
        }

    def add(self, lines: Sequence[str], parameters: str = "s, b") -> STEP:
        text = f"def f({parameters}):\n" + "\n".join("    " + line for line in lines) + "\n"
        if text not in self._functions:
            scope = dict(self._scope)
            exec(compile(text, "<porcini>", "exec"), scope)  # our own text: see the header
            function = scope["f"]
            assert callable(function)
            self._functions[text] = function
        return self._functions[text]

    @property
    def source(self) -> str:
        return "\n".join(self._functions)


def decide(choice: Choice, slots: Slots) -> list[str]:
    """Lines that find the enabled edge of a choice."""
    lines: list[str] = []
    always = choice.waits_for is TRUE
    last = len(choice.edges) - 1
    for position, edge in enumerate(choice.edges):
        if edge.guard is TRUE or (always and position == last):
            lines.append(f"return {position}")
            break
        lines += [f"if {expression(edge.guard, slots)}:", f"    return {position}"]
    else:
        lines.append(f"return {BLOCKED}")
    if all(defined(edge.guard) is TRUE for edge in choice.edges):
        return lines
    return ["try:", *("    " + line for line in lines), f"{_ERRORS}:", f"    return {UNDEFINED}"]


def apply(edge: Edge, slots: Slots, frames: Sequence[Sequence[tuple[Var, str]]]) -> list[str]:
    """Lines that run a block. A failed assertion at operation k returns k, a run-time error ~k."""
    lines: list[str] = []
    for position, op in enumerate(edge.block):
        code = _operation(op, position, slots, frames)
        if defined_op(op) is not TRUE:
            code = ["try:", *("    " + line for line in code), f"{_ERRORS}:", f"    return {~position}"]
        lines += code
    return lines or ["pass"]


def _operation(op: Op, position: int, slots: Slots, frames: Sequence[Sequence[tuple[Var, str]]]) -> list[str]:
    match op:
        case Assign(target=Var(type=ArrayType()) as target, value=value):
            return [f"{_all_cells(target, slots)} = {_all_cells(value, slots)}"]
        case Assign(target=Var() as target, value=value):
            return [f"s[{slots.first(target)}] = {expression(value, slots)}"]
        case Assign(target=Select(array=Var() as array, index=i), value=value):
            return [f"s[{_cell(array, i, slots)}] = {expression(value, slots)}"]
        case Assert(test=test):
            return [f"if not {expression(test, slots)}:", f"    return {position}"]
        case Spawn(template=template, copies=copies):
            values = dict(copies)
            fill = [
                (
                    "*" + _all_cells(values[v], slots)
                    if isinstance(v.type, ArrayType)
                    else expression(values[v], slots)
                )
                if v in values
                else initial
                for v, initial in frames[template]
            ]
            return [f"spawn(s, b, {template}, [{', '.join(fill)}])"]
        case Forget(variables=variables):
            return [f"s[{slots.first(variable)}] = 0" for variable in variables]
    raise AssertionError(f"cannot be compiled: {op!r}")


def fire_label(label: Label, slots: Slots) -> list[str]:
    """Lines that return the store after a label's step, or None where the step would not happen as recorded."""
    guards = [expression(guard, slots) for guard in label.guards]
    if label.taken == BLOCKED:
        return ["return None"]
    if label.taken == UNDEFINED:
        return ["try:", f"    {' or '.join(guards)}", f"{_ERRORS}:", "    return s", "return None"]
    lines = [] if label.guards[label.taken] is TRUE else [f"if not {guards[label.taken]}:", "    return None"]
    lines.append("s = s[:]")
    for op in label.line:
        if isinstance(op, Assert):
            lines += [f"if not {expression(op.test, slots)}:", "    return None"]
        else:
            lines += _operation(op, 0, slots, ())
    if isinstance(label.stopped, Assert) and label.failure and label.failure.kind == "assertion":
        lines += [f"if {expression(label.stopped.test, slots)}:", "    return None"]
    elif label.stopped is not None:
        tried = [f"{expression(expr, slots)}" for expr in _evaluated(label.stopped)]
        lines += ["try:", *(f"    {text}" for text in tried), "    return None", f"{_ERRORS}:", "    return s"]
    return ["try:", *(f"    {line}" for line in lines), f"{_ERRORS}:", "    return None", "return s"]


def can_move(label: Label, slots: Slots) -> list[str]:
    """Lines that list the choices by which the label's process could move, including those by which it fails."""
    if label.choices:
        lines = ["k = []"]
        for guard, choice in zip(label.guards, label.choices, strict=True):
            lines += [f"if {expression(guard, slots)}:", f"    k += [{choice}]"]
        return [*lines, "return k"]
    guards = " or ".join(expression(guard, slots) for guard in label.guards)
    return ["try:", f"    return [0] if {guards or False} else []", f"{_ERRORS}:", "    return [0]"]


def _evaluated(op: Op) -> list[Expr]:
    return [*reads_of(op), *((op.target,) if isinstance(op, Assign) else ())]


def _all_cells(array: Expr, slots: Slots) -> str:
    assert isinstance(array, Var)
    first = slots.first(array)
    return f"s[{first}:{first}+{_size(array.type)}]"


def cells(reads: Sequence[Select], writes: Sequence[Select], slots: Slots) -> list[str]:
    """Lines that list the slots of the cells read and written, each list ended by -1."""
    lines = ["k = []"]
    for group in (reads, writes):
        for node in group:
            assert isinstance(node.array, Var)
            # An index that cannot be evaluated is in a part of the step that is not evaluated either.
            lines += ["try:", f"    k += [{_cell(node.array, node.index, slots)}]", f"{_ERRORS}:", "    pass"]
        lines.append("k += [-1]")
    return [*lines, "return tuple(k)"]
