"""Does the order matter? Systematic testing of concurrent programs by partial order reduction."""

from porcini.api import Model, check, explore, load, loads, permute, replay, run, symbolic
from porcini.core.errors import InputError, ScheduleError
from porcini.core.reports import Counterexample, Counts, Outcome, Report, TraceEntry
from porcini.engines.limits import Limits
from porcini.formats.schedules import parse_schedule, show_schedule

__version__ = "0.1.0"

__all__ = [
    "Counterexample",
    "Counts",
    "InputError",
    "Limits",
    "Model",
    "Outcome",
    "Report",
    "ScheduleError",
    "TraceEntry",
    "__version__",
    "check",
    "explore",
    "load",
    "loads",
    "parse_schedule",
    "permute",
    "replay",
    "run",
    "show_schedule",
    "symbolic",
]
