"""What a unit can do was looked up in a table that had been put together from others. It was put together again
only when these had more entries: not when one of them had been emptied, to look at more bits, and filled again.
The search of a model was never done with asking; that of another one could have got answers for states that differ
in those bits.
"""

from __future__ import annotations

import shutil
from typing import Any

import pytest

import porcini
from porcini.engines.graph import Graph
from porcini.engines.native_graph import NativeGraph
from porcini.engines.stats import SearchStats
from porcini.native.gpu_tables import GpuTables, GpuUnit, KeyedTable

MODEL = """
byte x;
byte y = 1;
bit b;
chan c = [1] of { byte };
proctype R(byte g; chan h) {
  byte i;
  b = !b;
  d_step { i == x; i = !x }
}
active proctype P() provided (x < 2) {
  do
  :: y = y
  :: b = !b
  od
}
active proctype Q() {
  byte i;
  run R(1 - b, c);
  run R((b -> x : y), c);
  do
  :: d_step {
       b = !b;
       if
       :: b; b = i; if :: b || y > 0; b = (x + 1) % 3 :: else fi
       :: else
       fi
     }
  od
}
"""


def test_a_table_that_was_emptied_and_filled_again() -> None:
    tables = GpuTables()
    unit = GpuUnit(KeyedTable(0b1), tables=[0])
    tables.units.append(unit)
    tables.tables.append(KeyedTable(0b110))
    unit.points.put(0b0, 0)
    tables.tables[0].put(0b010, 5)
    fused = tables._fused(unit)
    assert fused is not None and fused.get(0b010) == 5 and fused.get(0b100) is None
    tables.tables[0].key_again(0b110, keep=False)
    tables.tables[0].put(0b100, 6)
    fused = tables._fused(unit)
    assert fused is not None and fused.get(0b010) is None and fused.get(0b100) == 6


@pytest.mark.skipif(
    not any(map(shutil.which, ("gcc", "clang", "cc"))), reason="there is no C compiler with threads"
)
def test_a_model_that_was_never_done() -> None:
    pytest.importorskip("numpy")
    from porcini.native.gpu import Emulation

    found: list[Any] = []
    for device in (None, Emulation()):
        graph: Any = porcini.loads(MODEL, "pml").system(optimise=False).state_graph()
        stats = SearchStats(porcini.Limits(timeout=60))
        search: Any = Graph(graph, None, stats) if device is None else NativeGraph(graph, stats, device=device)
        stats.explore(lambda _, search=search: search.explore("bfs"))
        states = search.found if device is None else search.states()
        found.append((stats.stopped, set(states), stats.counts.events))
    assert found[0] == found[1]
