"""`run` and `replay`: one execution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random

from porcini.commands.reporting import build_report, locate_errors, moves_of, report_one_run
from porcini.commands.requests import Following, Request
from porcini.core.errors import InputError
from porcini.core.events import Schedule
from porcini.core.reports import Report, Trail
from porcini.core.steps import value_in
from porcini.core.systems import Program
from porcini.core.traces import Trace
from porcini.engines.replaying import RunResult, follow, follow_loop, require_complete, run_freely
from porcini.engines.stats import SearchStats
from porcini.engines.stepping import Stepper
from porcini.formats.traces.writing import write_trace
from porcini.subjects import Opened


def run(request: Request) -> Report:
    """Run one execution: follow a schedule as far as it goes, then let a seeded scheduler choose."""
    subject, following = request.subject, request.following
    with subject.recorded() as opened:
        stats = SearchStats(request.limits, subject.observed)
        with locate_errors(following.schedule):
            moves, chance = moves_of(following.schedule), Random(following.seed)
            go = partial(run_freely, prefix=moves, random=chance, limits=stats.limits)
            recorded = opened.follow(go, keep=following.trace is not None)
        report = report_one_run(subject, opened, "run", stats, recorded)
        _write(request, opened, recorded)
    seed = None if report.coverage is not None else following.seed
    return replace(opened.explained(report), seed=seed)


def replay(request: Request) -> Report:
    """Run one complete schedule again; one that does not fit raises a `ScheduleError` that names the step."""
    _require_capabilities(request)
    request = _with_schedule_of_trail(request)
    subject, following = request.subject, request.following
    with subject.recorded() as opened:
        stats = SearchStats(observe=subject.observed)
        if following.loop is not None and following.stop_at is None:
            report = _replay_loop(request, opened, stats)
        else:
            report = _replay_once(request, opened, stats)
    if following.write_trail is not None:
        _write_trail(request, report)
    return opened.explained(report)


def _require_capabilities(request: Request) -> None:
    following, subject = request.following, request.subject
    asked = {
        "loop": following.loop is not None,
        "stop_at": following.stop_at is not None,
        "watched": bool(following.watched),
        "trail": following.trail is not None,
        "write_trail": following.write_trail is not None,
    }
    for option in (name for name, is_given in asked.items() if is_given):
        subject.capabilities.require(f"`{option}`", ("states",), subject.file)


def _replay_once(request: Request, opened: Opened, stats: SearchStats) -> Report:
    """Replay a run to its end, or to the step that was asked for."""
    subject, following = request.subject, request.following
    steppers: list[Stepper] = []
    with locate_errors(following.schedule):
        moves = moves_of(following.schedule) + moves_of(following.loop or ())

        def go(program: Program) -> RunResult:
            steppers.append(Stepper(program, moves))
            return _follow_steps(steppers[-1], moves, following)

        recorded = opened.follow(go, keep=following.trace is not None)
    report = report_one_run(subject, opened, "replay", stats, recorded)
    _write(request, opened, recorded)
    return _add_steps(report, steppers[-1], following.watched)


def _follow_steps(stepper: Stepper, moves: Schedule, following: Following) -> RunResult:
    """Follow a schedule to its end, or to the step that was asked for. A trail ends where SPIN found an error."""
    stop_at = following.stop_at
    if stop_at is not None and stop_at > len(moves):
        known = f"the schedule has {len(moves):,} step{'s' if len(moves) != 1 else ''}"
        raise InputError(f"cannot stop after step {stop_at:,}: {known}", hint=f"--stop-at {len(moves)}, or less")
    stepper.follow(moves[:stop_at])
    trace, run = stepper.trace, stepper.run
    if stop_at is None and following.trail is None:
        require_complete(trace, run)
    is_on_the_way = stepper.enabled() and not any(event.failure for event in trace)
    limit = "the end of the trail" if stop_at is None else f"--stop-at {stop_at}"
    return RunResult(trace, run, limit if is_on_the_way else None)


def _add_steps(report: Report, stepper: Stepper, watched: Sequence[str]) -> Report:
    """The report with every step and what it changed, if the program has variables to watch."""
    stepper.require_variables(watched)
    if report.coverage is not None:  # real code is shown in lanes
        return report
    return replace(
        report,
        steps=stepper.watched_steps(watched),
        watched={name: value_in(name, stepper.initial) for name in watched} if watched else None,
        snapshot=stepper.snapshot() if report.limit is not None else None,
    )


# SPIN's trails


def _with_schedule_of_trail(request: Request) -> Request:
    """The same request with a schedule, and possibly a loop, in place of a trail."""
    following, subject = request.following, request.subject
    if following.trail is None:
        return request
    if following.schedule or following.loop is not None:
        raise InputError("a trail is followed instead of a schedule, not after one")
    model = subject.model
    _require_own_values(request)
    try:
        text = Path(following.trail).read_text(encoding="utf-8", errors="replace")
        schedule, loop = model.read_trail(text)
    except OSError as problem:
        raise InputError(f"cannot be read: {problem.strerror}", file=str(following.trail)) from None
    except InputError as problem:
        problem.file = problem.file or str(following.trail)
        raise
    return replace(request, following=replace(following, schedule=schedule, loop=loop or None))


def _write_trail(request: Request, report: Report) -> None:
    """Write the steps that were taken as a trail for SPIN."""
    assert request.following.write_trail is not None and report.steps is not None
    _require_own_values(request)
    moves = tuple(step.event.move for step in report.steps)
    stem = moves if report.trail is None else report.trail.stem.schedule
    text = request.subject.model.write_trail(stem, moves[len(stem) :] if report.trail is not None else None)
    file = request.following.write_trail
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", file=str(file)) from None


def _require_own_values(request: Request) -> None:
    if request.subject.given_inputs:
        raise InputError("SPIN starts with the values that the model declares: a trail does not go with `--input`")


def _write(request: Request, opened: Opened, recorded: RunResult) -> None:
    """Write a run to a file, if one is given."""
    file, subject = request.following.trace, request.subject
    if file is not None:
        what = opened.recording(stopped=recorded.limit is not None)
        write_trace(replace(what, language=subject.language, program=subject.file), file)


def _follow_schedule(program: Program, schedule: Schedule) -> RunResult:
    run = program.start()
    return RunResult(Trace(follow(run, schedule)), run)


def _replay_loop(request: Request, opened: Opened, stats: SearchStats) -> Report:
    """Replay a run with one round of its loop, which must lead back to where it begins."""
    following, system = request.following, request.subject.system()
    assert following.loop is not None
    with locate_errors(following.schedule):
        stem = follow(system.start(), moves_of(following.schedule))
    with locate_errors(following.loop):
        loop = follow_loop(system, moves_of(following.schedule), moves_of(following.loop))
    if following.trace is not None:
        whole = Trace([*stem, *loop]).schedule
        _write(request, opened, opened.follow(lambda program: _follow_schedule(program, whole), keep=True))
    stats.counts.events = len(stem) + len(loop)
    stats.counts.states = stats.counts.events + 1
    stats.seconds = stats.clock.seconds
    note = f"the last {len(loop)} steps lead back to where they began, and can be done for ever"
    report = build_report(request.subject, "replay", stats, property="endless", notes=(note,))
    stepper = Stepper(system)
    stepper.follow(Trace([*stem, *loop]).schedule)
    report = _add_steps(report, stepper, following.watched)
    return replace(report, trail=Trail(Trace(stem), Trace(loop), ()), verdict="violated")  # it does not terminate
