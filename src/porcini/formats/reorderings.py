"""The reorderings of a trace without formulas, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from porcini.core.reports import TraceEntry
from porcini.core.traces import ids_of
from porcini.formats.schedules import show_schedule
from porcini.formats.values import make_table

_MOST_ROWS = 20
_LONGEST_LABEL = 40


def reorderings_table(entries: Sequence[TraceEntry]) -> Table:
    """One row per class of a trace without formulas; the first is the recorded one."""
    table = make_table()
    for column in ("order", "what comes first in it", "schedule"):
        table.add_column(column, overflow="fold")
    for entry in entries[:_MOST_ROWS]:
        order = "possible" if entry.reversed else "recorded"
        table.add_row(order, Text(_first_reversed(entry)), Text(show_schedule(entry.schedule), style="cyan"))
    if len(entries) > _MOST_ROWS:
        table.add_row("...", f"{len(entries) - _MOST_ROWS:,} more (--json lists all)", "")
    return table


def _first_reversed(entry: TraceEntry) -> str:
    """The first of the conflicts that an order reverses."""
    if not entry.reversed:
        return ""
    events = zip(ids_of(entry.schedule), entry.labels, strict=True)
    labels = {name: f"{name.pid} {_brief(label)}" for name, label in events}
    first, second = entry.reversed[0]
    more = f", and {len(entry.reversed) - 1:,} more" if len(entry.reversed) > 1 else ""
    return f"{labels[first]} before {labels[second]}{more}"


def _brief(text: str) -> str:
    return text if len(text) <= _LONGEST_LABEL else text[: _LONGEST_LABEL - 3] + "..."
