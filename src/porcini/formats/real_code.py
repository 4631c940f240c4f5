"""Reports on real code as text: how it can end, why, and two runs side by side in lines of source."""

from __future__ import annotations

import re

from rich.console import Console
from rich.table import Table
from rich.text import Text

from porcini.core.explanations import Lane
from porcini.core.reports import Outcome, Report
from porcini.formats.lanes import Row, columns_here, ending, rows_of
from porcini.formats.schedules import show_schedule
from porcini.formats.sources import deadlock_head, short_path, show_deadlock, show_raised
from porcini.formats.values import make_table

_MOST_ROWS = 20
_LONGEST_SCHEDULE = 300
_READS = re.compile(r"\s+reads\b")
_STYLES = {"title": "bold", "rest": "dim"}
_BAD, _GOOD = "bold red", "bold green"


def outcomes_table(report: Report) -> Table:
    """How the code can end, how often, and one schedule for each outcome."""
    table = make_table()
    table.add_column("outcome", overflow="fold")
    table.add_column("schedules", justify="right")
    table.add_column("one of them", overflow="fold")
    for outcome in report.outcomes[:_MOST_ROWS]:
        style = "" if outcome.kind == "terminated" else "red"
        schedule = show_schedule(outcome.schedule)
        if len(schedule) > _LONGEST_SCHEDULE:
            schedule = f"{schedule[:_LONGEST_SCHEDULE]}… (--json has all of it)"
        table.add_row(Text(ending(outcome), style=style), f"{outcome.executions:,}", Text(schedule, style="cyan"))
    if len(report.outcomes) > _MOST_ROWS:
        table.add_row(f"... {len(report.outcomes) - _MOST_ROWS:,} more (--json lists all)", "", "")
    return table


def print_troubles(report: Report, console: Console) -> None:
    """Why runs ended badly: the one in the counterexample, and one of each other kind."""
    shown = report.counterexample.runs[0] if report.counterexample else None
    kinds = {outcome.kind: outcome for outcome in reversed(report.outcomes)}
    if shown is not None:
        kinds.pop(shown.kind, None)
        _print_trouble(report, shown, console)
    for kind in sorted(kinds):
        _print_trouble(report, kinds[kind], console)


def _print_trouble(report: Report, outcome: Outcome, console: Console) -> None:
    if outcome.kind == "terminated":
        return
    console.print()
    explanation, example = report.explanation, report.counterexample
    if outcome.kind == "deadlock":
        console.print(Text(deadlock_head(outcome.waiting) + ":", style="bold"))
        lines = list(show_deadlock(outcome.waiting))
    elif explanation is not None and explanation.raised and example is not None and outcome is example.runs[0]:
        lines = list(show_raised(explanation.raised))
    else:
        lines = [_failure(outcome)]
    lines += [f"    fault: {fault}" for fault in outcome.faults]
    room = columns(console)
    for line in lines:
        console.print(Text(line if len(line) <= room else f"{line[: room - 1]}…"))


def _failure(outcome: Outcome) -> str:
    failure = next((event.failure for event in outcome.trace if event.failure), None)
    if failure is None or failure.file is None or failure.place is None:
        return ending(outcome)
    return f"{ending(outcome)} at {short_path(failure.file)}:{failure.place.line}"


def columns(console: Console) -> int:
    """How wide lines of source may be: as wide as the terminal, or a default width for pipes."""
    return console.width if console.is_terminal else columns_here()


def print_lanes(report: Report, console: Console) -> None:
    explanation = report.explanation
    if explanation is None or not explanation.lanes:
        return
    console.print()
    for row in rows_of(explanation.lanes, columns(console)):
        console.print(_style(row, explanation.lanes))


def _style(row: Row, lanes: tuple[Lane, ...]) -> Text:
    if row.parts:
        return Text(str(row), style="bold yellow")
    text = Text("  ")
    for number, cell in enumerate(row.cells):
        style = _STYLES.get(row.kind, "")
        if row.kind == "touch" and _READS.match(cell):
            style = "dim"
        if row.kind in ("passes", "fails"):
            passes = lanes[number].passes if len(row.cells) == len(lanes) else row.kind == "passes"
            style = _GOOD if passes else _BAD
        text.append(cell if number == len(row.cells) - 1 else cell + "   ", style=style)
    text.rstrip()
    return text


def print_again(report: Report, console: Console) -> None:
    """Print command lines to paste that replay the runs."""
    if report.explanation is None:
        return
    console.print()
    for line in report.explanation.again:
        console.print(Text(line, style="cyan"))
