"""A search on a GPU finds exactly the states, the steps and the ends that the reference finds: here on threads of
the processor that stand for the grid. A card was asked about generated models, too (`docs/performance.md`)."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest

import porcini
from conformance.promela.everything import generate
from porcini.core.errors import InputError, InternalError
from porcini.engines.graph import Graph
from porcini.engines.native_graph import NativeGraph
from porcini.engines.options import Options
from porcini.engines.stats import SearchStats
from porcini.native.gpu import Emulation, NoCard
from porcini.native.gpu_store import GpuStore
from porcini.native.gpu_tables import GpuTables, GpuUnit, KeyedTable
from strategies import PROGRAMS

pytest.importorskip("numpy")
pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("gcc", "clang", "cc"))), reason="there is no C compiler with threads"
)
MOST = 5_000
MODELS = Path(__file__).parents[2] / "benchmarks" / "promela"
BENCHMARKS = {"phils_vars": "N=5", "phils_deadlock": "N=5", "bakery": "N=2", "sieve": "MAX=12", "leader": "N=4"}
FEW_HASHES = 0xF << 60


def searched(
    model: porcini.Model, device: Emulation | None, hash_mask: int = ~(-1 << 64), most_bytes: int = 0
) -> Any:
    """The states, how many there are and how many steps, and how runs end; None if that is too much."""
    graph: Any = model.system(optimise=False).state_graph()
    stats = SearchStats(porcini.Limits(max_states=MOST, timeout=30))
    search: Any = (
        Graph(graph, None, stats)
        if device is None
        else NativeGraph(graph, stats, device=device, hash_mask=hash_mask, most_bytes=most_bytes)
    )
    stats.explore(lambda _: search.explore("bfs"))
    if stats.stopped == "limit":
        return None
    states = list(search.found) if device is None else search.states()
    # Of failures after which others go on for ever, the first one is noted: which one that is may differ.
    ends = {(o.kind, str(sorted(o.state.items()))) for o in stats.outcomes if o.kind in ("deadlock", "terminated")}
    return set(states), len(states), stats.counts.events, ends, {o.kind for o in stats.outcomes}


@pytest.mark.parametrize("name", BENCHMARKS)
@pytest.mark.parametrize("hash_mask", [~(-1 << 64), FEW_HASHES])
def test_benchmarks(name: str, hash_mask: int) -> None:
    key, _, value = BENCHMARKS[name].partition("=")
    model = porcini.load(MODELS / f"{name}.pml", defines={key: value})
    assert searched(model, Emulation(), hash_mask) == searched(model, None)


def test_generated_models() -> None:
    compared = 0
    for seed in range(PROGRAMS // 4):
        try:
            model = porcini.loads(generate(Random(seed)).text(), "pml")
        except InputError:
            continue
        wanted = searched(model, None)
        if wanted is not None:
            compared += 1
            assert searched(model, Emulation(), FEW_HASHES if seed % 3 == 0 else ~(-1 << 64)) == wanted, seed
    assert compared > PROGRAMS // 8


def test_a_way_is_replayed_and_is_a_shortest_one() -> None:
    model = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "5"})
    graph: Any = model.system(optimise=True).state_graph()
    stats = SearchStats(porcini.Limits())
    NativeGraph(graph, stats, device=Emulation()).explore("bfs")
    (outcome,) = stats.outcomes
    schedule = outcome.trace.schedule
    (other,) = porcini.check(model, options=Options(reduction="none", machine="python", search="bfs")).outcomes
    assert outcome.kind == other.kind == "deadlock" and len(schedule) == len(other.schedule)


LITTLE = 75_000
"""Bytes: with a queue of all states, 4,286 states of one word take 103,000."""


def in_memory_of(most_bytes: int) -> tuple[Any, SearchStats]:
    """Philosophers that deadlock."""
    model = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "7"})
    stats = SearchStats(porcini.Limits())
    graph: Any = model.system(optimise=True).state_graph()
    search: Any = NativeGraph(graph, stats, device=Emulation(), most_bytes=most_bytes)
    stats.explore(lambda _: search.explore("bfs"))
    return search, stats


def test_memory_that_is_enough_for_the_table_alone() -> None:
    """The store becomes compact: no state is lost or found twice, and ways are shortest ones."""
    (search, stats), (whole, wanted) = in_memory_of(LITTLE), in_memory_of(0)
    assert search.native.store.compact and not whole.native.store.compact
    assert stats.counts == wanted.counts
    assert len(search.states()) == stats.counts.states and set(search.states()) == set(whole.states())
    (outcome,), (other,) = stats.outcomes, wanted.outcomes
    assert outcome.kind == other.kind == "deadlock" and outcome.state == other.state
    assert len(outcome.trace.schedule) == len(other.trace.schedule)


def test_bits_that_change_late_where_levels_are_tags() -> None:
    model = porcini.load(MODELS / "bakery.pml", defines={"N": "2"})
    assert searched(model, Emulation(), most_bytes=90_000) == searched(model, None)


def test_generated_models_in_little_memory() -> None:
    """Twice as many bytes as states take: some of these stores are compact, and others become full."""
    compared = full = 0
    for seed in range(PROGRAMS // 2):
        try:
            model = porcini.loads(generate(Random(seed)).text(), "pml")
        except InputError:
            continue
        wanted = searched(model, None)
        if wanted is not None and wanted[1] > 1100:
            found = searched(model, Emulation(), most_bytes=30_000 + wanted[1] * 16)
            full += found is None
            compared += found is not None
            assert found in (None, wanted), seed
    assert compared > full


def test_memory_that_is_not_enough() -> None:
    _, stats = in_memory_of(LITTLE // 2)
    assert stats.stopped == "limit" and stats.limit is not None and "memory" in stats.limit


def test_a_mutant_that_compares_tags(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that is met again from a later level is another one then."""
    monkeypatch.setattr(GpuStore, "own", property(lambda self: ~(3 << 62) & ~(-1 << 64)))
    _, stats = in_memory_of(LITTLE * 2)
    assert stats.counts.states != in_memory_of(0)[1].counts.states or stats.stopped == "limit"


def test_a_mutant_whose_ring_has_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next level overwrites the one that is being expanded."""
    monkeypatch.setattr("porcini.native.gpu_store._RING_SHARE", 1 << 20)
    limit, states = GpuStore.limit, in_memory_of(0)[1].counts.states

    def endless(self: GpuStore) -> int:
        return min(self.levels[-1] + self._room, self._base + 2 * self._room) if self.compact else limit(self)

    monkeypatch.setattr(GpuStore, "limit", endless)
    with suppress(InternalError):  # or no way leads to a state that was overwritten
        assert in_memory_of(LITTLE)[1].counts.states != states


def test_a_mutant_that_looks_at_points_only(monkeypatch: pytest.MonkeyPatch) -> None:
    model = porcini.load(MODELS / "phils_deadlock.pml", defines={"N": "4"})
    wanted = searched(model, None)

    def fused(self: GpuTables, unit: GpuUnit) -> KeyedTable:
        table = KeyedTable(unit.points.mask)
        for points, number in unit.points.values.items():
            for entry in self.tables[number].values.values():
                table.put(points, entry)
        return table

    monkeypatch.setattr(GpuTables, "_fused", fused)
    assert searched(model, Emulation()) != wanted


def test_no_card(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a card, or without CuPy, one line says what is missing."""

    def none(self: object) -> None:
        raise NoCard("there is no GPU on this machine")

    monkeypatch.setattr("porcini.native.gpu.Cuda.__init__", none)
    model = porcini.load(MODELS / "phils_vars.pml", defines={"N": "3"})
    with pytest.raises(InputError, match="--machine gpu: there is no GPU on this machine"):
        porcini.check(model, options=Options(machine="gpu"))
