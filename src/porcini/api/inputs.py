"""`symbolic`: all inputs at once; and the test cases that it writes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from porcini.all_inputs import cases, concrete, explored
from porcini.api.exploring import replay
from porcini.api.programs import model_of, observed_names
from porcini.core.errors import InputError
from porcini.core.reports import Counterexample, PropertyName, Report
from porcini.engines.limits import DEFAULT_SOLVER_TIMEOUT, Limits
from porcini.engines.stats import SearchStats, Watcher
from porcini.ir.expr import FALSE
from porcini.ir.text import show
from porcini.models import Model
from porcini.properties.outcomes import EXPLORED
from porcini.reporting import build_report


def symbolic(
    model: Model | str | Path,
    *,
    inputs: Iterable[str] = (),
    equivalence: str = "syntactic",
    reduced: bool = True,
    observe: Iterable[str] | None = None,
    limits: Limits | None = None,
    solver_timeout: float = DEFAULT_SOLVER_TIMEOUT,
    with_cases: bool = False,
    watch: Watcher | None = None,
) -> Report:
    """All inputs at once: one entry for each class of paths, and the inputs for which the order matters.
    `with_cases` adds test cases: for each class an input, a schedule, and what comes of them. A program that
    declares no inputs, but takes some (Promela), is run on all values of the variables that `inputs` names.

    >>> from porcini.models import loads
    >>> symbolic(loads("x |-> ?, y |-> 0, True |> spawn(True |> y := x); True |> y := 2 * x")).condition
    'x != 0'
    """
    model = model_of(model)
    reason = model.capabilities.missing(("symbolic",))
    if reason is not None:
        raise InputError(f"`symbolic` has no meaning for .{model.language} programs: {reason}", file=model.file)
    stats = SearchStats(limits or Limits(), observed_names(model, observe), watch=watch)
    found = explored(
        model,
        stats,
        inputs=list(inputs),
        equivalence=equivalence,
        reduced=reduced,
        timeout=solver_timeout,
    )
    bad = [path for path in found.paths if path.kind in _BAD and path.input is not None]
    example, wrong = found.counterexample, "deterministic"
    if example is None and bad:
        wrong = _BAD[bad[0].kind]
        values = bad[0].input or {}
        example = Counterexample((concrete(model, bad[0], values, stats.observe),), (), values)
    order_matters = found.condition is not FALSE
    report = build_report(
        model,
        "symbolic",
        stats,
        engine="symbolic",
        independence=equivalence if reduced else "no",
        property=wrong if example else ", ".join(EXPLORED),
        counterexample=example,
        traces=found.entries(),
        notes=tuple(found.notes),
    )
    if order_matters and example is None:  # a condition that may hold, and no input to show it
        report = replace(report, verdict="unknown")
    return replace(
        report,
        condition=show(found.condition) if order_matters else None,
        cases=tuple(cases(found)) if with_cases else None,
    )


_BAD: dict[str, PropertyName] = {
    "deadlock": "deadlock-free",
    "assertion": "failure-free",
    "error": "failure-free",
}


def replay_cases(model: Model | str | Path, tests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Replay test cases; what is wrong with each that fails."""
    model, wrong = model_of(model), []
    for number, case in enumerate(tests, 1):
        try:
            outcome = replay(model, case["schedule"], inputs=case["input"]).outcomes[0]
        except InputError as problem:
            wrong.append(f"case {number}: {problem.message}")
            continue
        state = {name: list(v) if isinstance(v, tuple) else v for name, v in outcome.state.items()}
        seen = {name: state.get(name) for name in case["state"]}
        if (outcome.kind, seen) != (case["kind"], case["state"]):
            wrong.append(f"case {number}: {outcome.kind} {seen}, not {case['kind']} {case['state']}")
    return wrong


def cases_report(model: Model, tests: int, wrong: int) -> Report:
    """What became of replaying test cases."""
    stats = SearchStats()
    stats.counts.executions = tests
    report = build_report(model, "replay", stats, engine="random", property="cases")
    return replace(report, verdict="violated" if wrong else "holds")
