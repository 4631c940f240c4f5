"""Every complete engine against `exhaustive`, on generated programs whose guards come and go."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

import helpers
import porcini
from helpers import Collecting, all_runs, class_of, semantic_saves_runs_only, system_of
from porcini.core.systems import Program
from porcini.core.traces import count_context_switches
from porcini.engines.catalogue import ENGINES, Options, engines_by_rank
from strategies import PROGRAMS, guard_programs, programs

MANY = settings(max_examples=PROGRAMS // 4, deadline=None, suppress_health_check=list(HealthCheck))
"""`make conformance` asks all engines about thousands of wider programs, with a judge beside them."""
MOST = 500
COMPLETE = [name for name, engine in engines_by_rank() if engine.complete and "actors" not in engine.needs]
REDUCED = [name for name in COMPLETE if name != "exhaustive"]


def engines_agree(source: str) -> None:
    helpers.engines_agree(system_of(source), REDUCED, MOST)


@MANY
@given(programs(processes=3, events=8))
def test_engines_agree_on_the_whole_language(source: str) -> None:
    engines_agree(source)


@MANY
@given(guard_programs())
def test_engines_agree_where_guards_come_and_go(source: str) -> None:
    engines_agree(source)


@MANY
@given(guard_programs(processes=4, steps=2))
def test_engines_agree_with_more_processes(source: str) -> None:
    engines_agree(source)


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(guard_programs())
def test_walks_see_only_what_there_is(source: str) -> None:
    system = system_of(source)
    runs = all_runs(system, MOST)
    if runs is None:
        return
    classes = {class_of(trace) for trace, _, _ in runs}
    for name in ("random", "pct"):
        stats = Collecting(porcini.Limits(max_executions=20))
        stats.explore(lambda stats, name=name: ENGINES[name](system, stats, Options(seed=1)))
        assert {class_of(trace) for trace, _, _ in stats.runs} <= classes
        assert stats.stopped == "limit" and stats.counts.executions == 20


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(guard_programs())
def test_programs_that_cannot_be_forked_are_replayed(source: str) -> None:
    """The same classes when only `start`, `actions` and `step` may be used."""
    system = system_of(source)
    runs = all_runs(system, 60)
    if runs is None:
        return
    for name in (name for name in COMPLETE if name != "fagiani"):
        stats = Collecting()
        ENGINES[name](ReplayOnly(system), stats, Options())
        assert {class_of(t) for t, _, _ in stats.runs} == {class_of(t) for t, _, _ in runs}


class ReplayOnly(Program):
    def __init__(self, system) -> None:
        self.system = system

    def start(self) -> ReplayOnlyRun:
        return ReplayOnlyRun(self.system.start())


class ReplayOnlyRun:
    def __init__(self, run) -> None:
        self.actions, self.step, self.final = run.actions, run.step, run.final


@pytest.mark.parametrize("bound", [0, 1, 2])
def test_a_preemption_bound_finds_less_and_proves_nothing(bound: int) -> None:
    source = "x |-> 0, " + "; ".join(["True |> spawn({r |-> 0, True |> r := x; True |> x := r + 1})"] * 3)
    report = porcini.explore(porcini.loads(source), engine="source", options=Options(preemptions=bound))
    full = porcini.explore(porcini.loads(source), engine="source")
    assert report.counts.executions < full.counts.executions == 36
    assert report.limit == f"the bound of {bound} preemptions"
    assert report.verdict == ("unknown" if bound == 0 else "violated")


@settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(guard_programs())
def test_semantic_independence_loses_no_outcome_and_saves_runs(source: str) -> None:
    semantic_saves_runs_only(porcini.loads(source), MOST)


@settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
@given(guard_programs())
def test_counterexamples_are_close_and_come_back(source: str) -> None:
    """Shrinking keeps how both runs end, never adds context switches, and is deterministic."""
    model = porcini.loads(source)
    report = porcini.explore(model)
    if report.counterexample is None:
        return
    assert porcini.explore(model).counterexample.schedules == report.counterexample.schedules
    raw = 0
    for run in report.counterexample.runs:
        again = porcini.replay(model, porcini.show_schedule(run.schedule)).outcomes[0]
        assert (again.kind, again.state) == (run.kind, run.state)
        raw += next(
            count_context_switches(o.schedule)
            for o in report.outcomes
            if (o.kind, o.state) == (run.kind, run.state)
        )
    if len(report.outcomes) <= 20:  # of more, only some are put into long turns for reading
        assert sum(count_context_switches(run.schedule) for run in report.counterexample.runs) <= raw
