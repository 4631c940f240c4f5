"""From runs with guarded locks (`langs.aio.sections`), which a search makes, to runs with asyncio's own, which
people see and replay. Each outcome's example is run again so, and must end in the same way."""

from __future__ import annotations

from porcini.core.errors import ScheduleError
from porcini.core.events import Schedule
from porcini.core.systems import Final
from porcini.core.traces import Trace
from porcini.coroutines.steady import SteadyProgram
from porcini.engines.replaying import follow, replay
from porcini.engines.stats import SearchStats
from porcini.langs.aio import serial


class NotPlain(Exception):
    """A run with guarded locks is none with asyncio's own. No lock should have been guarded."""


def use_plain_locks(program: SteadyProgram, stats: SearchStats) -> None:
    """Rewrite the examples of a search that is over; from here on, locks are asyncio's own."""
    schedules: dict[Trace, Schedule] = {}
    if program.commuting is not None and program.levels.in_use:
        for outcome in stats.outcomes:
            schedules[outcome.trace] = _plain_schedule(program, outcome.trace)
    program.commute(None)

    def rewrite(trace: Trace, final: Final) -> tuple[Trace, Final]:
        if trace not in schedules:
            return trace, final
        try:
            plain, run = replay(program, schedules[trace])
        except ScheduleError as problem:
            raise NotPlain(str(problem)) from None
        ended = run.final()
        if (ended.kind, ended.state) != (final.kind, final.state):
            raise NotPlain(f"{final.kind} where it should be {ended.kind}")
        return plain, ended

    stats.rewrite_examples(rewrite)


def _plain_schedule(program: SteadyProgram, trace: Trace) -> Schedule:
    run = program.start()
    follow(run, trace.schedule)
    schedule = serial.plain_schedule(*run.run.deeds())
    if schedule is None:
        raise NotPlain("no order of its events is one of asyncio's locks")
    return schedule
