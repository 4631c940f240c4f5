"""The command line: arguments in, text or JSON out.

    arguments    what can be written
    commands     what is done then
    interactive  the same, step by step, with a person
    progress     how far a search is, and what ends one that does not look at the clock
    problems     what is said where there is no answer

Exit status: 0 holds, 1 violated, 2 bad input or usage, 3 unknown because a limit was hit, 4 a bug in Porcini or
output that cannot be written, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from io import TextIOWrapper
from pathlib import Path

from porcini.cli.arguments import parsed
from porcini.cli.commands import nothing_known, repeated_options
from porcini.cli.problems import INTERRUPTED, UNKNOWN, tell, writing
from porcini.cli.progress import Deadline
from porcini.core.errors import LimitHit
from porcini.core.reports import FORMATS, Report, View
from porcini.models import names_function

_DEEPEST_CALLS = 10_000
_STATUS = {"holds": 0, "violated": 1, "unknown": UNKNOWN}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    sys.set_int_max_str_digits(0)  # integers are unbounded, and so is what we print of them
    sys.setrecursionlimit(max(sys.getrecursionlimit(), _DEEPEST_CALLS))  # functions of models may recurse
    words = sys.argv[1:] if arguments is None else list(arguments)
    _prepare_output()
    try:
        with writing():  # --help and --version do
            options = parsed(words)
        report = _answered(options)
        if report is not None and not options.printed:
            with writing():
                _show(report, options)
    except (Exception, KeyboardInterrupt) as problem:
        return tell(problem, as_json="--json" in words, debug="--debug" in words)
    if report is None:
        return 0
    return INTERRUPTED if report.interrupted else _STATUS[report.verdict]


def _prepare_output() -> None:
    """Whatever a program returns or raises can be shown, and there is always somewhere to complain to."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115


def _answered(options: argparse.Namespace) -> Report | None:
    watched = not names_function(
        options.file
    )  # its steps have a watch of their own: asyncio would take ours for theirs
    options.deadline = Deadline(vars(options).get("timeout") if watched else None)
    try:
        with options.deadline, _nothing_but_json(options):
            answer: Report | None = options.command(options)
    except LimitHit as hit:  # while nothing was being counted: a model that takes too long to read
        return nothing_known(options, str(hit))
    return answer


@contextmanager
def _nothing_but_json(options: argparse.Namespace) -> Iterator[None]:
    """Real code may print while it runs: with --json that must not come in between."""
    if options.json and names_function(options.file):
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield


def _show(report: Report, options: argparse.Namespace) -> None:
    view = View(sys.stdout, repeated_options(options), options.quiet)
    print(FORMATS["json" if options.json else "text"](report, view))
    if vars(options).get("printf") and not options.json:
        sys.stdout.write("".join(report.said))
