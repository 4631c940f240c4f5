"""The command line: arguments in, text or JSON out.

    arguments    what can be written
    commands     what is done then
    interactive  the same, step by step, with a person
    progress     how far a search is, and what ends one that does not look at the clock
    answering    within its time, and in a sealed child where somebody else's interpreter is needed
    problems     what is said where there is no answer

Exit status: 0 holds, 1 violated, 2 bad input or usage, 3 unknown because a limit was hit, 4 a bug in Porcini or
output that cannot be written, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from porcini.cli.answering import answered
from porcini.cli.arguments import parsed
from porcini.cli.commands import Text, repeated_options, write
from porcini.cli.problems import INTERRUPTED, UNKNOWN, tell, writing
from porcini.core.reports import FORMATS, Report, View

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
        answer = answered(options)
        if isinstance(answer, Text) and answer.file is not None:
            write(answer.file, answer.text)
        elif answer is not None and not options.printed:
            with writing():
                _show(answer, options)
    except (Exception, KeyboardInterrupt) as problem:
        return tell(problem, as_json="--json" in words, debug="--debug" in words)
    if not isinstance(answer, Report):
        return 0
    return INTERRUPTED if answer.interrupted else _STATUS[answer.verdict]


def _prepare_output() -> None:
    """Whatever a program returns or raises can be shown, and there is always somewhere to complain to."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115


def _show(answer: Report | Text, options: argparse.Namespace) -> None:
    if isinstance(answer, Text):
        print(answer.text)
        return
    view = View(sys.stdout, repeated_options(options), options.quiet)
    print(FORMATS["json" if options.json else "text"](answer, view))
    if vars(options).get("printf") and not options.json:
        sys.stdout.write("".join(answer.said))
