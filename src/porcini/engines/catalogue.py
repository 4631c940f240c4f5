"""The engines: what each of them needs, what it promises, and which options it takes.

Engines are registered under the entry point group `porcini.engines`: ours, which are below, and anybody else's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from porcini.core.capabilities import Capability
from porcini.core.registry import Registry
from porcini.core.systems import Program, Restart
from porcini.engines.backtracking import Classic, Sleep, Source
from porcini.engines.exhaustive import exhaustive
from porcini.engines.optimal import Optimal
from porcini.engines.options import Options
from porcini.engines.search import Reduction, Search
from porcini.engines.stats import SearchStats
from porcini.engines.walks import pct, random_walks

Searching = Callable[[Program, SearchStats, Options], None]


@dataclass(frozen=True, slots=True)
class Engine:
    """A search, with all that others need to know about it."""

    summary: str
    search: Searching
    needs: tuple[Capability, ...] = ()
    """What a program must be able to do."""
    complete: bool = True
    """Does it explore every class, unless it is stopped?"""
    keeps_states: bool = False
    """Does it count states instead of runs?"""
    uses_footprints: bool = True
    """Does it prune schedules because of what steps touch?"""
    takes_independence: bool = False
    """Does it use the independence relation in `Options.dependence`?"""
    takes: frozenset[str] = frozenset()
    """Which of the options in `options.PARTICULAR` it uses; any other one of these is refused."""
    rank: int = 100
    """Its position in tables: the engine that others are compared with comes first."""
    selections: tuple[Options, ...] = (Options(),)
    """The options under which its results must agree, for a comparison of engines."""

    @property
    def samples(self) -> bool:
        """Does it sample runs, without ever knowing that it has seen all of them?"""
        return not self.complete and not self.keeps_states

    def __call__(self, program: Program, stats: SearchStats, options: Options) -> None:
        self.search(program, stats, options)


ENGINES: Registry[Engine] = Registry("porcini.engines", "engine")


def engines_by_rank() -> list[tuple[str, Engine]]:
    """All engines, in the order in which tables list them."""
    return sorted(ENGINES.items(), key=lambda named: (named[1].rank, named[0]))


def run_engine(
    engine: Engine, program: Program, stats: SearchStats, options: Options
) -> tuple[Program, SearchStats]:
    """Run an engine to its end. If footprints turn out to have been too small, run it again in the time that is
    left. Returns the program of the last search, and its stats."""
    if engine.uses_footprints and not engine.keeps_states:
        program = program.relying_on_footprints()
    while True:
        try:
            stats.explore(partial(engine, program, options=options))
        except Restart as restart:
            program, stats = restart.program, stats.restart()
        else:
            return program, stats


def _stateless(reduction: Callable[[Options], Reduction]) -> Searching:
    return lambda program, stats, options: Search(program, reduction(options), stats, options.dependence).explore()


EXHAUSTIVE = Engine(
    "every schedule, without a reduction",
    lambda program, stats, options: exhaustive(program, stats),
    uses_footprints=False,
    rank=0,
)
SLEEP = Engine("sleep sets: each class once", _stateless(lambda options: Sleep()), takes_independence=True, rank=1)
DPOR = Engine(
    "persistent sets found while running",
    _stateless(lambda options: Classic()),
    takes_independence=True,
    rank=2,
)
SOURCE = Engine(
    "source sets; with --preemptions, a bounded search",
    _stateless(lambda options: Source(options.preemptions)),
    takes_independence=True,
    takes=frozenset({"preemptions"}),
    rank=3,
)
OPTIMAL = Engine(
    "wakeup trees: each class once, and no run is given up",
    _stateless(lambda options: Optimal()),
    takes_independence=True,
    rank=4,
)
RANDOM = Engine(
    "schedules by chance",
    lambda program, stats, options: random_walks(program, stats, options.seed),
    rank=8,
    complete=False,
    uses_footprints=False,
)
PCT = Engine(
    "schedules by random priorities",
    lambda program, stats, options: pct(program, stats, options.seed, options.depth),
    rank=9,
    complete=False,
    uses_footprints=False,
    takes=frozenset({"depth"}),
)
