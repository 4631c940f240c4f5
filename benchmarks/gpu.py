"""`make bench-gpu`: models on a graphics card, exactly: states, transitions, and how many per second.

The time of the kernels is what the card takes; the whole also has the reading of the model, the first states by
the reference, and what it is asked later. `--quick` takes small sizes; `--emulate` goes without a card.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

import porcini
from porcini.engines.native_graph import NativeGraph
from porcini.engines.stats import SearchStats
from porcini.native.gpu import Cuda, Emulation, GpuSearch

MODELS = Path(__file__).parent / "promela"
ROWS = [
    ("phils_vars", "N", 10, (13, 15, 16)),
    ("readers_writers", "N", 9, (13, 15, 17)),
    ("coherence", "N", 4, (6, 8)),
    ("phils_deadlock", "N", 8, (13, 16)),
    ("phils_polite", "N", 8, (14, 16)),
    ("peterson", "N", 3, (4,)),
    ("token_ring", "N", 4, (7, 8)),
    ("leader", "N", 4, (7, 8)),
    ("handshake", "N", 3, (5, 6)),
]


def main() -> int:
    device = Emulation() if "--emulate" in sys.argv else Cuda()
    chosen = [each for each in sys.argv[1:] if not each.startswith("-")]
    title = f"{'model':<24}{'words':>6}{'states':>16}{'transitions':>18}{'kernels s':>11}"
    print(f"{title}{'states/s':>16}{'whole s':>9}")
    for model, define, small, large in ROWS:
        for size in [small] if "--quick" in sys.argv else large:
            if chosen and model not in chosen:
                continue
            started = time.perf_counter()
            program = porcini.load(MODELS / f"{model}.pml", defines={define: str(size)})
            stats = SearchStats(porcini.Limits())
            search = NativeGraph(program.system(optimise=True).state_graph(), stats, device=device)
            search.is_small()
            stats.explore(lambda _, search=search: search.explore("bfs"))
            gpu = search.native
            assert isinstance(gpu, GpuSearch)
            found, seconds = stats.counts, gpu.seconds
            line = f"{model} {define}={size}"
            line = f"{line:<24}{gpu.words:>6}{found.states:>16,}{found.events:>18,}{seconds:>11.3f}"
            end = "" if stats.stopped == "exhausted" else f"  {stats.limit}"
            whole = time.perf_counter() - started
            print(f"{line}{found.states / seconds:>16,.0f}{whole:>9.2f}{end}", flush=True)
            del search, gpu, stats
            gc.collect()  # the next one wants the memory
    return 0


if __name__ == "__main__":
    sys.exit(main())
