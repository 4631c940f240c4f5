"""Asking SPIN: what a trail does (`simulate`), and how it numbers the transitions of a model (`numbering`).

SPIN is given the words that are left when we have expanded includes and macros, at the lines that we know them by.
So it reads the same program as we do, and its numbers for transitions are those of the file as it was written. It
neither compiles nor runs anything of a model for us: `spin -a` only writes C, and that holds the numbers.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from porcini.core.errors import InputError
from porcini.langs.promela.words import Word

_MODEL, _TRAIL = "model.pml", "model.pml.trail"
_PREPROCESSOR = "-Pcat"  # there is nothing left to expand
_SECONDS = 60.0


def plain_text(words: Iterable[Word]) -> str:
    """Words as a text that SPIN reads: each line says by which number we know it."""
    lines: list[str] = []
    line = 0
    for word in words:
        if word.fresh or not lines:
            if word.place.line != line + 1:
                lines.append(f'# {word.place.line} "{_MODEL}"')
            line = word.place.line
            lines.append(word.text)
        else:
            lines[-1] += f" {word.text}"
    return "\n".join(lines) + "\n"


# Following a trail


@dataclass(frozen=True, slots=True)
class SimulatedStep:
    """One line of a simulation: who did what. Lines of one `depth` and process are one transition of SPIN's."""

    depth: int
    process: int
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Simulated:
    """A trail as SPIN follows it. From step `cycle` on it goes round, if that is not None."""

    steps: tuple[SimulatedStep, ...]
    cycle: int | None
    globals: Mapping[str, str]
    """What variables that all processes share hold at the end."""


_STEP = re.compile(r" *(\d+):\s+proc +(\d+) \([^)]*\) [^\s]*:(\d+) \(state -?\d+\)(?: <[^>]*>)?\s+\[(.*)\]")
_END = re.compile(r" *(\d+):\s*proc +(\d+) terminates")
_GLOBAL = re.compile(r"\t\t([A-Za-z_][\w.\[\]]*) = (\S+)")
_LOST = re.compile(r".*(no matching stmnt|invalid statement|\(\?\)|not found).*")
_CREATED = re.compile(r"^\d+ process(es)? created", re.MULTILINE)
_TRAIL_LINE = re.compile(r"-?\d+:-?\d+:-?\d+")


def simulate(text: str, trail: str) -> Simulated:
    """What SPIN does when it follows a trail."""
    steps = [line for line in trail.splitlines() if line.strip()]
    if not steps:
        raise InputError("the trail is empty")
    for number, line in enumerate(steps, 1):
        if not _TRAIL_LINE.fullmatch(line.strip()):
            raise InputError(f"line {number} is not of a trail: {line[:40]!r}", hint="pan writes DEPTH:PROCESS:ID")
    with TemporaryDirectory() as folder:
        (Path(folder) / _TRAIL).write_text(trail, encoding="utf-8")
        said = _spin(folder, text, "-t", "-p", "-b", "-g")  # without what printf prints
    if not _CREATED.search(said):  # its last line, whatever happens
        raise _refused(said)
    return _read_simulation(said)


def _read_simulation(said: str) -> Simulated:
    steps: list[SimulatedStep] = []
    cycle: int | None = None
    before, _, after = said.partition("\n#processes:")
    for line in before.splitlines():
        if found := _STEP.match(line):
            steps.append(SimulatedStep(int(found[1]), int(found[2]), found[4], int(found[3])))
        elif found := _END.match(line):
            steps.append(SimulatedStep(int(found[1]), int(found[2]), "-end-"))
        elif "START OF CYCLE" in line:
            cycle = len(steps)
        elif _LOST.fullmatch(line):
            raise InputError(
                f"the trail does not fit the model: SPIN lost it after {len(steps)} steps",
                hint="was it written for another version of the model, or with other macros (-D)?",
            )
    return Simulated(tuple(steps), cycle, {found[1]: found[2] for found in _GLOBAL.finditer(after)})


# How transitions are numbered


_SILENT = frozenset({"IF", "DO", "ATOMIC", "UNLESS", "sub-sequence"})


def is_jump(text: str) -> bool:
    """Is it a statement that does nothing but lead elsewhere?"""
    return text in ("break", ".(goto)") or text.startswith("goto ")


@dataclass(frozen=True, slots=True)
class SpinTransition:
    """One of SPIN's transitions. `is_silent` ones only lead on to others, as do those of `if` and of `goto`."""

    id: int
    target: int
    text: str
    line: int | None

    @property
    def is_silent(self) -> bool:
        return self.text in _SILENT or is_jump(self.text)


@dataclass(slots=True)
class SpinProctype:
    """A proctype as SPIN's verifier has it: transitions by the state that they lead from."""

    start: int
    transitions: dict[int, list[SpinTransition]] = field(default_factory=dict)

    def visible(self, state: int) -> Iterator[SpinTransition]:
        """The transitions from a state on, through silent ones, which count too: a `goto` may be a step."""
        seen, todo = {state}, [state]
        while todo:
            for transition in self.transitions.get(todo.pop(), ()):
                yield transition
                if transition.is_silent and transition.target not in seen:
                    seen.add(transition.target)
                    todo.append(transition.target)


_PROCTYPE = re.compile(r"\t/\* proctype (\d+): (\S+) \*/")
_TRANSITION = re.compile(
    r'.*?(?:trans\[ *(\d+)\]\[(\d+)\]\s*=|T->nxt\s*=) settr\((\d+),\d+,(\d+),\d+,\d+,"((?:[^"\\]|\\.)*)"'
)
_START = re.compile(r"#define _start(\d+)\s+(\d+)")
_LINES = re.compile(r"short src_ln(\d+) \[\] = \{([^}]*)\}")


def numbering(text: str) -> dict[str, SpinProctype]:
    """The proctypes of a model by name, with the numbers that SPIN gives to their transitions."""
    with TemporaryDirectory() as folder:
        _spin(folder, text, "-a", "-o3")  # each statement is a transition of its own
        table, header, code = (Path(folder, f"pan.{end}").read_text("utf-8", "replace") for end in "thc")
    starts = {int(found[1]): int(found[2]) for found in _START.finditer(header)}
    lines = {int(found[1]): [int(n) for n in re.findall(r"\d+", found[2])] for found in _LINES.finditer(code)}
    return _read_table(table.splitlines(), starts, lines)


def _read_table(
    table: Sequence[str], starts: Mapping[int, int], lines: Mapping[int, Sequence[int]]
) -> dict[str, SpinProctype]:
    found: dict[str, SpinProctype] = {}
    current, number, state = SpinProctype(0), -1, -1
    for row in table:
        if heading := _PROCTYPE.match(row):
            number = int(heading[1])
            current = found[heading[2].strip(":")] = SpinProctype(starts[number])
        elif transition := _TRANSITION.match(row):
            state = int(transition[2]) if transition[2] else state
            known = lines.get(number, ())
            line = known[state] if state < len(known) else 0
            made = SpinTransition(int(transition[3]), int(transition[4]), transition[5], line or None)
            current.transitions.setdefault(state, []).append(made)
    return found


# Running SPIN


def _spin(folder: str, text: str, *options: str) -> str:
    """Run SPIN on a model in a folder of its own, and return what it prints."""
    Path(folder, _MODEL).write_text(text, encoding="utf-8")
    try:
        done = subprocess.run(
            ["spin", _PREPROCESSOR, *options, _MODEL],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=_SECONDS,
            check=False,
        )
    except FileNotFoundError:
        raise InputError(
            "trails are read and written with the help of SPIN, which is not installed",
            hint="`spin` must be found on the PATH; Debian: apt-get install spin",
        ) from None
    except subprocess.TimeoutExpired:
        raise InputError(f"SPIN did not come to its end within {_SECONDS:g} s") from None
    said = done.stdout.decode("utf-8", "replace")
    if done.returncode != 0 and "-a" in options:
        raise _refused(said)
    return said


def _refused(said: str) -> InputError:
    lines = (line.strip() for line in said.splitlines())
    why = next((line for line in lines if "rror" in line), "it does not say why")
    return InputError(f"SPIN does not read this model: {why}")
