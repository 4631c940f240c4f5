"""Who takes the steps of a search that keeps states: the reference, or native code. That is `engines.native_graph`
for states, and `engines.native_product` for runs that a claim accepts."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from porcini.core.errors import InputError, LimitHit
from porcini.core.systems import System
from porcini.engines.graph import Graph, StateReduction
from porcini.engines.options import Options
from porcini.engines.product import Lasso, Product
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets

_SHARE_OF_MEMORY = 0.8
_IS_FOR_PACKED = (
    "is for programs whose states can be packed: .pml, and .gcl and .par with numbers of at most 64 bits whose "
    "processes are known before they run"
)
_SOME_MEMORY = 4 << 30
"""Where nobody says how much is free."""


class NotForNativeCode(Exception):
    """Native code asks for something that depends on the whole state: looking it up would not help."""


def native_search(
    system: System, graph: Any, reduction: StateReduction[Any] | None, stats: SearchStats, options: Options
) -> Graph[Any] | None:
    """A search by native code, if one is wanted, can be had, and is worth it. It goes in breadth."""
    if options.bitstate is not None:
        return _bitstate_search(system, graph, reduction, stats, options)
    if options.machine == "gpu":
        return _gpu_search(graph, stats, options)
    if options.machine == "python" or not (reduction is None or type(reduction) is StubbornSets):
        return None
    if options.machine == "auto" and options.search == "dfs" and stats.violated is not None:
        return None  # what is found first depends on the order
    from porcini.engines.native_graph import NativeGraph
    from porcini.native.compiling import NoCompiler
    from porcini.native.library import load_library

    search = NativeGraph(
        graph,
        stats,
        reduction,
        avoid_ignoring=system.may_fail,
        workers=workers_for(options),
        most_bytes=options.max_memory or free_memory(),
    )
    if search.is_small() and options.machine == "auto":
        return None
    try:
        load_library()
    except NoCompiler as problem:
        stats.notes += (f"{problem}: the reference took the steps",)
        return None
    return search


def _bitstate_search(
    system: System, graph: Any, reduction: StateReduction[Any] | None, stats: SearchStats, options: Options
) -> Graph[Any]:
    """A search that keeps bits instead of states: by native code alone, in depth, by one worker."""
    from porcini.engines.native_bitstate import NativeBitstate
    from porcini.native.compiling import NoCompiler
    from porcini.native.library import load_library

    assert options.bitstate is not None
    if options.machine in ("python", "gpu"):
        raise InputError(
            f"--bitstate is for native code, not for --machine {options.machine}", hint="--machine native"
        )
    if options.search == "bfs":
        raise InputError("--bitstate searches in depth, not in breadth")
    if options.workers not in (None, 1):
        raise InputError("--bitstate is for one worker")
    if not (reduction is None or type(reduction) is StubbornSets):
        raise InputError("--bitstate has no ample sets", hint="--reduction stubborn")
    try:
        load_library()
    except NoCompiler as problem:
        raise InputError(f"--bitstate is for native code: {problem}") from None
    search = NativeBitstate(
        graph,
        stats,
        reduction,
        size=options.bitstate,
        avoid_ignoring=system.may_fail,
        most_bytes=options.max_memory or free_memory(),
    )
    search.is_small()  # the bits that change
    return search


def refuse_bitstate(options: Options, asked: str) -> None:
    """For questions about runs, which a search that keeps bits cannot answer."""
    if options.bitstate is not None:
        raise InputError(f"--bitstate looks for deadlocks and failures; it does not check {asked}")


def _gpu_search(graph: Any, stats: SearchStats, options: Options) -> Graph[Any]:
    """A search on a card. It takes all steps: there is no reduction."""
    from porcini.engines.native_graph import NativeGraph
    from porcini.native.gpu import Cuda, NoCard

    try:
        device = Cuda()
    except NoCard as problem:
        raise InputError(f"--machine gpu: {problem}", hint="--machine auto") from None
    stats.reduction = "none"
    search = NativeGraph(graph, stats, device=device, most_bytes=options.max_memory or 0)
    search.is_small()  # the bits that change
    return search


@dataclass(frozen=True, slots=True)
class ClaimSearch:
    """A search for a run that a claim accepts. `graph` and `claim` are of the kind that the system's structure
    says."""

    system: System
    graph: Any
    claim: Any
    reduction: StateReduction[Any] | None
    fair: bool
    stutter: bool = True

    def find(self, stats: SearchStats, options: Options) -> Lasso[Any] | None:
        """By the reference, or by native code: the same search in the same order, so that what is found is the
        same, and so are the counts."""
        if self.system.structure != "packed":
            refuse_machine(options)
            return self._reference(stats).search()
        stats.machine = "python"
        if options.machine == "python" or not (self.reduction is None or type(self.reduction) is StubbornSets):
            return self._reference(stats).search()
        if options.machine == "gpu":
            stats.notes += ("a graphics card does not search for runs: the processor does",)
        return self._search_natively(stats, options)

    def _reference(self, stats: SearchStats) -> Product[Any]:
        fair = self.graph if self.fair else None
        return Product(self.graph, self.claim, stats, self.reduction, fair, stutter=self.stutter)

    def _first_nodes(self, stats: SearchStats, few: int) -> tuple[Lasso[Any] | None, list[Any], bool]:
        """What the reference finds within a few nodes; their states, and whether that was all."""
        first, limits = self._reference(stats), stats.limits
        if limits.max_states is None or limits.max_states > few:
            stats.limits = replace(limits, max_states=few)
        try:
            return first.search(), [], True
        except LimitHit:
            if stats.limits is limits or len(first.order) <= few:  # then it was the time
                raise
            return None, [state for state, _ in first.order], False
        finally:
            stats.limits = limits

    def _search_natively(self, stats: SearchStats, options: Options) -> Lasso[Any] | None:
        from porcini.engines.native_graph import FEW_STATES, SLOWER_IF_FAIR
        from porcini.engines.native_product import NativeProduct
        from porcini.native.compiling import NoCompiler
        from porcini.native.library import load_library

        visited: list[Any] = []
        if options.machine == "auto":
            few = FEW_STATES // SLOWER_IF_FAIR if self.fair else FEW_STATES
            lasso, visited, done = self._first_nodes(stats, few)
            if done:
                return lasso
        try:
            load_library()
            search = NativeProduct(
                self.graph,
                self.claim,
                stats,
                self.reduction,  # type: ignore[arg-type]
                fair=self.fair,
                stutter=self.stutter,
                visited=visited,
                most_bytes=options.max_memory or free_memory(),
            )
            stats.begin_again()
            stats.machine = "native"
            return search.search()
        except NoCompiler as problem:
            stats.notes += (f"{problem}: the reference took the steps",)
        except NotForNativeCode:
            pass
        stats.begin_again()
        stats.machine = "python"
        return self._reference(stats).search()


def refuse_machine(options: Options) -> None:
    """For programs that only the reference runs: refuse what is said about other machines."""
    if options.machine in ("native", "gpu"):
        raise InputError(f"--machine {options.machine} {_IS_FOR_PACKED}", hint="--machine auto")
    given_options = {
        "--workers": options.workers,
        "--max-memory": options.max_memory,
        "--bitstate": options.bitstate,
    }
    for option, given in given_options.items():
        if given is not None:
            raise InputError(f"{option} is for native code, and native code {_IS_FOR_PACKED}")


def workers_for(options: Options) -> int:
    if options.workers is not None:
        return options.workers
    if options.search == "bfs":
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def free_memory() -> int:
    """How many bytes a search may use, unless it is told."""
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            name, _, value = line.partition(":")
            if name == "MemAvailable":
                return int(int(value.split()[0]) * 1024 * _SHARE_OF_MEMORY)
    except (OSError, ValueError, IndexError):
        pass
    return _SOME_MEMORY
