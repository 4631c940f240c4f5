"""A command and its answer: within its time, and where somebody else's interpreter is needed, in a sealed child.

Commands about rewrite theories are done by a fork of this process that can do nothing but think (`core.children`).
What comes back is a report, or the error of an ordinary command; a child that dies, or has to be ended, leaves one
line behind, and this process lives to say it.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

from porcini.cli.commands import Text, nothing_known
from porcini.cli.progress import Deadline
from porcini.core.children import LONGEST_CALL, ChildDied, run_sealed
from porcini.core.errors import InputError, LimitHit, Place
from porcini.core.languages import LANGUAGES
from porcini.core.reports import Report
from porcini.engines.options import USUAL
from porcini.models import names_function

Answer = Report | Text | None


def answered(options: argparse.Namespace) -> Answer:
    interpreter = _interpreter(options.file)
    try:
        return _answer(options) if interpreter is None else _sealed_answer(options, interpreter)
    except LimitHit as hit:  # while nothing was being counted: a model that takes too long to read
        if options.command.__name__ in USUAL:
            return nothing_known(options, str(hit))
        raise InputError(f"stopped by {hit}", file=options.file) from None


def _interpreter(file: str) -> str | None:
    ending = Path(file).suffix.removeprefix(".")
    return LANGUAGES[ending].capabilities.interpreter if file and ending in LANGUAGES else None


def _answer(options: argparse.Namespace) -> Answer:
    watched = not names_function(
        options.file
    )  # its steps have a watch of their own: asyncio would take ours for theirs
    options.deadline = Deadline(vars(options).get("timeout") if watched else None)
    with options.deadline, _nothing_but_json(options):
        answer: Answer = options.command(options)
    return answer


@contextmanager
def _nothing_but_json(options: argparse.Namespace) -> Iterator[None]:
    """Real code may print while it runs: with --json that must not come in between."""
    if options.json and names_function(options.file):
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield


def _sealed_answer(options: argparse.Namespace, interpreter: str) -> Answer:
    """By a child, which writes what it is to write into its own folder."""
    readable = [Path(each).resolve().parent for each in (options.file, options.por) if each]
    timeout, trace = vars(options).get("timeout"), vars(options).get("trace")
    longest = min(timeout or LONGEST_CALL, LONGEST_CALL)

    def work(own: Path) -> tuple[Answer, bytes | None, bool, str]:
        written = own / "trace"
        if trace:
            options.trace = str(written)
        with _printing() as said:
            answer = _answer(options)
        recorded = written.read_bytes() if trace and written.exists() else None
        return answer, recorded, options.printed, said.getvalue()

    try:
        answer, recorded, options.printed, said = run_sealed(work, readable, longest)
    except ChildDied as death:
        raise _explained(death, interpreter, timeout) from None
    sys.stdout.write(said)
    if trace and recorded is not None:
        try:
            Path(trace).write_bytes(recorded)
        except OSError as problem:
            raise InputError(f"cannot be written: {problem.strerror}", file=trace) from None
    return answer


@contextmanager
def _printing() -> Iterator[StringIO]:
    """What is printed to a stream that is an object of this process, and of the parent's, has to be sent back."""
    said = StringIO()
    try:
        sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):
        with redirect_stdout(said):
            yield said
    else:
        yield said


def _explained(death: ChildDied, interpreter: str, timeout: float | None) -> Exception:
    """Why there is no answer: it took too long, or it was too large; or it died while it was reading something."""
    if death.signal == signal.SIGPROF and timeout is not None and timeout <= LONGEST_CALL:
        return LimitHit(f"the time limit of {timeout:g} s")
    if death.signal == signal.SIGPROF:
        return LimitHit(f"{LONGEST_CALL:g} s for one step of {interpreter}'s: do the equations of the model end?")
    if death.announced:
        file, _, line = death.announced.rpartition(":")
        message = f"{interpreter} cannot read it, and does not say why"
        return InputError(message, file=file, place=Place(int(line), 1))
    return LimitHit(f"{interpreter}'s memory or stack: it was ended by the system")
