"""A bitstate search: in a large table it sees what an exact search sees, in a small one less, and says how much.
What it finds can be replayed, and it never says that something holds."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

import porcini
from conformance.promela.everything import generate
from porcini.core.errors import InputError
from porcini.engines.graph import Graph
from porcini.engines.machines import NotForNativeCode
from porcini.engines.native_bitstate import NativeBitstate
from porcini.engines.options import Options
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from strategies import PROGRAMS

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("gcc", "clang", "cc", "tcc"))), reason="there is no C compiler"
)
MODELS = Path(__file__).parents[2] / "benchmarks" / "promela"
LARGE = 1 << 26


def checked(name: str, size: int, **options: Any) -> porcini.Report:
    model, _, value = name.partition(" ")
    loaded = porcini.load(MODELS / f"{model}.pml", defines=dict([value.split("=")]))  # type: ignore[list-item]
    return porcini.check(loaded, options=Options(bitstate=size, **options))


def found(model: porcini.Model, *, reduces: bool, size: int | None) -> tuple[Any, ...] | None:
    """What a search finds: by the reference, if there is no size; None where that is too much."""
    system = model.system()
    graph: Any = system.state_graph()
    stats = SearchStats(porcini.Limits(max_states=5_000))
    sets, careful = StubbornSets(graph) if reduces else None, system.may_fail
    search: Any = (
        Graph(graph, sets, stats, avoid_ignoring=careful)
        if size is None
        else NativeBitstate(graph, stats, sets, size=size, avoid_ignoring=careful)
    )
    try:
        stats.explore(lambda stats: search.explore("dfs"))
    except NotForNativeCode:
        return None
    if size is None and stats.stopped == "limit":
        return None
    ends = {(outcome.kind, str(sorted(outcome.state.items()))) for outcome in stats.outcomes}
    return ends, sorted(graph.failures), None if reduces else (stats.counts.states, stats.counts.events)


@pytest.mark.parametrize("reduces", [False, True])
def test_a_large_table_sees_everything(reduces: bool) -> None:
    compared = 0
    for seed in range(PROGRAMS // 3):
        try:
            model = porcini.loads(generate(Random(seed)).text(), "pml")
        except InputError:
            continue
        wanted = found(model, reduces=reduces, size=None)
        if wanted is None or (seen := found(model, reduces=reduces, size=LARGE)) is None:
            continue
        assert seen == wanted, seed
        compared += 1
    assert compared > PROGRAMS // 8


@pytest.mark.parametrize("name", ["phils_vars N=6", "leader N=4", "sieve MAX=12", "coherence N=3"])
def test_benchmarks(name: str) -> None:
    exact = checked(name, LARGE, reduction="none")
    model, _, value = name.partition(" ")
    plain = porcini.load(MODELS / f"{model}.pml", defines=dict([value.split("=")]))  # type: ignore[list-item]
    wanted = porcini.explore(plain, engine="graph", options=Options(reduction="none", machine="python"))
    assert (exact.counts.states, exact.counts.events) == (wanted.counts.states, wanted.counts.events)


def test_the_estimate_is_close_to_what_was_missed() -> None:
    states = 79_947  # of an exact search, as observed
    for size, most in ((1 << 14, 0.9), (1 << 16, 0.995), (1 << 18, 1.0)):
        report = checked("phils_vars N=9", size, reduction="none")
        seen = report.bitstate
        assert seen is not None and report.verdict == "unknown"
        assert seen.states == report.counts.states < states * most + 1
        missed = states - seen.states
        assert abs(missed - seen.missed) < 0.25 * states if size == 1 << 14 else 0.02 * states
        assert 0 < seen.estimate <= 1 and seen.hash_factor == 8 * size / seen.states


def test_it_never_says_that_something_holds() -> None:
    report = checked("phils_vars N=4", LARGE)
    assert (report.verdict, report.stopped, report.machine) == ("unknown", "limit", "native")
    assert "a bitstate search may have missed others" in str(report)
    assert "not checked by a bitstate search: neighbours, violated_first_eats" in report.notes
    assert porcini.check(MODELS / "phils_vars.pml", options=Options(bitstate=LARGE)).bitstate is not None


@pytest.mark.parametrize("reduction", ["none", "stubborn"])
def test_what_it_finds_can_be_replayed(reduction: Any) -> None:
    model = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "9"})
    report = porcini.check(model, options=Options(bitstate=1 << 16, reduction=reduction))
    (outcome,) = (each for each in report.outcomes if each.kind == "deadlock")
    assert report.verdict == "violated"
    assert porcini.replay(model, outcome.schedule).outcomes[0].kind == "deadlock"


LATE = """byte n; int m;
active proctype P() { do :: n < 200 -> n++ :: n > 0 -> n-- od }
active proctype Q() { do :: m < 300 -> m++ :: m == 300 && n == 199 -> assert(false) od }"""


def test_a_failure_that_the_first_states_do_not_have() -> None:
    model = porcini.loads(LATE, "pml")
    report = porcini.check(model, first=True, options=Options(bitstate=LARGE, reduction="none"))
    (outcome,) = (each for each in report.outcomes if each.kind == "assertion")
    assert porcini.replay(model, outcome.schedule).outcomes[0].kind == "assertion"
    assert len(outcome.schedule) < 5_000  # in depth it is found after many thousand steps


GOES_ROUND = """byte i; active proctype P() { byte k; do :: k = 1 - k od }
active proctype Q() { i = 1; assert(i == 0) }"""


def test_a_mutant_that_ignores_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    model = porcini.loads(GOES_ROUND, "pml")
    options = Options(bitstate=LARGE, optimise=False)
    assert porcini.check(model, options=options).verdict == "violated"
    monkeypatch.setattr("porcini.ir.packed.relations._leads_forward", lambda stands, run: True)
    assert porcini.check(model, options=options).verdict == "unknown"


@pytest.mark.parametrize(
    ("language", "text", "how", "says"),
    [
        ("pml", "active proctype P() { skip }", {"ltl": "<> (1 == 1)"}, "does not check formulas"),
        ("pml", "active proctype P() { skip }", {"options": {"machine": "python"}}, "--machine python"),
        ("pml", "active proctype P() { skip }", {"options": {"machine": "gpu"}}, "--machine gpu"),
        ("pml", "active proctype P() { skip }", {"options": {"search": "bfs"}}, "in depth, not in breadth"),
        ("pml", "active proctype P() { skip }", {"options": {"workers": 2}}, "one worker"),
        ("pml", "active proctype P() { skip }", {"options": {"reduction": "ample"}}, "no ample sets"),
        ("pml", "active proctype P() { skip } never { do :: skip od }", {}, "does not check never claims"),
        ("gcl", "x |-> 0, x < 1 |>* spawn(True |> x := 1)", {}, "programs whose states can be packed"),
    ],
)
def test_where_it_does_not_apply(language: str, text: str, how: dict[str, Any], says: str) -> None:
    options = Options(bitstate=LARGE, **how.pop("options", {}))
    with pytest.raises(InputError, match=says):
        porcini.check(porcini.loads(text, language), options=options, **how)


def test_a_limit_of_memory() -> None:
    report = checked("phils_vars N=9", 1 << 24, max_memory=1 << 20)
    assert (report.verdict, report.limit) == ("unknown", "the limit of 0.0 GB of memory")


def command(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    from porcini.cli import main

    status = main(["check", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    import json

    model = str(MODELS / "phils_vars.pml")
    status, out, _ = command([model, "-D", "N=5", "--bitstate", "16M", "--json"], capsys)
    said = json.loads(out)
    assert status == 3 and said["verdict"] == "unknown"
    assert list(said["bitstate"]) == ["bytes", "hash_factor", "estimated_coverage"]
    assert said["bitstate"]["bytes"] == 1 << 24
    status, _, err = command([model, "--bitstate", "16M", "--acceptance"], capsys)
    assert status == 2 and "does not check formulas, claims or cycles" in err
