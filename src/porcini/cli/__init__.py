"""The command line: arguments in, text or JSON out.

    arguments    what can be written
    commands     what is done then
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
from shlex import quote

from porcini.cli.arguments import parsed
from porcini.cli.commands import nothing_known
from porcini.cli.problems import INTERRUPTED, UNKNOWN, tell, writing
from porcini.cli.progress import Deadline
from porcini.core.errors import LimitHit
from porcini.core.reports import FORMATS, Report

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
    watched = not _is_real_code(options)  # its steps have a watch of their own: asyncio would take ours for theirs
    options.deadline = Deadline(getattr(options, "timeout", None) if watched else None)
    try:
        with options.deadline, _nothing_but_json(options):
            answer: Report | None = options.command(options)
    except LimitHit as hit:  # while nothing was being counted: a model that takes too long to read
        return nothing_known(options, str(hit))
    return answer


@contextmanager
def _nothing_but_json(options: argparse.Namespace) -> Iterator[None]:
    """Real code may print while it runs: with --json that must not come in between."""
    if options.json and _is_real_code(options):
        with redirect_stdout(sys.stderr):
            yield
    else:
        yield


def _is_real_code(options: argparse.Namespace) -> bool:
    return ":" in options.file and not Path(options.file).exists()


def _show(report: Report, options: argparse.Namespace) -> None:
    if options.json:
        print(FORMATS["json"](report))
        return
    from porcini.formats.text import make_console, print_report, print_verdict  # tables take a while to load

    if options.quiet:
        print_verdict(report, make_console())
    else:
        given = [f"-D {quote(item)} " for item in options.define]
        given += [f"--input {quote(item)} " for item in options.input if not item.endswith("=?")]
        given += [f"--por {quote(options.por)} "] if options.por else []
        given += ["--mode fifo "] if getattr(options, "mode", "any") == "fifo" else []
        given += [f"--packages {quote(','.join(options.packages))} "] if getattr(options, "packages", ()) else []
        print_report(report, make_console(), "".join(given))
    if getattr(options, "printf", False):
        sys.stdout.write("".join(report.said))
