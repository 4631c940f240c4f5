"""Why a run fails: the closest run that does not, and what the steps of both did to each other.

nearest     leave out the faults of the failing run, or let another process go at one of its steps, the last step
            first, until a run ends otherwise
contested   the locations over which steps of a run race
shared      the locations that several processes use
raised      what the main task raises under a schedule, in code that is not instrumented: its traceback, and the
            values in its assertions, are what the test's author would see without Porcini
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from porcini.core.errors import ScheduleError
from porcini.core.events import Event, Move, Schedule
from porcini.core.execution import Dependence, Execution
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.core.reports import Outcome
from porcini.core.systems import Final
from porcini.core.traces import Trace
from porcini.coroutines.faults import Faults
from porcini.coroutines.guards import Guarding, Guards
from porcini.coroutines.session import Function
from porcini.coroutines.steady import SteadyProgram, SteadyRun
from porcini.engines.replaying import follow
from porcini.langs.aio.loop import Mode
from porcini.langs.aio.program import AioProgram
from porcini.langs.aio.striking import by_faults

_MOST_TRIED = 400
_MOST_STEPS = 30_000


def nearest(program: SteadyProgram, run: Outcome, other: Callable[[Final], bool]) -> Outcome | None:
    """A run that ends otherwise: the same without its faults, or one that parts from it as late as possible."""
    moves, steps = list(run.schedule), 0
    if any(event.fault for event in run.trace):
        trace, final = _followed(program.start_under(()), [Move(m.pid) for m in moves if not by_faults(m.pid)])
        if final is not None and other(final):
            return Outcome.of(trace, final)
    for tried, (at, move) in enumerate(_deviations(program, moves)):
        steps += len(moves)
        if tried == _MOST_TRIED or steps > _MOST_STEPS:
            break
        trace, final = _deviated(program, moves, at, move)
        if final is not None and other(final):
            return Outcome.of(trace, final)
    return None


def _deviations(program: SteadyProgram, moves: Sequence[Move]) -> Iterator[tuple[int, Move]]:
    """Where another process could have gone, the last step first."""
    run = program.start_under(tuple(moves))
    able: list[list[Move]] = []
    for move in moves:
        actions = {action.move: action for action in run.actions()}
        able.append([other for other in actions if other != move])
        if move not in actions:
            return  # the program depends on more than its schedule, and there is nothing to compare with
        run.step(actions[move])
    for at in range(len(moves) - 1, -1, -1):
        for move in able[at]:
            yield at, move


def _deviated(program: SteadyProgram, moves: Sequence[Move], at: int, move: Move) -> tuple[Trace, Final | None]:
    """As before up to a step; then another process, for as long as it can; then the others in their old order."""
    run = program.start_under(tuple(moves))
    try:
        events = follow(run, tuple(moves[:at]))
    except ScheduleError:  # it depends on more than its schedule, and there is nothing to compare with
        return Trace(()), None
    return _followed(run, moves[at:], move, events)


def _followed(
    run: SteadyRun, moves: Sequence[Move], first: Move | None = None, before: Sequence[Event] = ()
) -> tuple[Trace, Final | None]:
    """One process for as long as it can; then these moves as far as they can be made; then whoever can go."""
    events, rest = list(before), list(moves)
    most = 2 * (len(events) + len(rest)) + 100
    while able := {action.move: action for action in run.actions()}:
        if len(events) > most:
            return Trace(events), None
        chosen = first if first in able else next((m for m in rest if m in able), next(iter(able)))
        if chosen in rest:
            rest.remove(chosen)
        events.append(run.step(able[chosen]))
    return Trace(events), run.final()


def _execution(trace: Sequence[Event]) -> Execution:
    execution = Execution(Dependence())
    for event in trace:
        execution.push(event)
    return execution


def contested(trace: Sequence[Event]) -> set[Location]:
    """The locations over which steps race."""
    execution = _execution(trace)
    found: set[Location] = set()
    for j, event in enumerate(trace):
        for k in execution.races[j]:
            one, two = trace[k].footprint, event.footprint
            found |= (one.writes & (two.reads | two.writes)) | (one.reads & two.writes)
    return found


def shared(trace: Sequence[Event]) -> set[Location]:
    """The locations that one process writes and another one touches, whether or not they race."""
    writers: dict[Location, set[Pid]] = {}
    users: dict[Location, set[Pid]] = {}
    for event in trace:
        foot = event.footprint
        for location in foot.writes:
            writers.setdefault(location, set()).add(event.pid)
        for location in foot.reads | foot.writes:
            users.setdefault(location, set()).add(event.pid)
    return {location for location, pids in writers.items() if len(users[location] | pids) > 1}


def raised(
    function: Function,
    schedule: Schedule,
    *,
    args: Sequence[object] = (),
    mode: Mode = "any",
    guards: Guards | None = None,
    faults: Faults | None = None,
) -> BaseException | None:
    """What a function raises under a schedule, with the traceback of its own code."""
    with Guarding(guards or Guards(), faults) as guarding:
        program = SteadyProgram(AioProgram(function, args, mode), guarding)
        program.program.possible = guarding.faults.possible()
        run = program.start_under(schedule)
        try:
            follow(run, schedule)
            run.final()
        except ScheduleError:
            return None
        finally:
            program.leave()
    return run.problem
