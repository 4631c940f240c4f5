"""`run` and `replay`: one execution."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from random import Random

from porcini.commands.reporting import build_report, located, moves_of, of_one_run
from porcini.commands.requests import Request
from porcini.core.events import Schedule
from porcini.core.reports import Report, Trail
from porcini.core.systems import Program
from porcini.core.traces import Trace
from porcini.engines import replaying
from porcini.engines.replaying import Recorded, follow, follow_loop, run_freely
from porcini.engines.stats import SearchStats
from porcini.formats.traces.writing import write_trace
from porcini.subjects import Opened


def run(request: Request) -> Report:
    """One execution: follow a schedule as far as it goes, then let a seeded scheduler choose."""
    subject, following = request.subject, request.following
    with subject.recorded() as opened:
        stats = SearchStats(request.limits, subject.observed)
        with located(following.schedule):
            moves, chance = moves_of(following.schedule), Random(following.seed)
            go = partial(run_freely, prefix=moves, random=chance, limits=stats.limits)
            recorded = opened.follow(go, keep=following.trace is not None)
        report = of_one_run(subject, opened, "run", stats, recorded)
        _write(request, opened, recorded)
    return opened.explained(report)


def replay(request: Request) -> Report:
    """One complete schedule again; one that does not fit is a `ScheduleError` that names the step."""
    subject, following = request.subject, request.following
    if following.loop is not None:
        subject.capabilities.require("`loop`", ("states",), subject.file)
    with subject.recorded() as opened:
        stats = SearchStats(observe=subject.observed)
        if following.loop is not None:
            return _endless(request, opened, stats)
        with located(following.schedule):
            moves = moves_of(following.schedule)
            recorded = opened.follow(
                lambda program: Recorded(*replaying.replay(program, moves)), keep=following.trace is not None
            )
        report = of_one_run(subject, opened, "replay", stats, recorded)
        _write(request, opened, recorded)
    return opened.explained(report)


def _write(request: Request, opened: Opened, recorded: Recorded) -> None:
    """Write a run to a file, if one is named."""
    file, subject = request.following.trace, request.subject
    if file is not None:
        what = opened.recording(stopped=recorded.limit is not None)
        write_trace(replace(what, language=subject.language, program=subject.file), file)


def _followed(program: Program, schedule: Schedule) -> Recorded:
    run = program.start()
    return Recorded(Trace(follow(run, schedule)), run)


def _endless(request: Request, opened: Opened, stats: SearchStats) -> Report:
    """A run that is followed once round its loop, which must lead back to where it begins."""
    following, system = request.following, request.subject.system()
    assert following.loop is not None
    with located(following.schedule):
        stem = follow(system.start(), moves_of(following.schedule))
    with located(following.loop):
        loop = follow_loop(system, moves_of(following.schedule), moves_of(following.loop))
    if following.trace is not None:
        whole = Trace([*stem, *loop]).schedule
        _write(request, opened, opened.follow(lambda program: _followed(program, whole), keep=True))
    stats.counts.events = len(stem) + len(loop)
    stats.counts.states = stats.counts.events + 1
    stats.seconds = stats.clock.seconds
    note = f"the last {len(loop)} steps lead back to where they began, and can be done for ever"
    report = build_report(request.subject, "replay", stats, property="endless", notes=(note,))
    return replace(report, trail=Trail(Trace(stem), Trace(loop), ()), verdict="violated")  # it does not terminate
