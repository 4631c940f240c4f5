"""The laws on generated Promela models: engines against `exhaustive`, reductions against none, replays, swaps."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import get_args

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import helpers
import porcini
from helpers import all_runs
from porcini import Limits
from porcini.core.events import Action, Move, Schedule
from porcini.core.traces import Trace, independent
from porcini.engines.catalogue import Options
from porcini.engines.options import Ample, Order
from porcini.ir.packed.runs import PackedRun
from porcini.ir.packed.view import PackedView
from promela_strategies import promela_models
from strategies import PROGRAMS

SOME = settings(max_examples=PROGRAMS // 16, deadline=None, suppress_health_check=list(HealthCheck))
MOST = 200
MOST_STATES = Limits(max_states=400)
ENGINES = ("optimal", "source", "dpor", "sleep")
PLAIN = Options(reduction="none", optimise=False)
REDUCTIONS = [
    Options(reduction="none"),
    *(replace(PLAIN, reduction="ample", ample=ample) for ample in get_args(Ample)),
    replace(PLAIN, reduction="stubborn"),
    Options(reduction="stubborn"),
]

ENDING = promela_models(statements=9, endless=False)
ENDLESS = promela_models(statements=14)
FAILED = ("assertion", "error")


def kinds_and_states(outcomes) -> set:
    return {(outcome.kind, str(dict(outcome.state))) for outcome in outcomes}


@SOME
@given(ENDING)
def test_engines_agree_on_outcomes_and_classes(source: str) -> None:
    """(a) every engine against every interleaving; the graph of states ends in the same states."""
    model = porcini.loads(source, "pml")
    found = helpers.engines_agree(model.system(), ENGINES, MOST)
    if found is not None:
        report = porcini.explore(model, engine="graph", options=PLAIN)
        assert kinds_and_states(report.outcomes) == found[1]


@SOME
@given(ENDLESS)
def test_reductions_lose_no_end_and_no_failure(source: str) -> None:
    """(b) the same states in which nothing can move, and something fails if it fails in the whole graph."""
    reductions_agree(porcini.loads(source, "pml"))


@SOME
@given(promela_models(statements=14, rendezvous=False, atomic=False, timeouts=False, remote=False))
def test_reductions_of_plain_models(source: str) -> None:
    """(b) where nothing hinders a reduction."""
    reductions_agree(porcini.loads(source, "pml"))


def reductions_agree(model: porcini.Model) -> None:
    whole = porcini.explore(model, engine="graph", options=PLAIN, limits=MOST_STATES)
    if whole.stopped == "limit":
        return
    wanted = ends(whole)
    for options, search in product(REDUCTIONS, get_args(Order)):
        options = replace(options, search=search)
        report = porcini.explore(model, engine="graph", options=options)
        assert ends(report) == wanted, options
        assert report.counts.states <= whole.counts.states, options


def ends(report: porcini.Report) -> tuple[set, bool]:
    fine = [outcome for outcome in report.outcomes if outcome.kind not in FAILED]
    return kinds_and_states(fine), len(fine) < len(report.outcomes)


@SOME
@given(ENDLESS, st.sampled_from([PLAIN, Options()]))
def test_outcomes_come_back(source: str, options: Options) -> None:
    """(c) through text and back, and the same end."""
    model = porcini.loads(source, "pml")
    report = porcini.explore(model, engine="graph", options=options, limits=MOST_STATES)
    for outcome in report.outcomes[:5]:
        text = porcini.show_schedule(outcome.schedule)
        assert porcini.parse_schedule(text) == outcome.schedule
        again = porcini.replay(model, text).outcomes[0]
        assert (again.kind, again.state) == (outcome.kind, outcome.state)


@SOME
@given(ENDING, st.randoms(use_true_random=False))
def test_footprints_and_swaps(source: str, random) -> None:
    """(d) events stay within what their actions announce; (e) independent neighbours commute."""
    system = porcini.loads(source, "pml").system()
    assert isinstance(system, PackedView)
    runs = all_runs(system, MOST)
    for trace, _, _ in random.sample(runs, min(3, len(runs))) if runs else ():
        footprints_hold(system, trace)
        swaps_agree(system, trace)


def footprints_hold(system: PackedView, trace: Trace) -> None:
    run = system.start()
    for event in trace:
        before, action = system.observe(run.state), taken(run, event.move)
        done = run.step(action)
        assert done.footprint.within(action.footprint)
        if not done.footprint.opaque:
            written = {place.partition("[")[0] for place in done.footprint.writes}
            now = system.observe(run.state)
            assert {name.partition("[")[0] for name in before if before[name] != now[name]} <= written


def swaps_agree(system: PackedView, trace: Trace) -> None:
    """By runs, since only they know which process has a number that was used before."""
    end = followed(system, trace.schedule)
    for i in range(len(trace) - 1):
        if independent(trace[i], trace[i + 1]):
            swapped = [*trace[:i], trace[i + 1], trace[i], *trace[i + 2 :]]
            assert followed(system, Trace(swapped).schedule) == end


def followed(system: PackedView, schedule: Schedule) -> tuple[int, list[str]]:
    """The state after a schedule; every move must be possible."""
    run = system.start()
    labels = [str(run.step(taken(run, move)).label) for move in schedule]
    return run.state, sorted(labels)


def taken(run: PackedRun, move: Move) -> Action:
    (action,) = [a for a in run.actions() if a.move == move]
    assert action.enabled, f"{move} is blocked"
    return action
