"""Porcini against SPIN on one model: states, end states, assertions and formulas.

What is compared, and under what:

    states         without a reduction, every statement a step
    end states     is there an invalid one? Under every reduction of Porcini, and each finds the same ones
    assertions     can one fail? Under every reduction
    errors         can a process do what has no meaning, such as block inside of a `d_step`? Then nothing else is
                   compared, because SPIN stops where Porcini goes on
    formulas       under every reduction; and under weak fairness, where Porcini does not reduce

States, end states and formulas are those of the model with `skip` in place of each assertion: SPIN can go on past
one that fails, and Porcini stops the process there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import porcini
from conformance.laws import Broken
from conformance.oracle import TooMany
from conformance.promela.text import Model, has_else_in_first_choice
from conformance.promela.verifier import Answer, Rejected, Unfinished, Verifier
from porcini.core.errors import InputError
from porcini.engines.catalogue import Options

MOST_STATES = 3_000
SECONDS = 5
SAFETY = ("deadlock-free", "failure-free")
PLAIN = Options(reduction="none", optimise=False)
REDUCTIONS = {
    "plain": PLAIN,
    "none": Options(reduction="none"),
    "ample": Options(reduction="ample"),
    "ample single": Options(reduction="ample", ample="single"),
    "stubborn": Options(reduction="stubborn"),
}
FORMULAS = {**REDUCTIONS, "native": Options(reduction="stubborn", machine="native")}
FAIR = Options(fair=True, machine="native")
BLOCK_BEGINS_WITH_DO = re.compile(r"^ .*\{\n *do$", re.MULTILINE)
"""SPIN tells the start of such a block from the head of its loop; docs/promela.md says that Porcini does not."""


class Refused(Broken):
    """Porcini does not take a model that SPIN takes."""


class OtherStates(Broken):
    """Another number of states."""


class OtherEnds(Broken):
    """One finds an invalid end state, the other does not."""


class LostEnds(Broken):
    """A reduction does not find all states in which runs end."""


class OtherFailures(Broken):
    """One finds an assertion that fails, the other does not."""


class OtherErrors(Broken):
    """One finds that a process does what has no meaning, the other does not."""


class OtherFormulas(Broken):
    """Another verdict on a formula."""


class OtherFairFormulas(OtherFormulas):
    """Another verdict on a formula under weak fairness."""


def compare(model: Model) -> int:
    """How many states a model has, by both; `TooMany` if there are too many, or if it cannot be
    compared: SPIN does not take it, or is documented to differ."""
    if any(has_else_in_first_choice(proctype.body) for proctype in model.proctypes):
        raise TooMany
    with TemporaryDirectory() as folder:
        source = Path(folder, "model.pml")
        source.write_text(model.text())
        passing = model.without_assertions()
        try:
            verifier = Verifier(source, Path(folder), seconds=SECONDS)
            found = verifier.states()
            if found.states > MOST_STATES:
                raise TooMany
            return _compare_all(model, passing, verifier, found)
        except (Rejected, Unfinished):
            raise TooMany from None


def _compare_all(model: Model, passing: Model, verifier: Verifier, found: Answer) -> int:
    here = _loaded(passing)
    error, states = found.error, found.states
    errs = "error" in _kinds(here, PLAIN, states)
    if errs or error:
        if not (errs and error):
            raise OtherErrors(f"SPIN: {error or 'no errors'}; Porcini: {'an error' if errs else 'no errors'}")
        return states
    if not BLOCK_BEGINS_WITH_DO.search(model.text()):
        _compare_states(here, states)
    _compare_ends(here, verifier, states)
    if passing != model:
        _compare_failures(_loaded(model), verifier, states)
    for name, formula in [] if "_nr_pr" in model.text() else model.named_formulas():  # SPIN counts the claim, too
        _compare_formula(here, verifier, name, formula, states)
    return states


def _loaded(model: Model) -> porcini.Model:
    try:
        return porcini.loads(model.text(), "pml")
    except InputError as problem:
        raise Refused(f"Porcini refuses the model: {problem}") from problem


def _limits(states: int) -> porcini.Limits:
    """A graph that is larger than SPIN's by far is known to be wrong."""
    return porcini.Limits(max_states=20 * states + 1_000, timeout=60)


def _explored(model: porcini.Model, options: Options, states: int) -> porcini.Report:
    report = porcini.explore(model, engine="graph", properties=SAFETY, options=options, limits=_limits(states))
    if report.stopped == "limit":
        raise (
            TooMany
            if report.limit and "states" not in report.limit
            else OtherStates(f"SPIN: {states}; too many here")
        )
    return report


def _kinds(model: porcini.Model, options: Options, states: int) -> set[str]:
    return {outcome.kind for outcome in _explored(model, options, states).outcomes}


def _compare_states(model: porcini.Model, states: int) -> None:
    here = _explored(model, PLAIN, states).counts.states
    if here != states:
        raise OtherStates(f"states: SPIN {states}, Porcini {here}")


def _compare_ends(model: porcini.Model, verifier: Verifier, states: int) -> None:
    deadlocks = verifier.deadlocks()
    everything = _ends(model, PLAIN, states)
    for name, options in REDUCTIONS.items():
        ends = _ends(model, options, states)
        if any(kind == "deadlock" for kind, _ in ends) != deadlocks:
            raise OtherEnds(
                f"an invalid end state: SPIN {_yes(deadlocks)}, Porcini ({name}) {_yes(not deadlocks)}"
            )
        if ends != everything:
            raise LostEnds(f"{len(everything)} states in which runs end, {len(ends)} by {name}")


def _ends(model: porcini.Model, options: Options, states: int) -> set[tuple[str, str]]:
    """The states in which runs end, as far as they can be seen."""
    found = _explored(model, options, states).outcomes
    return {(each.kind, str(sorted(each.state.items()))) for each in found}


def _compare_failures(model: porcini.Model, verifier: Verifier, states: int) -> None:
    fails = verifier.fails()
    for name, options in REDUCTIONS.items():
        if ("assertion" in _kinds(model, options, states)) != fails:
            raise OtherFailures(f"a failed assertion: SPIN {_yes(fails)}, Porcini ({name}) {_yes(not fails)}")


def _compare_formula(model: porcini.Model, verifier: Verifier, name: str, formula: str, states: int) -> None:
    violated = verifier.violates(name)
    for how, found in _verdicts(model, name, states):
        if found != violated:
            raise OtherFormulas(f"{formula}: SPIN {_verdict(violated)}, Porcini ({how}) {_verdict(found)}")
    report = porcini.check(model, ltl=name, options=FAIR, limits=_limits(states))
    if report.verdict == "unknown" or (report.trail and not report.trail.loop):
        return  # where nobody can move fairness asks nothing, but SPIN finds no runs that end when it is on
    if "provided" in verifier.text or "priority" in verifier.text:
        return  # a process that is never allowed to run keeps SPIN from finding fair runs
    try:
        violated = verifier.violates(name, fair=True)
    except Unfinished:
        return
    found = report.verdict == "violated"
    if found != violated:
        raise OtherFairFormulas(f"{formula}, weak fairness: SPIN {_verdict(violated)}, Porcini {_verdict(found)}")


def _verdicts(model: porcini.Model, name: str, states: int) -> Iterator[tuple[str, bool]]:
    for how, options in FORMULAS.items():
        report = porcini.check(model, ltl=name, options=options, limits=_limits(states))
        if report.verdict != "unknown":
            yield how, report.verdict == "violated"


def _yes(found: bool) -> str:
    return "yes" if found else "no"


def _verdict(violated: bool) -> str:
    return "violated" if violated else "holds"
