"""The commands: options in, a report out.

What a command needs is loaded when it is called: `--help` should not wait for solvers.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any, get_args

from porcini.cli.problems import UsageError, writing
from porcini.cli.progress import Progress
from porcini.core.errors import InputError
from porcini.core.reports import Report
from porcini.core.systems import Value
from porcini.engines.options import Order
from porcini.models import Model, load, names_function

if TYPE_CHECKING:
    from porcini.commands.requests import Request

_BEST = ("violated", "holds", "unknown")
"""Of engines that agree, or were stopped, the one that knows most answers."""
_CASE = {"input", "schedule", "kind", "state"}


def _request(command: str, options: argparse.Namespace) -> Request:
    """What was written on the command line, as a request."""
    from porcini.commands.requests import KEYWORDS, pick, request_of
    from porcini.engines.limits import Limits
    from porcini.engines.options import Options

    written = vars(options)
    records = {"limits": pick(Limits, written), "options": pick(Options, written)}
    given = {**written, **records, "inputs": _inputs(options.input)}
    if written.get("errors"):
        given["errors"] = _errors(options.errors)
    program = _function(options) if names_function(options.file) else _model(options)
    return request_of(command, program, {name: given[name] for name in KEYWORDS[command] if name in given})


def _request_of_run(command: str, options: argparse.Namespace) -> Request:
    """The same for one run. To write it down takes time as well, also where it ran out of time."""
    request = _request(command, options)
    if options.trace:
        options.deadline.restart(searches=2)
    return request


def _function(options: argparse.Namespace) -> str:
    for option, given in {"-D": options.define, "--por": options.por}.items():
        if given:
            raise InputError(f"{option} is not for coroutine functions")
    name: str = options.file
    return name


def _model(options: argparse.Namespace) -> Model:
    defines: dict[str, str] = {}
    for item in options.define:
        name, sign, text = item.partition("=")
        if not name.strip().isidentifier():
            raise InputError(f"-D wants NAME or NAME=TEXT, not {item!r}")
        defines[name.strip()] = text.strip() if sign else "1"
    model = load(options.file, defines=defines, por=options.por)
    options.deadline.restart()
    return model


def _watched(command: Callable[[Request], Report], request: Request, options: argparse.Namespace) -> Report:
    with Progress(options) as watch:
        return command(replace(request, watch=watch))


def run(options: argparse.Namespace) -> Report | None:
    if options.interactive:
        _simulate(options)
        return None
    from porcini.commands import running

    return running.run(_request_of_run("run", options))


def _simulate(options: argparse.Namespace) -> None:
    """Let a person choose each step; there is nothing to report."""
    for name, is_given in {"--json": options.json, "--trace": options.trace, "--seed": options.seed}.items():
        if is_given:
            hint = "leave with `q`, and give the schedule to `porcini replay`" if name != "--seed" else None
            raise InputError(f"{name} does not go with --interactive, where you choose each step", hint=hint)
    from porcini.cli.interactive import converse

    converse(_request("run", options), repeated_options(options), printf=options.printf)


def replay(options: argparse.Namespace) -> Report:
    if options.tests:
        return _replay_cases(options)
    if options.schedule is None:
        if options.trail is None:
            raise InputError("no schedule was given", hint="or --trail FILE, or --tests FILE.json")
        options.schedule = ""
    from porcini.commands import running

    return running.replay(_request_of_run("replay", options))


def _replay_cases(options: argparse.Namespace) -> Report:
    """All cases of a file; the report says whether all came out as expected."""
    try:
        document = json.loads(Path(options.tests).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", file=options.tests) from None
    tests = document.get("tests") if isinstance(document, dict) else None
    if not isinstance(tests, list) or not all(isinstance(t, dict) and t.keys() >= _CASE for t in tests):
        raise InputError("these are no test cases", file=options.tests, hint="`symbolic --tests` writes some")
    from porcini.commands.cases import replay_cases

    report, wrong = replay_cases(_request("replay", options).subject.model, tests)
    if not options.json:
        with writing():
            print("\n".join([*wrong, f"{len(tests) - len(wrong)} of {len(tests)} cases came out as expected."]))
    options.printed = not options.json
    return report


def explore(options: argparse.Namespace) -> Report:
    if options.engine == "all":
        return _compare(options)
    from porcini.commands import exploring

    return _watched(exploring.explore, _request("explore", options), options)


def check(options: argparse.Namespace) -> Report:
    from porcini.commands import checking

    options.pattern = None
    if options.search not in get_args(Order):
        options.pattern, options.search = options.search, "bfs"
        for name in ("verify_reduction", "check_annotations"):
            if vars(options)[name]:
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"{option} does not go with a pattern", hint="--ltl '[] ~ P' for a proposition P")
    request = _request("check", options)
    told = replace(request.options, fair=options.fairness == "weak")
    if options.no_reduction:
        told = replace(told, reduction="none")
    command = checking.check
    if options.verify_reduction:
        command = checking.verify_reduction
    elif options.check_annotations:
        command = checking.check_annotations
    return _watched(command, replace(request, options=told), options)


@dataclass(frozen=True, slots=True)
class Text:
    """An answer that is a text, to be printed, or written to a file."""

    text: str
    file: Path | None


def transform(options: argparse.Namespace) -> Text:
    """A theory; there is nothing to report."""
    from porcini.commands import checking

    target = Path(options.output) if options.output else None
    base = target.parent if target else Path()
    text = checking.transform(_request("transform", options), os.path.relpath(options.file, base))
    return Text(text, target)


def write(file: str | Path, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", file=str(file)) from None


def symbolic(options: argparse.Namespace) -> Report:
    asked = [item.partition("=") for item in options.input]
    options.input = []  # these have no values
    request = _request("symbolic", options)
    if asked and not request.subject.model.chooses_inputs:
        raise InputError("`symbolic` ranges over all inputs: --input is for the other commands")
    for name, _, value in asked:
        if value.strip() != "?":
            raise InputError(f"`symbolic` ranges over all values: --input {name.strip() or 'X'}=?")
    from porcini.commands import symbolic

    names = tuple(name.strip() for name, _, _ in asked)
    asks = replace(request.all_inputs, names=names, with_cases=bool(options.tests or options.pytest))
    report = _watched(symbolic.symbolic, replace(request, all_inputs=asks), options)
    if options.tests:
        document = {"schema": 1, "file": options.file, "tests": list(report.cases or ())}
        write(options.tests, json.dumps(document, indent=1, ensure_ascii=False) + "\n")
    if options.pytest:
        from porcini.commands.cases import show_as_pytest

        write(options.pytest, show_as_pytest(options.file, options.pytest, report.cases or ()))
    return report


def permute(options: argparse.Namespace) -> Report:
    from porcini.commands import permuting

    if options.trace:
        return _permute_trace(options)
    if not options.file:
        raise UsageError("the following arguments are required: FILE, or --trace TRACE", "porcini permute")
    return _watched(permuting.permute, _request("permute", options), options)


def _permute_trace(options: argparse.Namespace) -> Report:
    """A trace says what was run, and how: nothing else can be said about that."""
    from porcini.commands.permuting import permute_trace
    from porcini.commands.requests import pick
    from porcini.engines.limits import Limits

    given = {
        "FILE": options.file,
        "--schedule": options.schedule,
        "--seed": options.seed,
        "--input": options.input,
        "-D": options.define,
        "--por": options.por,
    }
    for name, value in given.items():
        if value:
            raise InputError(f"{name} does not go with --trace, which permutes a run that was recorded")
    names = None if options.observe is None else frozenset(options.observe)
    with Progress(options) as watch:
        limits = pick(Limits, vars(options))
        return permute_trace(options.trace, seeds=options.seeds, observe=names, limits=limits, watch=watch)


def _compare(options: argparse.Namespace) -> Report:
    """Every engine on one program."""
    if names_function(options.file):
        raise InputError("--engine all is not for coroutine functions", hint="name one of the engines")
    from porcini.commands.exploring import Disagreement, compare
    from porcini.commands.requests import pick
    from porcini.engines.catalogue import ENGINES
    from porcini.engines.options import PARTICULAR, Options, particular
    from porcini.formats.json_report import to_json
    from porcini.formats.text import make_console, print_comparison

    unused = [PARTICULAR[name] for name in particular(pick(Options, vars(options)))]
    unused += ["--first"] if options.first else []
    unused += ["semantic independence"] if options.independence != "syntactic" else []
    for what in unused:
        raise InputError(f"{what} does not go with --engine all", hint="name one of the engines")
    request = _request("compare", options)
    options.deadline.restart(searches=len(ENGINES))  # or fewer
    try:
        reports = compare(request)
    except Disagreement as problem:
        if not options.json:
            with writing():
                print_comparison(problem.reports, make_console())
        raise
    with writing():
        if options.json:
            table = [to_json(report) | {"seconds": report.seconds} for report in reports]
            print(json.dumps(table, ensure_ascii=False))
        else:
            print_comparison(reports, make_console())
    options.printed = True
    return min(reports, key=lambda report: _BEST.index(report.verdict))


def nothing_known(options: argparse.Namespace, limit: str) -> Report:
    """The report of a command that ran into a limit before its search began, or after it had ended."""
    from porcini.commands.reporting import no_report

    written = vars(options)
    file = options.file or options.trace
    return no_report(options.command.__name__, file, limit, written.get("engine"), _asked(written))


def _asked(written: Mapping[str, Any]) -> str | None:
    """The one question that a command was asked instead of its usual ones."""
    for name, title in (("ltl", "ltl"), ("pattern", "search")):
        if written.get(name):
            return f"{title} {written[name]}"
    return None


def repeated_options(options: argparse.Namespace) -> str:
    """The options that lines to paste repeat."""
    written = vars(options)
    given = [f"-D {quote(item)} " for item in options.define]
    given += [f"--input {quote(item)} " for item in options.input]
    given += [f"--por {quote(options.por)} "] if options.por else []
    given += ["--mode fifo "] if written.get("mode") == "fifo" else []
    given += [f"--packages {quote(','.join(options.packages))} "] if written.get("packages") else []
    given += ["--no-suspend "] if written.get("suspend") is False else []
    given += [f"--errors {quote(item)} " for item in written.get("errors") or ()]
    return "".join(given)


def _errors(items: Sequence[str]) -> dict[type, list[str]]:
    """`CLASS=MODULE:FUNCTION`, where a class without a module is one of Python's own."""
    from porcini.coroutines.replacing import find_class

    found: dict[type, list[str]] = {}
    for item in items:
        name, sign, target = (part.strip() for part in item.partition("="))
        if not name or not sign or not target:
            raise InputError(f"--errors wants CLASS=MODULE:FUNCTION, not {item!r}")
        found.setdefault(find_class(name), []).append(target)
    return found


def _inputs(items: Sequence[str]) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for item in items:
        name, sign, text = (part.strip() for part in item.partition("="))
        if not name or not sign:
            raise InputError(f"--input wants NAME=VALUE, not {item!r}")
        if text.lower() in ("true", "false"):
            values[name] = text.lower() == "true"
        else:
            try:
                values[name] = int(text)
            except ValueError:
                raise InputError(f"input `{name}` wants a number or a boolean, not {text!r}") from None
    return values


def languages(options: argparse.Namespace) -> None:
    """Print the table of languages; there is nothing to report."""
    from porcini.matrix import matrix, to_json

    rows = matrix()
    with writing():
        if options.json:
            print(json.dumps(to_json(rows), ensure_ascii=False))
        else:
            from porcini.formats.tables import print_languages

            print_languages(rows)


def engines(options: argparse.Namespace) -> None:
    """Print the table of engines; there is nothing to report."""
    from porcini.matrix import engines_to_json, matrix

    with writing():
        if options.json:
            print(json.dumps(engines_to_json(), ensure_ascii=False))
        else:
            from porcini.formats.tables import print_engines

            print_engines(engines_to_json()["engines"], matrix())
