"""Following schedules: a whole one, a prefix and then freely, or freely from the start."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from porcini.core.errors import LimitHit, ScheduleError
from porcini.core.events import Action, Event, Move, Schedule
from porcini.core.systems import Program, Run, System
from porcini.core.traces import Trace
from porcini.engines.limits import Limits


def enabled_actions(actions: Sequence[Action]) -> list[Action]:
    return [action for action in actions if action.enabled]


def follow(run: Run, schedule: Schedule) -> list[Event]:
    """Take the moves of a schedule in turn; a move that does not fit is an error that names the step."""
    return [run.step(find_action(run, move, number)) for number, move in enumerate(schedule, 1)]


def run_after(program: Program, schedule: Schedule) -> Run:
    """A fresh run that has followed a schedule."""
    run = program.start()
    follow(run, schedule)
    return run


def replay(program: Program, schedule: Schedule) -> tuple[Trace, Run]:
    """Follow a complete schedule; it is an error if a process can still move after it."""
    run = program.start_under(schedule)
    trace = Trace(follow(run, schedule))
    require_complete(trace, run)
    return trace, run


def require_complete(trace: Trace, run: Run) -> None:
    """Raise an error unless a run that has followed a schedule has come to its end."""
    left = enabled_actions(run.actions())
    if left and not any(event.failure for event in trace):  # after a failure, others may go on for ever
        can = ", ".join(dict.fromkeys(str(action.pid) for action in left))
        raise ScheduleError(
            f"the schedule ends after step {len(trace)}, but {can} can still move",
            step=len(trace) + 1,
            hint="`run --schedule` goes on freely after a prefix",
        )


def follow_loop(system: System, stem: Schedule, loop: Schedule) -> list[Event]:
    """Follow a schedule, then a loop that must lead back to the state in which it begins, up to names. Returns the
    events of the loop."""
    run = system.start()
    before = follow(run, stem)
    events = follow(run, loop)
    graph = system.state_graph(exact=False)
    if not loop or graph.state_after(before) != graph.state_after([*before, *events]):
        raise ScheduleError("the loop does not lead back to where it begins")
    return events


@dataclass(frozen=True, slots=True)
class RunResult:
    """A run as far as it went. `limit` names the limit that stopped it, if one did."""

    trace: Trace
    run: Run
    limit: str | None = None
    interrupted: bool = False


def run_freely(program: Program, prefix: Schedule, random: Random, limits: Limits) -> RunResult:
    """Follow a prefix, then choose at random."""
    run = program.start_under(prefix)
    events = follow(run, prefix)
    clock = limits.clock()
    actions, step, depth, timed = run.actions, run.step, limits.depth, limits.timeout is not None
    try:
        while True:
            able = [action for action in actions() if action.enabled]
            if not able:
                return RunResult(Trace(events), run)
            if len(events) >= depth:
                return RunResult(Trace(events), run, f"the depth limit of {depth:,} steps")
            if timed:
                clock.check()
            events.append(step(able[0] if len(able) == 1 else random.choice(able)))
    except LimitHit as hit:
        return RunResult(Trace(events), run, str(hit))
    except KeyboardInterrupt:
        return RunResult(Trace(events), run, "an interrupt", interrupted=True)


def find_action(run: Run, move: Move, number: int) -> Action:
    """The action that a move denotes; a move that does not fit is an error that names the step by its number."""
    actions = run.actions()
    for action in actions:
        if action.move == move:
            if action.enabled:
                return action
            raise ScheduleError(f"step {number}: process {move.pid} is blocked at `{action.label}`", step=number)
    of_pid = [action for action in actions if action.pid == move.pid]
    if of_pid:
        raise ScheduleError(f"step {number}: process {move.pid} has no choice {move.choice}", step=number)
    able = ", ".join(dict.fromkeys(str(action.pid) for action in enabled_actions(actions)))
    hint = f"{able} can" if able else "nothing can"
    raise ScheduleError(f"step {number}: process {move.pid} cannot move here", step=number, hint=hint)
