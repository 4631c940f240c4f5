"""Native code finds exactly the states, the steps and the ends that the reference finds, whatever a model has."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path
from random import Random
from typing import Any

import pytest

import porcini
from conformance.promela.everything import generate
from porcini.core.errors import InputError, InternalError
from porcini.engines.graph import Graph
from porcini.engines.machines import NotForNativeCode
from porcini.engines.native_graph import NativeGraph
from porcini.engines.native_relations import NativeRelations
from porcini.engines.options import Options
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from porcini.ir.packed.graph import PackedGraph
from porcini.native import compiling, library
from porcini.native.library import Ask
from strategies import PROGRAMS

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("gcc", "clang", "cc", "tcc"))), reason="there is no C compiler"
)
MOST = 20_000
MODELS = Path(__file__).parents[2] / "benchmarks" / "promela"
BENCHMARKS = {
    "phils_vars": "N=5",
    "phils_deadlock": "N=6",
    "phils_chan": "N=4",
    "peterson": "N=3",
    "bakery": "N=2",
    "sieve": "MAX=12",
    "leader": "N=4",
    "token_ring": "N=4",
    "sliding_window": "W=2",
    "coherence": "N=3",
    "readers_writers": "N=6",
    "handshake": "N=3",
}


def searched(
    model: porcini.Model, hash_mask: int | None, workers: int = 1
) -> tuple[set[int], Any, set[Any]] | None:
    """The states, the counts and the ends of a graph; by native code, if there is a mask for its hashes."""
    system = model.system(optimise=False)
    graph = system.state_graph()
    assert isinstance(graph, PackedGraph)
    stats = SearchStats(porcini.Limits(max_states=MOST))
    search: Any = (
        Graph(graph, None, stats)
        if hash_mask is None
        else NativeGraph(graph, stats, hash_mask=hash_mask, workers=workers)
    )
    stats.explore(lambda stats: search.explore("bfs"))
    if stats.stopped == "limit":
        return None
    states = set(search.found) if hash_mask is None else set(search.states())
    ends = {(outcome.kind, str(sorted(outcome.state.items()))) for outcome in stats.outcomes}
    return states, (stats.counts.states, stats.counts.events), ends


def same_in_native_code(model: porcini.Model, hash_mask: int = library.ALL_BITS) -> None:
    wanted = searched(model, None)
    if wanted is not None:
        assert searched(model, hash_mask) == wanted


def reduced(model: porcini.Model, workers: int, optimise: bool = True) -> tuple[Any, ...] | None:
    """What a search by stubborn sets finds: by the reference, if there are no workers; None where that is too
    much, or nothing for native code."""
    system = model.system(optimise=optimise)
    graph: Any = system.state_graph()
    stats = SearchStats(porcini.Limits(max_states=MOST))
    sets, careful = StubbornSets(graph), system.may_fail
    search: Any = (
        NativeGraph(graph, stats, sets, avoid_ignoring=careful, workers=workers)
        if workers
        else Graph(graph, sets, stats, avoid_ignoring=careful)
    )
    try:
        stats.explore(lambda stats: search.explore("bfs"))
    except NotForNativeCode:
        return None
    if stats.stopped == "limit":
        return None
    ends = {(outcome.kind, str(sorted(outcome.state.items()))) for outcome in stats.outcomes}
    return stats.counts.states if workers < 2 else None, ends, sorted(graph.failures)


def same_when_reduced(model: porcini.Model, optimise: bool = True) -> bool:
    """The same stubborn sets, so that there are as many states; with two workers, which do without the order in
    which states are found, the same ends and failures."""
    wanted = reduced(model, 0, optimise)
    if wanted is None:
        return False
    for workers in (1, 2):
        found = reduced(model, workers, optimise)
        if found is None:
            return False
        assert found[1:] == wanted[1:], workers
        assert workers > 1 or found[0] == wanted[0]
    return True


@pytest.mark.parametrize("name", BENCHMARKS)
def test_reduced_benchmarks(name: str) -> None:
    key, _, value = BENCHMARKS[name].partition("=")
    assert same_when_reduced(porcini.load(MODELS / f"{name}.pml", defines={key: value}))


def test_reduced_models() -> None:
    compared = 0
    for seed in range(PROGRAMS // 2):
        try:
            model = porcini.loads(generate(Random(seed)).text(), "pml")
            compared += same_when_reduced(model, optimise=bool(seed % 2))
        except InputError:
            continue
    assert compared > PROGRAMS // 8


def test_a_mutant_that_forgets_conflicts(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = NativeRelations._value
    monkeypatch.setattr(
        NativeRelations,
        "_value",
        lambda self, asked, about, state: 0 if asked == Ask.CONFLICTS else answer(self, asked, about, state),
    )
    with pytest.raises(AssertionError):
        same_when_reduced(porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "5"}))


GOES_ROUND = """byte i; active proctype P() { byte k; do :: k = 1 - k od }
active proctype Q() { i = 1; assert(i == 0) }"""


def test_several_workers_ignore_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """P goes round for ever and concerns nobody: a cycle of its steps must not leave out what Q does."""
    model = porcini.loads(GOES_ROUND, "pml")
    found = reduced(model, 2, optimise=False)
    assert found is not None and found[2] == ["assertion"]
    monkeypatch.setattr("porcini.ir.packed.relations._leads_forward", lambda stands, run: True)
    mutant = reduced(model, 2, optimise=False)
    assert mutant is not None and mutant[2] == []


@pytest.mark.parametrize("name", ["phils_vars", "sieve", "leader", "coherence", "handshake"])
def test_several_workers(name: str) -> None:
    """Without a reduction, nothing depends on how many they are."""
    key, _, value = BENCHMARKS[name].partition("=")
    model = porcini.load(MODELS / f"{name}.pml", defines={key: value})
    assert searched(model, library.ALL_BITS, workers=3) == searched(model, None)


def test_a_limit_of_memory() -> None:
    model = porcini.load(MODELS / "phils_vars.pml", defines={"N": "10"})
    for workers in (1, 2):
        options = Options(reduction="none", machine="native", max_memory=1 << 20, workers=workers)
        report = porcini.explore(model, engine="graph", properties=("deadlock-free",), options=options)
        assert (report.verdict, report.stopped) == ("unknown", "limit") and report.counts.states > 10_000
        assert report.limit == "the limit of 0.0 GB of memory"


def test_states_that_become_wider() -> None:
    """States of one word, of one that is full, of two, and of more: each bit is met in several orders."""
    bits = 140
    text = f"""bit a[{bits}]; byte x;
    active proctype P() {{ byte i; do :: i < {bits} -> a[i] = 1; i++ :: else -> break od }}
    active [2] proctype Q() {{ x++; x--; x++ }}"""
    model = porcini.loads(text, "pml")
    same_in_native_code(model)
    same_in_native_code(model, 0xF)


@pytest.mark.parametrize("name", BENCHMARKS)
def test_benchmarks(name: str) -> None:
    key, _, value = BENCHMARKS[name].partition("=")
    same_in_native_code(porcini.load(MODELS / f"{name}.pml", defines={key: value}))


@pytest.mark.parametrize("first", range(0, PROGRAMS // 3, 20))
def test_generated_models(first: int) -> None:
    for seed in range(first, first + 20):
        text = generate(Random(seed)).text()
        try:
            model = porcini.loads(text, "pml")
        except InputError:
            continue
        same_in_native_code(model)


@pytest.mark.parametrize("mask", [0, 0xF, 0xF << 60])
def test_states_are_compared_not_only_their_hashes(mask: int) -> None:
    for name, size in (("phils_vars", "N=4"), ("handshake", "N=2"), ("leader", "N=3")):
        key, _, value = size.partition("=")
        same_in_native_code(porcini.load(MODELS / f"{name}.pml", defines={key: value}), mask)


BITS_THAT_CHANGE_LATE = """
int late; byte n; chan c = [2] of { byte };
proctype Child(byte k) { n = k; late = late * 2 + k }
active proctype P() { do :: late < 5000 -> late++ :: late >= 5000 -> break od; run Child(7); c!1 }
active proctype Q() { timeout -> assert(n == 7); late = -1 }
"""


def test_bits_that_change_late(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first states do not show all bits that change: then tables are filled again."""
    monkeypatch.setattr("porcini.engines.native_graph.FEW_STATES", 1_000)
    model = porcini.loads(BITS_THAT_CHANGE_LATE, "pml")
    plain = porcini.check(model, options=Options(reduction="none", machine="python"))
    native = porcini.check(model, options=Options(reduction="none", machine="native"))
    assert (plain.machine, native.machine) == ("python", "native")
    assert (native.verdict, native.counts.states) == (plain.verdict, plain.counts.states)
    assert native.counts.states > 5_000


def test_trails_are_replayed_and_shortest() -> None:
    model = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "7"})
    options = Options(reduction="none", machine="native", search="bfs")
    (outcome,) = porcini.check(model, options=options).outcomes
    assert porcini.replay(model, outcome.schedule).outcomes[0].kind == "deadlock"
    (other,) = porcini.check(model, options=Options(reduction="none", machine="python", search="bfs")).outcomes
    assert len(outcome.schedule) == len(other.schedule)


FAILS_EARLY = """
byte a, b, c; active proctype P() { do :: a < 200 -> a++ :: b < 200 -> b++ :: c < 200 -> c++ od }
active proctype Q() { a == 3 && b == 3; assert(c != 2) }
"""


def test_a_failure_that_the_reference_saw_first() -> None:
    """It is reported before native code has stored the state in which it happens."""
    model = porcini.loads(FAILS_EARLY, "pml")
    report = porcini.check(model, first=True, options=Options(reduction="none", machine="native"))
    assert (report.machine, report.verdict) == ("native", "violated")
    (outcome,) = [outcome for outcome in report.outcomes if outcome.kind == "assertion"]
    assert len(outcome.schedule) == 2 * (3 + 3 + 2) + 2  # of P a test and a count each, of Q two


def test_mutant_that_does_not_look_who_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    key, _, value = BENCHMARKS["sieve"].partition("=")
    model = porcini.load(MODELS / "sieve.pml", defines={key: value})
    monkeypatch.setattr("porcini.engines.native_tables.POPULATION", 0)
    monkeypatch.setattr("porcini.ir.packed.system.PackedSystem.presence_bits", lambda self, s: 0)
    with pytest.raises((AssertionError, InternalError, KeyError)):
        same_in_native_code(model)


def test_mutant_that_does_not_look_at_what_moves_depend_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model = porcini.load(MODELS / "peterson.pml", defines={"N": "2"})
    monkeypatch.setattr("porcini.ir.packed.space.Space.mask_of", lambda self, s, unit: unit.points)
    with pytest.raises((AssertionError, InternalError, KeyError)):
        same_in_native_code(model)


def test_small_graphs_are_left_to_the_reference() -> None:
    small = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "4"})
    large = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "9"})
    assert porcini.check(small, options=Options(reduction="none")).machine == "python"
    assert porcini.check(large, options=Options(reduction="none")).machine == "native"


# Where it is compiled


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "porcini"


def test_what_was_compiled_is_kept(cache: Path) -> None:
    first = compiling.compiled_runtime()
    made = first.stat().st_mtime_ns
    assert first.parent == cache and stat.S_IMODE(cache.stat().st_mode) == 0o700
    assert compiling.compiled_runtime() == first and first.stat().st_mtime_ns == made
    assert [each.name for each in cache.iterdir()] == [first.name]


def test_what_others_could_have_written_is_not_loaded(cache: Path, tmp_path: Path) -> None:
    """Whatever it is that is compiled."""
    source = tmp_path / "small.c"
    source.write_text("int one(void) { return 1; }\n")

    def compiled() -> Path:
        return compiling.compile_library("small", source, [source])

    first = compiled()
    assert compiled() == first and first.parent == cache
    first.chmod(0o777)
    first.write_bytes(b"something else")
    again = compiled()
    assert again.read_bytes() != b"something else" and stat.S_IMODE(again.stat().st_mode) == 0o700
    cache.chmod(0o777)
    assert compiled().parent != cache


@pytest.mark.skipif(os.getuid() == 0, reason="root may write anywhere")
def test_a_folder_that_cannot_be_written(cache: Path) -> None:
    cache.parent.chmod(0o500)
    assert compiling.compiled_runtime().exists()


def test_a_compiler_that_fails_or_is_missing(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no >&2\nexit 1\n")
    broken.chmod(0o700)
    for compiler, message in (
        (str(broken), "does not compile the search: no"),
        ("nothing", "no compiler `nothing`"),
    ):
        monkeypatch.setenv("CC", compiler)
        with pytest.raises(compiling.NoCompiler, match=message):
            compiling.compiled_runtime()
    model = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "9"})
    library.load_library.cache_clear()
    report = porcini.check(model, options=Options(reduction="none", machine="native"))
    assert report.machine == "python" and report.verdict == "violated"
    assert any("the reference took the steps" in note for note in report.notes)
