"""The three questions of `explore`, answered from the outcomes of a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import get_args

from porcini.core.events import Schedule
from porcini.core.reports import Counterexample, Cycles, Outcome, PropertyName, Verdict, differences
from porcini.core.traces import common_prefix, count_context_switches
from porcini.properties.shrink import reorder_in_long_turns

EXPLORED: tuple[PropertyName, ...] = ("deterministic", "deadlock-free", "failure-free")
_BAD_KINDS = {"deadlock-free": ("deadlock",), "failure-free": ("assertion", "error")}
_MOST_COMPARED = 20
assert set(EXPLORED) < set(get_args(PropertyName))


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked: one property, several in order, or the default ones; or a formula instead."""

    property: PropertyName | None = None
    properties: tuple[PropertyName, ...] = ()
    deterministic: bool = False
    """For real code: is `deterministic` one of the default properties?"""
    first: bool = False
    """Is one violation enough?"""
    ltl: str | None = None
    formula: str | None = None
    """The name of one of the model's own formulas, to be checked alone."""
    claim: str | Path | None = None
    """The file with the model's never claim, which is to be checked alone."""
    pattern: str | None = None
    """A pattern of states to search for instead."""
    cycles: Cycles | None = None
    """The kind of infinite runs that labels describe to look for instead."""


def counterexample(name: PropertyName, outcomes: Sequence[Outcome]) -> Counterexample | None:
    """Runs that violate a property, or None."""
    if name == "deterministic":
        return closest_pair(outcomes) if len(outcomes) > 1 else None
    bad = [outcome for outcome in outcomes if outcome.kind in _BAD_KINDS[name]]
    if not bad:
        return None
    return Counterexample((min(bad, key=_simplicity),), ())


def first_violated(
    wanted: Sequence[PropertyName], outcomes: Sequence[Outcome]
) -> tuple[PropertyName, Counterexample] | None:
    """The first of some properties that is violated, with its counterexample."""
    for name in wanted:
        found = counterexample(name, outcomes)
        if found is not None:
            return name, found
    return None


def find_inequivalent(runs: Sequence[Outcome]) -> Counterexample | None:
    """Two runs that are not equivalent to each other: two that end differently, if there are any."""
    if len(runs) < 2:
        return None
    ends = {(run.kind, *run.state.items()): run for run in reversed(runs)}
    return closest_pair(tuple(ends.values())) if len(ends) > 1 else Counterexample((runs[0], runs[1]), ())


def verdict(violated: bool, exhausted: bool) -> Verdict:
    """A violation stays one, whatever stopped the search; `holds` needs an exhaustive search."""
    if violated:
        return "violated"
    return "holds" if exhausted else "unknown"


def closest_pair(outcomes: Sequence[Outcome]) -> Counterexample:
    """Two outcomes that differ: the pair with the fewest context switches, and of these the one that differs
    last."""
    simplest = sorted(outcomes, key=_simplicity)[:_MOST_COMPARED]
    ordered = sorted(map(reorder_in_long_turns, simplest), key=_simplicity)
    fewest, second = (count_context_switches(outcome.schedule) for outcome in ordered[:2])
    simple = [o for o in ordered if count_context_switches(o.schedule) <= second]
    pairs = combinations(simple, 2) if fewest == second else ((simple[0], o) for o in simple[1:])
    pair = min(
        pairs,
        key=lambda pair: (
            -common_prefix(pair[0].schedule, pair[1].schedule),
            len(pair[0].trace) + len(pair[1].trace),
        ),
    )
    return Counterexample(pair, differences(*pair))


def _simplicity(outcome: Outcome) -> tuple[int, int, Schedule]:
    return count_context_switches(outcome.schedule), len(outcome.trace), outcome.schedule
