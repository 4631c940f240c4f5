"""A command and its answer: within its time, and where somebody else's interpreter is needed, in a sealed child.

Commands about rewrite theories are done by a fork of this process that can do nothing but think (`core.children`).
What comes back is a report, or the error of an ordinary command; a child that dies, or has to be ended, leaves one
line behind, and this process lives to say it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from pathlib import Path

from porcini.cli.commands import Text, nothing_known
from porcini.cli.progress import Deadline
from porcini.core.errors import InputError, LimitHit
from porcini.core.reports import Report
from porcini.engines.options import USUAL
from porcini.models import names_function

Answer = Report | Text | None


def answered(options: argparse.Namespace) -> Answer:
    from porcini.commands.sealing import interpreter_of  # `--help` need not wait for all of it

    interpreter = interpreter_of(options.file)
    try:
        return _answer(options) if interpreter is None else _sealed_answer(options, interpreter)
    except LimitHit as hit:  # while nothing was being counted: a model that takes too long to read
        if options.command.__name__ in USUAL:
            return nothing_known(options, str(hit))
        raise InputError(f"stopped by {hit}", file=options.file) from None


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
    from porcini.commands.sealing import answer_sealed, keep_trace

    files = [each for each in (options.file, options.por) if each]
    timeout, trace = vars(options).get("timeout"), vars(options).get("trace")

    def work(own: Path) -> tuple[Answer, bytes | None, bool, str]:
        written = own / "trace"
        if trace:
            options.trace = str(written)
        with _printing() as said:
            answer = _answer(options)
        recorded = written.read_bytes() if trace and written.exists() else None
        return answer, recorded, options.printed, said.getvalue()

    answer, recorded, options.printed, said = answer_sealed(work, files, interpreter, timeout)
    sys.stdout.write(said)
    if trace and recorded is not None:
        keep_trace(trace, recorded)
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
