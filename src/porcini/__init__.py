"""Does the order matter? Systematic testing of concurrent programs by partial order reduction."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from porcini.core.version import __version__

if TYPE_CHECKING:
    from porcini.api import check, explore, permute, permute_trace, replay, run, symbolic, transform
    from porcini.core.errors import InputError, InternalError, ScheduleError
    from porcini.core.reports import Counterexample, Counts, Outcome, Report, TraceEntry
    from porcini.coroutines.guards import Guards
    from porcini.engines.limits import Limits
    from porcini.formats.schedules import parse_schedule, show_schedule
    from porcini.models import Model, load, loads

_HOMES = {
    "api": ("check", "explore", "permute", "permute_trace", "replay", "run", "symbolic", "transform"),
    "models": ("Model", "load", "loads"),
    "core.errors": ("InputError", "InternalError", "ScheduleError"),
    "coroutines.guards": ("Guards",),
    "core.reports": ("Counterexample", "Counts", "Outcome", "Report", "TraceEntry"),
    "engines.limits": ("Limits",),
    "formats.schedules": ("parse_schedule", "show_schedule"),
}
_HOME = {name: f"porcini.{home}" for home, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Everything is loaded when it is first asked for: pytest looks at the plugin in here at every start."""
    if name not in _HOME:
        raise AttributeError(f"module 'porcini' has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOME[name]), name)
    return value


__all__ = [
    "Counterexample",
    "Counts",
    "Guards",
    "InputError",
    "InternalError",
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
    "permute_trace",
    "replay",
    "run",
    "show_schedule",
    "symbolic",
    "transform",
]
