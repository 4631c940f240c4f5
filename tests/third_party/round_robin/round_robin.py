"""An engine for Porcini: one run, in which processes take turns."""

from porcini.core.events import Event
from porcini.core.systems import Program
from porcini.engines.catalogue import Engine
from porcini.engines.options import Options
from porcini.engines.stats import SearchStats


def round_robin(program: Program, stats: SearchStats, options: Options) -> None:
    run = program.start()
    events: list[Event] = []
    while able := [action for action in run.actions() if action.enabled]:
        if len(events) >= stats.limits.depth:  # it may never end
            stats.cut()
            return
        later = [action for action in able if events and action.pid > events[-1].pid]
        events.append(run.step((later or able)[0]))
        stats.step()
    stats.complete(events, run.final(), None)
    stats.leave_out("one run only")


ENGINE = Engine("one run, in which processes take turns", round_robin, complete=False, uses_footprints=False)
