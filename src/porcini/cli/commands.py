"""The commands: options in, a report out.

What a command needs is loaded when it is called: `--help` should not wait for solvers.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import porcini
from porcini.api.programs import Coroutine, function_of
from porcini.cli.problems import writing
from porcini.cli.progress import Progress
from porcini.core.errors import InputError
from porcini.core.reports import Report
from porcini.core.systems import Value
from porcini.engines.limits import Limits
from porcini.engines.options import Options
from porcini.models import Model, load
from porcini.properties.outcomes import EXPLORED

_ASKS = {
    "run": ("random", "terminates"),
    "explore": ("optimal", ", ".join(EXPLORED)),
    "check": ("graph", "deadlock-free, failure-free"),
    "symbolic": ("symbolic", ", ".join(EXPLORED)),
    "permute": ("fagiani", "equivalent"),
}
"""By which engine the commands that take limits answer, and what."""
_BEST = ("violated", "holds", "unknown")
"""Of engines that agree, or were stopped, the one that knows most answers."""
_CASE = {"input", "schedule", "kind", "state"}


@dataclass(frozen=True, slots=True)
class _Unread:
    """A program of which no more is known."""

    file: str
    language: str


def _subject(options: argparse.Namespace) -> Model | Coroutine:
    """A model, or the coroutine function that is named instead of a file."""
    function = function_of(options.file)
    return function if function is not None else _model(options)


def _model(options: argparse.Namespace) -> Model:
    if function_of(options.file) is not None:
        raise InputError(
            "this command is not for coroutine functions", file=options.file, hint="run, explore, replay"
        )
    defines: dict[str, str] = {}
    for item in options.define:
        name, sign, text = item.partition("=")
        if not name.strip().isidentifier():
            raise InputError(f"-D wants NAME or NAME=TEXT, not {item!r}")
        defines[name.strip()] = text.strip() if sign else "1"
    model = load(options.file, defines=defines, por=options.por)
    options.deadline.restart()
    return model


def run(options: argparse.Namespace) -> Report:
    return porcini.run(
        _subject(options),
        seed=options.seed,
        schedule=options.schedule,
        observe=options.observe,
        inputs=_inputs(options.input),
        limits=_limits(options),
        mode=options.mode,
        packages=options.packages,
    )


def replay(options: argparse.Namespace) -> Report:
    if options.tests:
        return _replay_cases(options)
    if options.schedule is None:
        raise InputError("no schedule was given", hint="or --tests FILE.json")
    return porcini.replay(
        _subject(options),
        options.schedule,
        loop=options.loop,
        observe=options.observe,
        inputs=_inputs(options.input),
        mode=options.mode,
        packages=options.packages,
    )


def _replay_cases(options: argparse.Namespace) -> Report:
    """All cases of a file; the report is that of the last one, or of the first that fails."""
    try:
        document = json.loads(Path(options.tests).read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", file=options.tests) from None
    tests = document.get("tests") if isinstance(document, dict) else None
    if not isinstance(tests, list) or not all(isinstance(t, dict) and t.keys() >= _CASE for t in tests):
        raise InputError("these are no test cases", file=options.tests, hint="`symbolic --tests` writes some")
    from porcini.api.inputs import cases_report, replay_cases

    wrong = replay_cases(_model(options), tests)
    if not options.json:
        with writing():
            print("\n".join([*wrong, f"{len(tests) - len(wrong)} of {len(tests)} cases came out as expected."]))
    options.printed = not options.json
    return cases_report(_model(options), len(tests), len(wrong))


def explore(options: argparse.Namespace) -> Report:
    if options.engine == "all":
        if function_of(options.file) is not None:
            raise InputError("--engine all is not for coroutine functions", hint="name one of the engines")
        return _compare(options)
    with Progress(options) as watch:
        return porcini.explore(
            _subject(options),
            engine=options.engine,
            independence=options.independence,
            property=options.property,
            first=options.first,
            observe=options.observe,
            inputs=_inputs(options.input),
            limits=_limits(options),
            options=Options(
                seed=options.seed,
                depth=options.depth,
                preemptions=options.preemptions,
                actors=options.actor_selection,
                tasks=options.task_selection,
            ),
            mode=options.mode,
            packages=options.packages,
            deterministic=options.deterministic,
            watch=watch,
        )


def check(options: argparse.Namespace) -> Report:
    told = Options(
        search=options.search,
        reduction="none" if options.no_reduction else options.reduction,
        ample=options.ample,
        fair=options.fairness == "weak",
        optimise=not options.no_optimise,
    )
    model, inputs, limits = _model(options), _inputs(options.input), _limits(options)
    with Progress(options) as watch:
        if options.verify_reduction:
            from porcini.api.checks import verify_reduction

            return verify_reduction(
                model, ltl=options.ltl, inputs=inputs, limits=limits, options=told, watch=watch
            )
        return porcini.check(
            model,
            ltl=options.ltl,
            engine=options.engine,
            first=options.first,
            observe=options.observe,
            inputs=inputs,
            limits=limits,
            options=told,
            watch=watch,
        )


def transform(options: argparse.Namespace) -> Report | None:
    """Print a theory; there is nothing to report."""
    target = Path(options.output) if options.output else None
    base = target.parent if target else Path()
    text = porcini.transform(
        _model(options), ltl=options.ltl, ample=options.ample, load=os.path.relpath(options.file, base)
    )
    options.printed = True
    if target is None:
        with writing():
            print(text)
        return None
    try:
        target.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", file=str(target)) from None
    return None


def symbolic(options: argparse.Namespace) -> Report:
    model, asked = _model(options), [item.partition("=") for item in options.input]
    if asked and not model.chooses_inputs:
        raise InputError("`symbolic` ranges over all inputs: --input is for the other commands")
    for name, _, value in asked:
        if value.strip() != "?":
            raise InputError(f"`symbolic` ranges over all values: --input {name.strip() or 'X'}=?")
    with Progress(options) as watch:
        report = porcini.symbolic(
            model,
            inputs=[name.strip() for name, _, _ in asked],
            equivalence=options.equivalence,
            reduced=not options.no_reduction,
            observe=options.observe,
            limits=_limits(options),
            solver_timeout=options.solver_timeout,
            with_cases=bool(options.tests or options.pytest),
            watch=watch,
        )
    written = []
    if options.tests:
        document = {"schema": 1, "file": options.file, "tests": list(report.cases or ())}
        written.append((options.tests, json.dumps(document, indent=1, ensure_ascii=False) + "\n"))
    if options.pytest:
        from porcini.all_inputs import written_as_pytest

        written.append((options.pytest, written_as_pytest(options.file, options.pytest, report.cases or ())))
    for name, text in written:
        try:
            Path(name).write_text(text, encoding="utf-8")
        except OSError as problem:
            raise InputError(f"cannot be written: {problem.strerror}", file=name) from None
    return report


def _compare(options: argparse.Namespace) -> Report:
    """Every engine on one program."""
    from porcini.api.exploring import Disagreement, compare
    from porcini.engines.catalogue import ENGINES
    from porcini.formats.json_report import to_json
    from porcini.formats.text import make_console, print_comparison

    model = _model(options)
    options.deadline.restart(searches=len(ENGINES))  # or fewer
    try:
        reports = compare(
            model,
            property=options.property,
            observe=options.observe,
            inputs=_inputs(options.input),
            limits=_limits(options),
        )
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
    from porcini.engines.stats import SearchStats
    from porcini.reporting import build_report

    command = options.command.__name__
    engine, asked = _ASKS[command]
    stats = SearchStats()
    stats.leave_out(limit)
    if command == "check":
        stats.reduction = "none"  # nothing was searched
    return build_report(
        _Unread(options.file, Path(options.file).suffix.removeprefix(".")),
        command,
        stats,
        engine=getattr(options, "engine", None) or engine,
        property=f"ltl {options.ltl}" if getattr(options, "ltl", None) else asked,
        traces=() if command in ("permute", "symbolic") else None,
    )


def permute(options: argparse.Namespace) -> Report:
    with Progress(options) as watch:
        return porcini.permute(
            _model(options),
            seed=options.seed,
            schedule=options.schedule,
            seeds=options.seeds,
            observe=options.observe,
            inputs=_inputs(options.input),
            limits=_limits(options),
            watch=watch,
        )


def _limits(options: argparse.Namespace) -> Limits:
    states = getattr(options, "max_states", None)
    return Limits(options.max_executions, options.max_depth, options.timeout, states)


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
