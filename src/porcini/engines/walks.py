"""Walks through programs that are too large to explore: uniformly at random, or by PCT.

Both are seeded, so that a walk can be repeated; neither ever proves anything.

PCT (Burckhardt, Kothari, Musuvathi and Nagarakatte, ASPLOS 2010): every process gets a random priority when it
appears, the enabled process with the highest priority moves, and at d - 1 random steps that process is demoted to
the lowest priority. A bug that needs d ordering constraints among n processes and k steps is found with
probability at least 1 / (n k^(d-1)) per walk.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from porcini.core.events import Action, Event
from porcini.core.pids import Pid
from porcini.core.systems import Program
from porcini.core.traces import Foata
from porcini.engines.stats import SearchStats

WALKS = 1000
"""The number of walks, unless `max_executions` is given."""

Chooser = Callable[[list[Action], int], Action]


def random_walks(program: Program, stats: SearchStats, seed: int) -> None:
    """Choose uniformly among the enabled actions, in one walk after another."""
    random = Random(seed)
    _walk(program, stats, lambda: lambda able, step: random.choice(able))


def pct(program: Program, stats: SearchStats, seed: int, depth: int) -> None:
    """Random priorities with `depth` - 1 points where they change."""
    random = Random(seed)
    longest = 1

    def chooser() -> Chooser:
        changes = set(random.sample(range(longest), min(depth - 1, longest)))
        priorities: dict[Pid, float] = {}

        def choose(able: list[Action], step: int) -> Action:
            nonlocal longest
            longest = max(longest, step + 1)
            for action in able:
                if action.pid not in priorities:
                    priorities[action.pid] = 1 + random.random()
            best = max(able, key=lambda action: priorities[action.pid])
            if step in changes:
                priorities[best.pid] = -step  # below every other process, and below earlier demotions
                best = max(able, key=lambda action: priorities[action.pid])
            same = [action for action in able if action.pid == best.pid]
            return random.choice(same) if len(same) > 1 else best

        return choose

    _walk(program, stats, chooser)


def _walk(program: Program, stats: SearchStats, chooser: Callable[[], Chooser]) -> None:
    empty = Foata.empty()
    for _ in range(stats.limits.max_executions or WALKS):
        run, form, choose = program.start(), empty, chooser()
        events: list[Event] = []
        stats.counts.states += 1
        while able := [action for action in run.actions() if action.enabled]:
            if len(events) >= stats.limits.depth:
                stats.cut()
                break
            event = run.step(choose(able, len(events)))
            stats.step()
            events.append(event)
            form = form.extend(event)
        else:
            stats.complete(events, run.final(), form.key)
    stats.leave_out("the number of walks")
