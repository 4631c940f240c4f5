"""`check`, `verify_reduction`, `transform`: states and formulas."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from porcini.api.exploring import explore, less_reduced
from porcini.api.programs import model_of
from porcini.checking import (
    Named,
    check_by_maude,
    check_formula,
    check_never,
    formulas_of,
    given_formula,
    propositions_of,
)
from porcini.checking import verify_reduction as compare_reduced
from porcini.core.errors import InputError
from porcini.core.reports import Counts, Report, Trail
from porcini.core.systems import Value
from porcini.engines.limits import Limits
from porcini.engines.options import Ample, Options
from porcini.engines.stats import SearchStats, Watcher
from porcini.models import Model
from porcini.properties.outcomes import verdict
from porcini.reporting import build_report


def check(
    model: Model | str | Path,
    *,
    ltl: str | None = None,
    engine: str | None = None,
    first: bool = False,
    observe: Iterable[str] | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    options: Options | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Every reachable state, on a reduced graph: can it deadlock, can it fail? Then the model's own formulas; or
    instead of all that, one formula. Formulas about rewrite theories are checked by Maude itself, unless the
    engine is to be `graph`.

    >>> check("examples/gcl/vineyard.gcl").verdict
    'holds'
    >>> check("examples/gcl/vineyard.gcl", ltl="<> flag").verdict
    'holds'
    """
    model = model_of(model)
    options = options or Options()
    if engine not in (None, "graph") and not (engine == model.checker and ltl is not None):
        raise InputError(f"`check` does not go by engine `{engine}` here", hint="graph, or maude for a formula")
    model.capabilities.require("`check`", ("states",), model.file)
    if ltl is not None:
        named = given_formula(ltl, model)
        fair = options.fair and engine is None  # other checkers know no fairness
        if model.checker is not None and engine != "graph" and not fair:
            return _check_by_maude(model, named, limits, options)
        return _check_formula(model, named, inputs, limits, options, watch)
    claimed = model.has_never_claim
    found = explore(
        model,
        engine="graph",
        properties=("failure-free",) if claimed else ("deadlock-free", "failure-free"),
        first=first,
        observe=observe,
        inputs=inputs,
        limits=limits,
        options=replace(options, exact=False),
        watch=watch,
    )
    found = replace(found, command="check")
    for named in formulas_of(model):
        if found.verdict == "violated" or found.interrupted:
            break
        found = _both(found, _check_formula(model, named, inputs, limits, options, watch))
    if claimed and found.verdict != "violated" and not found.interrupted:
        found = _both(found, _check_never(model, limits, options, watch))
    return found


def _check_never(model: Model, limits: Limits | None, options: Options, watch: Watcher | None) -> Report:
    stats = SearchStats(limits or Limits(), None, watch=watch)
    trail, notes = check_never(model, lambda optimise: model.system(optimise=optimise), stats, options)
    return _with_trail(build_report(model, "check", stats, engine="graph", property="never", notes=notes), trail)


def _check_by_maude(model: Model, named: Named, limits: Limits | None, options: Options) -> Report:
    stats = SearchStats(limits or Limits(), None)
    trail, notes = check_by_maude(model, named, stats, options)
    return _with_trail(
        build_report(model, "check", stats, engine="maude", property=named.name, notes=notes), trail
    )


def transform(
    model: Model | str | Path, *, ltl: str | None = None, ample: Ample = "closure", load: str | None = None
) -> str:
    """P1: a rewrite theory with partial order reduction built in, as text for Maude. `ltl` is a formula whose
    propositions must be seen; `load` is what the text is to load first.
    """
    model = model_of(model)
    if "theory" not in model.capabilities:
        raise InputError("only rewrite theories can be transformed", file=model.file, hint=".maude")
    watched = propositions_of(model, given_formula(ltl, model)) if ltl is not None else ()
    return model.transformed(ample, watched, load)


def _with_trail(report: Report, trail: Trail | None) -> Report:
    if trail is None:
        return report
    return replace(report, trail=trail, stopped="first-violation", verdict="violated")


def verify_reduction(
    model: Model | str | Path,
    *,
    ltl: str | None = None,
    inputs: Mapping[str, Value] | None = None,
    limits: Limits | None = None,
    options: Options | None = None,
    watch: Watcher | None = None,
) -> Report:
    """Build the whole graph and the reduced one, and compare them: where runs end, and all that the propositions
    of a formula, or of the model's own, can tell, however often a letter is repeated.

    >>> verify_reduction("examples/gcl/vineyard.gcl", ltl="<> (x > 3)").verdict
    'holds'
    """
    model = model_of(model)
    options = options or Options()
    formulas = [given_formula(ltl, model)] if ltl is not None else formulas_of(model)
    stats = SearchStats(limits or Limits(), None, watch=watch)
    lost, notes = compare_reduced(
        model, lambda optimise: model.system(inputs, optimise=optimise), formulas, stats, options
    )
    if lost is not None:
        notes = (
            f"lost: {lost}. This is a bug in Porcini, or the model's own words on independence are wrong",
            *notes,
        )
    report = build_report(model, "check", stats, engine="graph", property="reduction", notes=notes)
    return replace(report, verdict=verdict(lost is not None, stats.stopped == "exhausted"))


def _both(one: Report, two: Report) -> Report:
    """The reports of two questions as one: the worse verdict, all that was counted."""
    worse = two if _WORSE.index(two.verdict) >= _WORSE.index(one.verdict) else one
    counts = Counts(
        one.counts.executions,
        states=one.counts.states + two.counts.states,
        events=one.counts.events + two.counts.events,
    )
    return replace(
        worse,
        property=two.property if two.verdict == "violated" else f"{one.property}, {two.property}",
        counts=counts,
        outcomes=one.outcomes,
        notes=tuple(dict.fromkeys(one.notes + two.notes)),
        seconds=one.seconds + two.seconds,
    )


_WORSE = ("holds", "unknown", "violated")


def _check_formula(
    model: Model,
    named: Named,
    inputs: Mapping[str, Value] | None,
    limits: Limits | None,
    options: Options,
    watch: Watcher | None,
) -> Report:
    stats = SearchStats(limits or Limits(), None, watch=watch)
    model.capabilities.require("`check --ltl`", ("propositions",), model.file)
    trail, notes = check_formula(
        model, lambda optimise: model.system(inputs, optimise=optimise), named, stats, options
    )
    notes += less_reduced(model, stats, options)
    return _with_trail(
        build_report(model, "check", stats, engine="graph", property=named.name, notes=notes), trail
    )
