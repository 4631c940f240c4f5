"""The laws of the design on generated GCL programs. Each test checks at least 1,100 programs."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from helpers import all_runs, class_of, followed, system_of
from porcini.core.footprints import footprint
from porcini.core.traces import Trace, independent, normal_form
from porcini.ir.analysis.footprint import cell
from reference import Reference
from strategies import PROGRAMS, programs

MANY = settings(max_examples=PROGRAMS // 2, deadline=None, suppress_health_check=list(HealthCheck))
MOST = 300


def outcomes(report: porcini.Report) -> set:
    return {(o.kind, tuple(o.state.items())) for o in report.outcomes}


@settings(MANY, max_examples=PROGRAMS // 8)  # `make conformance` has another judge for thousands
@given(programs())
def test_outcomes_equal_the_reference_and_counterexamples_replay(source: str) -> None:
    """(a) against P0's rules; (g) through text and back, failing the same way."""
    model = porcini.loads(source)
    report = porcini.explore(model, limits=porcini.Limits(max_executions=MOST))
    if report.stopped == "limit":
        assert report.verdict in ("violated", "unknown")
        return
    wanted = Reference(source).outcomes(10 * MOST)
    assert wanted is None or outcomes(report) == wanted
    for outcome in report.outcomes:
        text = porcini.show_schedule(outcome.schedule)
        assert porcini.parse_schedule(text) == outcome.schedule
        again = porcini.replay(model, text)
        assert [(o.kind, o.state) for o in again.outcomes] == [(outcome.kind, outcome.state)]
    assert (report.verdict == "holds") == (len(report.outcomes) == 1 and report.outcomes[0].kind == "terminated")
    if report.counterexample and len(report.counterexample.runs) == 2:
        a, b = report.counterexample.runs
        assert report.counterexample.differs and (a.kind, a.state) != (b.kind, b.state)


@MANY
@given(programs(), st.randoms(use_true_random=False))
def test_classes_swaps_and_footprints(source: str, random) -> None:
    """(b) keys and normal forms name the same classes, each with one final state; (e) swaps; (f) footprints."""
    system = system_of(source)
    runs = all_runs(system, MOST)
    if runs is None:
        return
    by_key = {key: normal_form(trace) for trace, _, key in runs}
    ends: dict = {}
    for trace, final, key in runs:
        assert by_key[key] == normal_form(trace)
        assert ends.setdefault(key, final) == final, "two final states in one class"
    assert len(set(by_key.values())) == len(by_key)
    trace = random.choice(runs)[0]
    swaps_agree(system, trace)
    footprints_hold(system, trace)


def swaps_agree(system, trace: Trace) -> None:
    for i in range(len(trace) - 1):
        if independent(trace[i], trace[i + 1]):
            schedule = trace.schedule
            swapped = (*schedule[:i], schedule[i + 1], schedule[i], *schedule[i + 2 :])
            other, state = followed(system, swapped)
            assert state == followed(system, schedule)[1]
            assert [e.label for e in other] == [
                e.label for e in (*trace[:i], trace[i + 1], trace[i], *trace[i + 2 :])
            ]


def footprints_hold(system, trace: Trace) -> None:
    state = system.initial()
    for event in trace:
        (action,) = [a for a in system.actions(state) if a.move == event.move]
        after, done = system.fire(state, action)
        assert done.footprint.within(action.footprint)
        assert footprint(writes=changed(system.observe(state), system.observe(after))).within(done.footprint)
        state = after


def changed(before: dict, after: dict) -> list[str]:
    names = []
    for name, old in before.items():
        if isinstance(old, tuple):
            names += [cell(name, i) for i, (u, v) in enumerate(zip(old, after[name], strict=True)) if u != v]
        elif old != after[name]:
            names.append(name)
    return names


@MANY
@given(programs(), st.integers(0, 3))
def test_permute_finds_exactly_the_classes_with_the_same_steps(source: str, seed: int) -> None:
    """P0, Theorem 15 and the claim about I: sound (each replays to the same labels and state) and complete."""
    model = porcini.loads(source)
    system = model.system()
    report = porcini.permute(model, seed=seed, limits=porcini.Limits(max_executions=MOST))
    runs = all_runs(system, MOST)
    if runs is None or report.stopped == "limit":
        return
    assert report.traces
    found = set()
    for entry in report.traces:
        trace, state = followed(system, entry.schedule)
        assert entry.labels == tuple(str(e.label) for e in trace)
        assert entry.state == system.observe(state)
        done = not any(action.enabled for action in system.actions(state))
        assert (entry.kind != "unfinished") == done
        if done:
            assert entry.kind == system.final(state).kind
            found.add(class_of(trace))
    assert len(report.traces) == len({class_of(followed(system, e.schedule)[0]) for e in report.traces})
    recorded = steps_of_each(followed(system, report.traces[0].schedule)[0])
    assert found == {class_of(t) for t, _, _ in runs if steps_of_each(t) == recorded}


def steps_of_each(trace: Trace) -> dict:
    steps: dict = {}
    for event in trace:
        steps.setdefault(event.pid, []).append(str(event.label))
    return steps


@MANY
@given(programs(), st.integers(0, 3))
def test_seeds_lead_to_classes_not_listed(source: str, seed: int) -> None:
    """P0, section 8: each seed is executable, and what runs after it is no permutation of the recorded run."""
    model = porcini.loads(source)
    report = porcini.permute(model, seed=seed, seeds=True, limits=porcini.Limits(max_executions=MOST))
    if report.stopped == "limit":
        return
    system = model.system()
    recorded = steps_of_each(followed(system, report.traces[0].schedule)[0])
    for schedule in report.seeds:
        again = porcini.run(model, schedule=schedule)
        assert steps_of_each(again.outcomes[0].trace) != recorded
    if not report.seeds and (runs := all_runs(system, MOST)) is not None:
        assert all(steps_of_each(trace) == recorded for trace, _, _ in runs)
