"""What a search for a pattern has found, for reading: the solutions, and the steps that lead to the first one."""

from __future__ import annotations

from shlex import quote

from rich.console import Console
from rich.text import Text

from porcini.core.reports import Report, Solutions
from porcini.formats.following import row_of
from porcini.formats.schedules import show_schedule
from porcini.formats.values import make_grid, make_table, print_table, show_state

_MOST_STEPS = 40


def print_solutions(report: Report, search: Solutions, console: Console, options: str) -> None:
    """The first ones as a table, then how the very first is reached, with a line to paste."""
    first = search.first[0]
    with_variables = bool(first.binding)
    table = make_table()
    table.add_column("solution", justify="right")
    for column in ("where" if with_variables else "state", "one schedule"):
        table.add_column(column, overflow="fold")
    for number, each in enumerate(search.first, 1):
        bound = ", ".join(f"{name} = {term}" for name, term in each.binding.items())
        shown = bound if with_variables else show_state(each.state)
        schedule = show_schedule(each.trace.schedule) or "no steps"
        table.add_row(str(number), Text(shown), Text(schedule, style="cyan"))
    if search.count > len(search.first):
        table.add_row("...", f"{search.count - len(search.first):,} more", "")
    console.print()
    print_table(table, console)
    if not first.trace:
        return
    console.print()
    console.print(Text("The first of them is reached like this:", style="bold"))
    console.print()
    steps, left_out = first.trace[:_MOST_STEPS], len(first.trace) - _MOST_STEPS
    grid = make_grid()
    for number, event in enumerate(steps, 1):
        grid.add_row(*row_of(number, event))
    if left_out > 0:
        grid.add_row("", "...", f"{left_out:,} more steps")
    print_table(grid, console)
    console.print()
    schedule = show_schedule(first.trace.schedule)
    line = f'  porcini replay {quote(report.file)} {options}"{schedule}" --stop-at {len(first.trace)}'
    console.print(Text(line, style="cyan"))
