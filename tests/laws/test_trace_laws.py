"""Traces: what is read from a file is what was run; reorderings against a brute force on small random traces."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import combinations, permutations
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from conformance.gcl import programs as gcl_programs
from conformance.par import programs as par_programs
from helpers import class_of
from laws.traces_alike import LIMITS, permuted_alike
from porcini.core.formulas import Formula
from porcini.core.traces import Trace, ids_of
from porcini.engines import recording
from porcini.formats.traces import formulas
from porcini.ir.analysis.footprint import Touched
from porcini.ir.symbolic import labels
from porcini.ir.symbolic.formula_text import formula_of
from strategies import PROGRAMS, guard_programs, programs

MANY = settings(max_examples=PROGRAMS // 8, deadline=None, suppress_health_check=list(HealthCheck))
FEW = PROGRAMS // 10
HEADER = {"format": "porcini-trace", "version": 1}


# With formulas ------------------------------------------------------------------------------------------------


@MANY
@given(programs(), st.integers(0, 3))
def test_a_trace_of_gcl_says_all(source: str, seed: int) -> None:
    permuted_alike(porcini.loads(source), seed)


@MANY
@given(guard_programs(), st.integers(0, 3))
def test_where_guards_come_and_go(source: str, seed: int) -> None:
    permuted_alike(porcini.loads(source), seed)


@pytest.mark.parametrize("language, generator", [("gcl", gcl_programs), ("par", par_programs)])
def test_wide_programs(language: str, generator) -> None:
    """Programs of another generator, with inputs."""
    checked = 0
    for number in range(FEW):
        random = Random(number)
        program = generator.generate(random)
        model = porcini.loads(program.text(), language)
        checked += permuted_alike(model, random.randrange(4), dict(program.inputs()))
    assert checked > FEW // 2


SOURCES = [
    "x |-> 0, a |-> [0, 0], True |> spawn(True |> x := 1); True |> spawn(True |> a[x] := 5); True |> a[1] := 7",
    "x |-> 0, y |-> 0, True |> spawn(True |> x := 1); True |> y := 1 / x; True |> y := 2",
    "x |-> 0, a |-> [0, 1], True |> spawn(True |> x := 1); True |> spawn(a[x - 1] == 0 |> x := 2); True |> skip",
    "x |-> 0, y |-> 0, True |> spawn(True |> x := 1); True |> (True |> assert x == 0; True |> y := 1)",
    "x |-> 0, a |-> [0, 1], True |> spawn(True |> x := 1 - x); {i |-> 0, True |> spawn(i == x |> a[i] := 2)}",
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("seed", range(6))
def test_cells_failures_and_locals(source: str, seed: int) -> None:
    assert permuted_alike(porcini.loads(source), seed)


@pytest.mark.parametrize("name", ["spawn", "proc", "assert"])
def test_names_that_gcl_would_not_take(name: str) -> None:
    assert permuted_alike(porcini.loads(f"{name} := 1 || {name} := 2", "par"), 0)


def all_alike() -> None:
    for source in SOURCES:
        for seed in range(6):
            permuted_alike(porcini.loads(source), seed)


def test_forgetting_that_cells_move(monkeypatch) -> None:
    """Then a step touches the cells that it touched when it was recorded."""
    real = formulas._touched
    monkeypatch.setattr(formulas, "_touched", lambda edge: Touched(real(edge).fixed, (), ()))
    with pytest.raises(AssertionError):
        all_alike()


def test_forgetting_the_last_of_what_is_done(monkeypatch) -> None:
    def mutant(label: labels.Label) -> Formula | None:
        found = formula_of(label)
        return replace(found, do=found.do[:-1])

    monkeypatch.setattr(recording, "formula_of", mutant)
    with pytest.raises(porcini.InputError, match=r"by the formulas it is not|cannot happen here"):
        all_alike()


def test_forgetting_the_failure_of_a_guard(monkeypatch) -> None:
    monkeypatch.setattr(formulas, "UNDEFINED", labels.BLOCKED)
    with pytest.raises((AssertionError, porcini.InputError)):
        all_alike()


# Without ------------------------------------------------------------------------------------------------------


@st.composite
def recorded(draw: st.DrawFn) -> list[dict]:
    """A trace of a few processes, some of which are spawned or woken, with a barrier now and then."""
    alive, events, woken = ["0", "1"], [], 0
    for _ in range(draw(st.integers(1, 7))):
        names = st.lists(st.sampled_from("xyz"), max_size=2, unique=True)
        pid = draw(st.sampled_from(alive))
        event = {"process": pid, "label": f"step {len(events)}", "reads": draw(names), "writes": draw(names)}
        kind = draw(st.integers(0, 11))
        others = [other for other in alive if other != pid]
        if kind == 0 and len(alive) < 4:
            event["spawned"] = [f"0.{len(alive)}"]
            alive += event["spawned"]
        elif kind in (1, 2) and others:
            event["woke"] = [draw(st.sampled_from(others))]
            woken += 1
        elif kind == 3:
            event["opaque"] = True
        elif kind == 4:
            event |= {"barrier": True, "reads": [], "writes": []}
        events.append(event)
    return events


def must_precede(events: list[dict]) -> set[tuple[int, int]]:
    """Which event comes before which, whatever the order of conflicts."""
    found: set[tuple[int, int]] = set()
    for j, event in enumerate(events):
        mine = [i for i in range(j) if events[i]["process"] == event["process"]]
        since = mine[-1] if mine else -1
        for i in range(j):
            other, pid = events[i], event["process"]
            waking = i > since and pid in other.get("woke", [])
            barrier = other.get("barrier") or event.get("barrier")
            if i in mine or pid in other.get("spawned", []) or waking or barrier:
                found.add((i, j))
    return found


def conflict(a: dict, b: dict) -> bool:
    if a.get("opaque") or b.get("opaque"):
        return True
    one, two = set(a["writes"]), set(b["writes"])
    return bool(one & (two | set(b["reads"])) or two & set(a["reads"]))


def brute_force(events: list[dict]) -> dict[frozenset, set[tuple[str, ...]]]:
    """All orders there are, by how they order the pairs that conflict."""
    before, numbers = must_precede(events), range(len(events))
    fights = [(i, j) for i, j in combinations(numbers, 2) if conflict(events[i], events[j])]
    classes: dict[frozenset, set[tuple[str, ...]]] = {}
    for order in permutations(numbers):
        at = {event: position for position, event in enumerate(order)}
        if all(at[i] < at[j] for i, j in before):
            turned = frozenset((i, j) for i, j in fights if at[i] > at[j])
            classes.setdefault(turned, set()).add(tuple(events[i]["label"] for i in order))
    return classes


def written(events: list[dict], folder: str, **header: object) -> Path:
    file = Path(folder) / "log.jsonl"
    file.write_text("\n".join(map(json.dumps, [HEADER | header, *events])))
    return file


def reorderings_agree(events: list[dict]) -> int:
    wanted = brute_force(events)
    with TemporaryDirectory() as folder:
        report = porcini.permute_trace(written(events, folder))
    entries = report.traces
    found = [next((turned for turned, orders in wanted.items() if e.labels in orders), None) for e in entries]
    assert None not in found, "an order that cannot be"
    assert len(found) == len(set(found)) == len(wanted)
    assert found[0] == frozenset() and report.trace.exact is False
    assert [entry.kind for entry in entries] == ["terminated"] + ["unknown"] * (len(entries) - 1)
    assert report.verdict == ("holds" if len(wanted) == 1 else "unknown")
    for entry, turned in zip(entries, found, strict=True):
        names = {event["label"]: i for i, event in enumerate(events)}
        ids = dict(zip(porcini_ids(events), names.values(), strict=True))
        pairs = {(ids[str(second)], ids[str(first)]) for first, second in entry.reversed}
        assert pairs <= turned and bool(pairs) == bool(turned)
    return len(wanted)


@MANY
@given(programs(), st.integers(0, 3))
def test_no_executable_permutation_is_lost_without_guards(source: str, seed: int) -> None:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "run.jsonl"
        run = porcini.run(porcini.loads(source), seed=seed, limits=LIMITS, trace=file)
        exact = porcini.permute_trace(file, limits=LIMITS)
        first, *lines = map(json.loads, file.read_text().splitlines())
        plain = [{key: line[key] for key in line.keys() - {"guard", "otherwise", "do"}} for line in lines[:-1]]
        possible = porcini.permute_trace(written(plain, folder, processes=first["processes"]), limits=LIMITS)
    assert exact.trace.exact and possible.trace.exact == (not plain)
    if exact.stopped == possible.stopped == "exhausted" and run.outcomes:
        events = {}
        for event, name in zip(run.outcomes[0].trace, run.outcomes[0].trace.ids(), strict=True):
            events[name] = event

        def classes(report: porcini.Report) -> set:
            return {class_of(Trace(events[name] for name in ids_of(entry.schedule))) for entry in report.traces}

        assert classes(exact) <= classes(possible) and len(classes(possible)) == len(possible.traces)


def porcini_ids(events: list[dict]) -> list[str]:
    seen: dict[str, int] = {}
    names = []
    for event in events:
        index = seen[event["process"]] = seen.get(event["process"], -1) + 1
        names.append(f"{event['process']}#{index}")
    return names


@settings(MANY, max_examples=PROGRAMS // 2)
@given(recorded())
def test_reorderings_are_those_of_a_brute_force(events: list[dict]) -> None:
    reorderings_agree(events)


RACE = [
    {"process": "0", "label": "a", "reads": ["x"], "writes": []},
    {"process": "0", "label": "b", "reads": [], "writes": ["x"]},
    {"process": "1", "label": "c", "reads": ["x"], "writes": []},
    {"process": "1", "label": "d", "reads": [], "writes": ["x"]},
]


def test_a_race() -> None:
    assert reorderings_agree(RACE) == 4


@pytest.mark.parametrize("key", ["woke", "spawned", "barrier"])
def test_what_stands_in_the_way_of_reordering(key: str) -> None:
    """Without it there are two orders."""
    two = [{"process": p, "label": p, "reads": [], "writes": ["x"]} for p in ("0", "1")]
    assert reorderings_agree(two) == 2
    two[0][key] = True if key == "barrier" else ["1"]
    assert reorderings_agree(two) == 1


def test_forgetting_who_was_woken(monkeypatch) -> None:
    monkeypatch.setattr("porcini.engines.reordering._wakers", lambda trace: [[] for _ in trace])
    with pytest.raises(AssertionError):
        test_what_stands_in_the_way_of_reordering("woke")
