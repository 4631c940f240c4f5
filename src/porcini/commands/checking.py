"""`check`, `verify_reduction` and `transform`: states and formulas."""

from __future__ import annotations

from dataclasses import replace

from porcini.commands.exploring import explore, note_weaker_reduction
from porcini.commands.formulas import (
    CheckResult,
    NamedFormula,
    check_by_own_checker,
    check_cycles,
    check_formula,
    check_never,
    examine_all,
    formulas_of,
    given_formula,
    lost_by_reduction,
    own_formula,
    propositions_of,
)
from porcini.commands.needs import COMMANDS, require
from porcini.commands.reporting import build_report
from porcini.commands.requests import Request
from porcini.commands.searching import search
from porcini.core.errors import InputError
from porcini.core.languages import Checker
from porcini.core.reports import Counts, Report, Verdict
from porcini.engines.machines import refuse_bitstate
from porcini.engines.options import USUAL
from porcini.engines.stats import SearchStats
from porcini.properties.outcomes import Question, verdict


def check(request: Request) -> Report:
    """Check every reachable state, on a reduced graph, for deadlocks and failures, then the model's own formulas;
    or instead of all that, one formula. A formula is checked by the language's own checker, if there is one,
    unless another engine is given."""
    model, question, usual = request.subject.model, request.question, USUAL["check"]
    _ask_one_thing(question)
    own = model.checker if question.ltl is not None or question.pattern is not None else None
    if request.engine not in (None, usual, own and own.name):
        hint = usual if model.checker is None else f"{usual}, or {model.checker.name} for a formula"
        raise InputError(f"`check` does not go by engine `{request.engine}` here", hint=hint)
    require("check", request.subject)
    if question.pattern is not None:
        return search(request, question.pattern)
    if any(each is not None for each in (question.ltl, question.formula, question.cycles, question.claim)):
        refuse_bitstate(request.options, "formulas, claims or cycles")
    if question.ltl is not None:
        named = given_formula(question.ltl, model)
        fair = request.options.fair and request.engine is None  # other checkers do not support fairness
        if own is not None and request.engine != usual and not fair:
            return _check_by(own, request, named)
        return _check_formula(request, named)
    if question.formula is not None:
        return _check_formula(request, own_formula(question.formula, model))
    if question.cycles is not None:
        stats = _stats(request)
        found = check_cycles(request.subject, question.cycles, stats, request.options)
        return _report(request, stats, question.cycles, found)
    if question.claim is not None:
        return _check_never(request)
    return _check_all(request)


def _ask_one_thing(question: Question) -> None:
    asked = {"--ltl": question.ltl, "--formula": question.formula, "--claim": question.claim}
    asked["--search PATTERN"] = question.pattern
    given = [name for name, value in asked.items() if value is not None]
    given += [f"--{question.cycles}"] if question.cycles is not None else []
    if len(given) > 1:
        raise InputError(f"{given[0]} and {given[1]} are two questions: ask one at a time")


def _check_all(request: Request) -> Report:
    """Check all that a model states about itself: where it may end, its formulas, each with its verdict, and its
    never claim."""
    model, question, usual = request.subject.model, request.question, USUAL["check"]
    claimed = model.has_never_claim
    asked = replace(question, properties=("failure-free",) if claimed else ("deadlock-free", "failure-free"))
    names_do_not_matter = replace(request.options, exact=False)
    states = replace(request, engine=usual, question=asked, options=names_do_not_matter)
    found = replace(explore(states), command="check")
    verdicts: dict[str, Verdict] = {}
    safe = found.verdict != "violated"
    for named in formulas_of(model):
        name = named.name.removeprefix("ltl ")
        verdicts[name] = "unknown"
        if safe and not found.interrupted and request.options.bitstate is None:
            report = _check_formula(request, named)
            verdicts[name] = report.verdict
            found = _combine(found, report) if found.verdict != "violated" else _add_counts(found, report)
    if verdicts:
        found = replace(found, formulas=verdicts)
        if not safe:
            names = ", ".join(verdicts)
            found = replace(found, notes=(*found.notes, f"not checked, since this comes first: {names}"))
        elif request.options.bitstate is not None:
            names = ", ".join(verdicts)
            found = replace(found, notes=(*found.notes, f"not checked by a bitstate search: {names}"))
    if claimed:
        refuse_bitstate(request.options, "never claims")
    if claimed and found.verdict != "violated" and not found.interrupted:
        found = _combine(found, _check_never(request))
    return found


def _check_never(request: Request) -> Report:
    stats = _stats(request)
    return _report(request, stats, "never", check_never(request.subject, stats, request.options))


def _stats(request: Request) -> SearchStats:
    return SearchStats(request.limits, watch=request.watch)


def _report(
    request: Request, stats: SearchStats, name: str, found: CheckResult, engine: str | None = None
) -> Report:
    trail, notes = found
    report = build_report(request.subject, "check", stats, engine=engine, property=name, notes=notes)
    if trail is None:
        return report
    return replace(report, trail=trail, stopped="first-violation", verdict="violated")


def _check_by(checker: Checker, request: Request, named: NamedFormula) -> Report:
    stats = SearchStats(request.limits)
    found = check_by_own_checker(checker, request.subject, named, stats, request.options)
    return _report(request, stats, named.name, found, checker.name)


def _check_formula(request: Request, named: NamedFormula) -> Report:
    stats = _stats(request)
    require("check --ltl", request.subject)
    trail, notes = check_formula(request.subject, named, stats, request.options)
    return _report(request, stats, named.name, (trail, notes + note_weaker_reduction(request, stats)))


def _combine(one: Report, two: Report) -> Report:
    """Combine the reports of two questions: the worse verdict, and the sum of all counts."""
    worse = two if _WORSE.index(two.verdict) >= _WORSE.index(one.verdict) else one
    return replace(
        worse,
        property=two.property if two.verdict == "violated" else f"{one.property}, {two.property}",
        counts=_add_counts(one, two).counts,
        machine=max(one.machine, two.machine, key=_MACHINES.index),
        outcomes=one.outcomes,
        notes=tuple(dict.fromkeys(one.notes + two.notes)),
        seconds=one.seconds + two.seconds,
    )


def _add_counts(one: Report, two: Report) -> Report:
    """A report with the counts of another one added."""
    counts = Counts(
        one.counts.executions,
        states=one.counts.states + two.counts.states,
        events=one.counts.events + two.counts.events,
    )
    return replace(one, counts=counts, seconds=one.seconds + two.seconds, interrupted=two.interrupted)


_WORSE = ("holds", "unknown", "violated")
_MACHINES = (None, "python", "native", "gpu")
"""Of several questions, the fastest machine that answered one is named."""


def verify_reduction(request: Request) -> Report:
    """Build the whole graph and the reduced one, and compare them: where runs end, and stuttering equivalence for
    the propositions of a formula, or of the model's own formulas."""
    model, ltl, stats = request.subject.model, request.question.ltl, _stats(request)
    formulas = [given_formula(ltl, model)] if ltl is not None else formulas_of(model)
    lost, notes = lost_by_reduction(request.subject, formulas, stats, request.options)
    if lost is not None:
        notes = (
            f"lost: {lost}. This is a bug in Porcini, or the model's own words on independence are wrong",
            *notes,
        )
    report = _report(request, stats, "reduction", (None, notes))
    return replace(report, verdict=verdict(lost is not None, stats.stopped == "exhausted"))


def check_annotations(request: Request) -> Report:
    """Test all that a model declares about its steps in every reachable state: what is false is an error. With a
    formula, test also which steps change its propositions."""
    model, ltl, stats = request.subject.model, request.question.ltl, _stats(request)
    require("check --check-annotations", request.subject)
    formulas = [given_formula(ltl, model)] if ltl is not None else []
    notes = examine_all(request.subject, formulas, stats)
    return _report(request, stats, "annotations", (None, (*model.notes, *notes)))


def transform(request: Request, load: str | None = None) -> str:
    """P1: a rewrite theory with partial order reduction built in, as text for Maude; it preserves the propositions
    of a formula. `load` is a file that the text loads first."""
    model, ltl = request.subject.model, request.question.ltl
    if model.capabilities.missing(COMMANDS["transform"]) is not None:
        raise InputError("only rewrite theories can be transformed", file=model.file, hint=".maude")
    watched = propositions_of(model, given_formula(ltl, model)) if ltl is not None else ()
    return model.transform(request.options.ample, watched, load)
