"""`symbolic`: all inputs at once."""

from __future__ import annotations

from dataclasses import replace

from porcini.commands.all_inputs import build_cases, explore_symbolically, run_concretely
from porcini.commands.needs import COMMANDS
from porcini.commands.reporting import build_report, place_errors_in
from porcini.commands.requests import Request
from porcini.core.errors import InputError
from porcini.core.reports import Counterexample, PropertyName, Report
from porcini.engines.stats import SearchStats
from porcini.ir.expr import FALSE
from porcini.ir.text import show
from porcini.properties.outcomes import EXPLORED


def symbolic(request: Request) -> Report:
    """One entry for each class of paths, and the inputs for which the order matters."""
    model = request.subject.model
    asked = request.all_inputs
    reason = model.capabilities.missing(COMMANDS["symbolic"])
    if reason is not None:
        raise InputError(f"`symbolic` has no meaning for .{model.language} programs: {reason}", file=model.file)
    if asked.names and not model.chooses_inputs:
        raise InputError("`symbolic` ranges over all inputs: none can be named here", file=model.file)
    stats = SearchStats(request.limits, request.subject.observed, watch=request.watch)
    with place_errors_in(model):
        found = explore_symbolically(
            model,
            stats,
            inputs=asked.names,
            equivalence=asked.equivalence,
            reduced=asked.reduced,
            timeout=asked.solver_timeout,
        )
    bad = [path for path in found.paths if path.kind in _BAD and path.input is not None]
    example, wrong = found.counterexample, "deterministic"
    if example is None and bad:
        wrong = _BAD[bad[0].kind]
        values = bad[0].input or {}
        example = Counterexample((run_concretely(model, bad[0], values, stats.observe),), (), values)
    order_matters = found.condition is not FALSE
    report = build_report(
        model,
        "symbolic",
        stats,
        independence=asked.equivalence if asked.reduced else "no",
        property=wrong if example else ", ".join(EXPLORED),
        counterexample=example,
        traces=found.entries(),
        notes=tuple(found.notes),
    )
    if order_matters and example is None:  # the condition may hold, but no input was found for it
        report = replace(report, verdict="unknown")
    return replace(
        report,
        condition=show(found.condition) if order_matters else None,
        cases=tuple(build_cases(found)) if asked.with_cases else None,
    )


_BAD: dict[str, PropertyName] = {
    "deadlock": "deadlock-free",
    "assertion": "failure-free",
    "error": "failure-free",
}
