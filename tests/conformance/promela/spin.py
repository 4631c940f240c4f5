"""The outcomes of a model as SPIN sees them, for checking the judge of Promela.

SPIN's verifier stops at a failed assertion, and says little of states in which nothing can move. So it is given a
copy of the model in which a process that would fail notes that and waits for ever; and in the verifier's source,
where it has found that nothing can move, a line is added that prints the shared variables and channels. The search
itself, over all states and without a reduction, is SPIN's.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path

from conformance.oracle import Outcome, TooMany
from conformance.promela.tree import (
    Assert,
    Assign,
    Atomic,
    Block,
    Cell,
    Do,
    DStep,
    Else,
    Expression,
    Guard,
    If,
    Labelled,
    Model,
    Name,
    Not,
    Num,
    Op,
    Statement,
    Variable,
    nodes,
)

FAILURE = Name("failure")
ASSERTION, ERROR = 1, 2
NOTHING_LEFT = "if ((now._nr_pr == 0 && (!strict || qs_empty()))\n"
NOTHING_MOVES = "if (!noends && !a_cycles && !endstate())\n\t\t{\tdepth--; trpt--;\t/* new 4.2.3 */"


def outcomes(model: Model) -> set[Outcome]:
    """How runs can end, in the form in which the judge says it."""
    watched = _watched(model)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "model.pml").write_text(watched.text())
        _call(folder, "spin", "-a", "-o1", "-o2", "-o3", "model.pml")
        verifier = Path(folder, "pan.c")
        verifier.write_text(_printing(verifier.read_text(), watched))
        compiler = "tcc" if shutil.which("tcc") else "gcc"  # which takes ten times as long
        _call(folder, compiler, "-DNOREDUCE", "-DSAFETY", "-w", "-o", "pan", "pan.c")
        printed = _call(folder, "./pan", "-m100000", "-n")
    if "invalid array index" in printed:  # in a condition: SPIN stops there
        raise TooMany
    if "errors: 0" not in printed or "max search depth too small" in printed:
        raise RuntimeError(printed)
    ends = {line for line in printed.splitlines() if line.startswith("END ")}
    return {_outcome(model, [int(word) for word in line.split()[1:]]) for line in ends}


def _call(folder: str, *command: str) -> str:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60)
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    return done.stdout


# The copy of the model


def _watched(model: Model) -> Model:
    sizes = {v.name: v.size for v in model.variables if v.size is not None}
    copy = _Copy(sizes)
    proctypes = tuple(replace(p, body=copy.block(p.body)) for p in model.proctypes)
    return replace(model, variables=(*model.variables, Variable(FAILURE.name)), proctypes=proctypes)


class _Copy:
    """Copies statements; those that can fail note it instead, and wait."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.sizes = sizes

    def block(self, block: Block, in_d_step: bool = False) -> Block:
        first = [self.statement(each, in_d_step) for each in block[:1]]
        return *first, *(self.statement(each, in_d_step, first=False) for each in block[1:])

    def statement(self, statement: Statement, in_d_step: bool = False, first: bool = True) -> Statement:
        match statement:
            case Assert(condition):
                otherwise = self._failing(ASSERTION)
                checked = If(((Guard(condition),), otherwise))
                return self._checked(statement, checked)
            case Assign():
                return self._checked(statement, statement)
            case Guard(condition) if in_d_step and not first:
                return If(((Guard(condition),), self._failing(ERROR)))
            case If(options):
                copies = tuple(self.block(option, in_d_step) for option in options)
                exclusive = self._exclusive(copies, first) if in_d_step else copies
                return If(exclusive)
            case Do(options):
                return Do(tuple(self.block(option) for option in options))
            case Atomic(body):
                return Atomic(self.block(body))
            case DStep(body):
                can_fail = any(isinstance(node, Assert | Guard | Cell) for node in nodes(body[1:]))
                return Atomic(self.block(body, in_d_step=True)) if can_fail else statement
            case Labelled(label, inner):
                return Labelled(label, self.statement(inner))
        return statement

    def _exclusive(self, options: tuple[Block, ...], first: bool) -> tuple[Block, ...]:
        """In a `d_step` the first option that can be taken is; and it is an error if it has to wait further in."""
        found: list[Block] = []
        before: list[Expression] = []
        for head, *others in options:
            if isinstance(head, Guard):
                condition = reduce(lambda a, b: Op("&&", a, b), map(Not, before), head.condition)
                found.append((Guard(condition), *others))
                before.append(head.condition)
            else:
                assert isinstance(head, Else)
                found.append((head, *others))
        if len(before) == len(found) and not first:
            found.append(self._failing(ERROR))
        return tuple(found)

    def _failing(self, how: int) -> Block:
        return Else(), Assign(FAILURE, Op("|", FAILURE, Num(how))), Guard(Num(0))

    def _checked(self, statement: Assert | Assign, checked: Statement) -> Statement:
        """An error, too, if a number is divided by zero or an index is outside of its array."""
        safe = list(self._safe(statement))
        if safe:
            checked = If(((Guard(reduce(lambda a, b: Op("&&", a, b), safe)), checked), self._failing(ERROR)))
        return Atomic((checked,)) if isinstance(checked, If) else checked

    def _safe(self, statement: Statement) -> Iterator[Expression]:
        for node in nodes(statement):
            match node:
                case Cell(array, index) if not isinstance(index, Num):
                    yield Op("<", index, Num(self.sizes[array]))
                case Op("/" | "%", _, divisor) if not isinstance(divisor, Num):
                    yield Op("!=", divisor, Num(0))


# The verifier


def _printing(source: str, model: Model) -> str:
    """SPIN's verifier, with a line printed wherever nothing can move."""
    assert source.count(NOTHING_LEFT) == 1 and source.count(NOTHING_MOVES) == 1
    source = source.replace(NOTHING_LEFT, "if (now._nr_pr == 0) print_end(1);\n" + NOTHING_LEFT)
    source = source.replace(NOTHING_MOVES, "print_end(endstate());\n" + NOTHING_MOVES.replace("(!noends", "(0"))
    printer = "\n".join(_printer(model))
    declared = "static void print_end(int valid);\n"
    return source.replace("#include <stdio.h>\n", "#include <stdio.h>\n" + declared, 1) + printer


def _printer(model: Model) -> Iterator[str]:
    """A function in C: is it a valid end, then every variable, then each channel with its length before it."""
    yield "static void print_end(int valid) {"
    yield "  int i, f;"
    yield '  printf("END %d", valid);'
    for variable in model.variables:
        cells = [""] if variable.size is None else [f"[{i}]" for i in range(variable.size)]
        for cell in cells:
            yield f'  printf(" %d", (int) now.{variable.name}{cell});'
    for channel in model.channels:
        cells = [""] if channel.size is None else [f"[{i}]" for i in range(channel.size)]
        for cell in cells if channel.capacity else []:
            queue = f"now.{channel.name}{cell}"
            yield f'  printf(" %d", q_len({queue}));'
            yield f"  for (i = 0; i < q_len({queue}); i++) for (f = 0; f < {len(channel.types)}; f++)"
            yield f'    printf(" %d", (int) qrecv({queue}, i, f, 0));'
    yield '  printf("\\n");'
    yield "}"
    yield ""


def _outcome(model: Model, numbers: list[int]) -> Outcome:
    """What was printed, as an outcome of the judge."""
    left = iter(numbers)
    valid = next(left)
    constants = dict(enumerate(reversed(model.constants), 1))
    found: dict[str, object] = {}
    for variable in model.variables:
        values = tuple(next(left) for _ in range(variable.size or 1))
        found[variable.name] = values[0] if variable.size is None else values
    failure = next(left)
    for channel in model.channels:
        for index in range(channel.size or 1) if channel.capacity else ():
            messages = [tuple(next(left) for _ in channel.types) for _ in range(next(left))]
            shown = [_shown(message, channel.types, constants) for message in messages]
            found[channel.name if channel.size is None else f"{channel.name}[{index}]"] = tuple(shown)
    kinds = {0: "terminated" if valid else "deadlock", ASSERTION: "assertion"}
    return kinds.get(failure, "error"), tuple(sorted(found.items()))


def _shown(message: tuple[int, ...], types: tuple[str, ...], constants: dict[int, str]) -> object:
    fields = tuple(constants.get(v, v) if t == "mtype" else v for v, t in zip(message, types, strict=True))
    return fields[0] if len(fields) == 1 else fields
