"""`permute`: the executable permutations of one execution (P0)."""

from __future__ import annotations

from random import Random
from typing import Any

from porcini.commands.needs import require
from porcini.commands.reporting import build_report, located, moves_of, stopped
from porcini.commands.requests import Request
from porcini.core.reports import Report
from porcini.engines.fagiani import Seeds
from porcini.engines.permuting import Permuting
from porcini.engines.replaying import run_freely
from porcini.engines.stats import SearchStats
from porcini.properties.outcomes import inequivalent


def permute(request: Request) -> Report:
    """Record one run and list its executable permutations, one per class: are all of them equivalent to it?"""
    subject, following = request.subject, request.following
    model = subject.model
    require("permute", subject)
    system: Any = subject.system()
    stats = SearchStats(request.limits, subject.observed, watch=request.watch)
    with located(following.schedule):
        recorded = run_freely(system, moves_of(following.schedule), Random(following.seed), request.limits)
    if recorded.limit is not None:
        stopped(stats, recorded)
        return build_report(model, "permute", stats, property="equivalent", traces=())
    run: Any = recorded.run
    permuting = Permuting(system, recorded.trace, run, stats)
    seeds = Seeds(permuting.recorded) if request.seeds else None
    stats.explore(lambda _: permuting.search() if seeds is None else permuting.search_for(seeds))
    return build_report(
        model,
        "permute",
        stats,
        property="equivalent",
        counterexample=inequivalent(permuting.runs),
        traces=tuple(permuting.entries),
        seeds=tuple(permuting.seeds) if seeds is not None else None,
    )
