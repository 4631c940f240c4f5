"""Mutants of the search in C: each leaves out what makes one of its shortcuts right, and finds other states than
the reference."""

from __future__ import annotations

import contextlib
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import porcini
from porcini.core.errors import InternalError
from porcini.engines.graph import Graph
from porcini.engines.native_graph import NativeGraph
from porcini.engines.stats import SearchStats
from porcini.native import compiling, library

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("gcc", "clang", "cc", "tcc"))), reason="there is no C compiler"
)
MODELS = Path(__file__).parents[2] / "benchmarks" / "promela"


LONG = """bit a[80]; byte x;
active proctype P() { byte i; do :: i < 80 -> a[i] = 1; i++ :: else -> break od }
active proctype Q() { do :: x < 9 -> x++ :: x == 9 -> x = 0 od }"""
LOOKS_AT_MORE_LATER = """byte x, y; bool go, on; int late;
active proctype R() {
    go = true; go = false; y = 1; y = 0; x = 7; x = 0; late = 4095; late = 0; on = true;
    do :: late < 900 -> late++ :: late == 900 -> break od; go = true; y = 1
}
active proctype P() {
    on;
a:  if :: true -> goto b :: go -> goto f fi;
b:  skip; skip; skip; skip; goto a;
f:  do :: y == 1 -> x = 7; x = 0 :: y == 0 -> x = 3; x = 0 od
}"""


@dataclass(frozen=True)
class Mutant:
    """`old` is replaced by `new`, which shows in the states of a model, with these bits of hashes."""

    file: str
    old: str
    new: str
    model: str = "phils_vars N=7"
    hash_mask: int = library.ALL_BITS


MUTANTS = {
    "two words, of which one is compared": Mutant(
        "store.h", "upper >> 4 & equal_words(line, state[0])", "upper >> 4", LONG
    ),
    "long states of which the hash is compared": Mutant(
        "store.h",
        "difference |= a[i] ^ b[i];",
        "difference |= W < 3 ? a[i] ^ b[i] : 0;",
        "sieve MAX=14",
        0xF << 60,
    ),
    "states of which a larger table has lost the place": Mutant(
        "store.h",
        "NAME(place)(search, store, state, NAME(hash)(search, state), 0);",
        "NAME(place)(search, store, state, 0, 0);",
        "phils_deadlock N=8",
    ),
    "successors that have the hash of one made lately": Mutant(
        "breadth.h", "if (NAME(equal)(search, recent, state))", "if (recent[0])"
    ),
    "groups by the bits of one unit": Mutant(
        "groups.h", "making->mask[g * (u64)words + w] |= mask[w];", "making->mask[g * (u64)words + w] = mask[w];"
    ),
    "groups that are kept when a unit looks at more": Mutant(
        "groups.h",
        "grouping->version != rules->set[*set].version ||",
        "!grouping->version ||",
        LOOKS_AT_MORE_LATER,
    ),
}


def loaded(text: str) -> porcini.Model:
    if "proctype" in text:
        return porcini.loads(text, "pml")
    file, _, value = text.partition(" ")
    return porcini.load(MODELS / f"{file}.pml", defines=dict([value.split("=")]))  # type: ignore[list-item]


def found(model: porcini.Model, hash_mask: int | None) -> tuple[int, int]:
    """How many states and steps there are; by the reference, if there is no mask."""
    graph: Any = model.system(optimise=False).state_graph()
    stats = SearchStats(porcini.Limits(max_states=400_000))
    search: Any = (
        Graph(graph, None, stats) if hash_mask is None else NativeGraph(graph, stats, hash_mask=hash_mask)
    )
    stats.explore(lambda stats: search.explore("bfs"))
    return stats.counts.states, stats.counts.events


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = MUTANTS[name]
    model = loaded(mutant.model)
    wanted = found(model, None)
    assert found(model, mutant.hash_mask) == wanted
    sources = [tmp_path / each for each in compiling.SOURCES]
    for source in sources:
        text = (compiling.HERE / source.name).read_text()
        if source.name == mutant.file:
            assert text.count(mutant.old) == 1
            text = text.replace(mutant.old, mutant.new)
        source.write_text(text)
    made = compiling.compile_library("mutant", sources[0], sources)
    monkeypatch.setattr(library, "load_library", lambda: library.load_from(made))
    with contextlib.suppress(InternalError):
        assert found(model, mutant.hash_mask) != wanted


@pytest.mark.parametrize(
    "flags", [("-DPORCINI_NO_VECTORS",), ("-DPORCINI_NO_VECTORS", "-DPORCINI_NO_BMI"), ("-mno-avx512f",)]
)
@pytest.mark.parametrize("name", ["phils_vars N=7", "peterson N=3", "sieve MAX=14", "leader N=4"])
def test_other_processors(flags: tuple[str, ...], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a processor does not have is done without."""
    model = loaded(name)
    sources = [compiling.HERE / each for each in compiling.SOURCES]
    try:
        made = compiling.compile_library("other", sources[0], sources, flags)
    except compiling.NoCompiler:
        return  # its compiler does not know the flag
    monkeypatch.setattr(library, "load_library", lambda: library.load_from(made))
    assert found(model, library.ALL_BITS) == found(model, None)
