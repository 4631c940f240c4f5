"""A run that is followed step by step, as text: who did what, what changed, and what is enabled next."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from porcini.core.events import Event
from porcini.core.pids import Pid
from porcini.core.steps import EnabledStep, Snapshot, TakenStep
from porcini.core.systems import Observed, StepSource
from porcini.formats.schedules import show_schedule
from porcini.formats.values import make_grid, print_table, show_state, show_value


def steps_taken(steps: Sequence[TakenStep]) -> Table:
    """Every step of a run, up to one that fails, with what it changed."""
    table = make_grid()
    for number, step in enumerate(steps, 1):
        table.add_row(*row_of(number, step.event), Text(show_changes(step), style="yellow"))
        if step.event.failure:
            break
    return table


def show_changes(step: TakenStep) -> str:
    """What a step changed: `x: 0 -> 1`."""
    return "  ".join(f"{each.name}: {_show(each.before)} -> {_show(each.after)}" for each in step.changes)


def _show(value: Observed | None) -> str:
    return "none" if value is None else show_value(value)


def print_enabled(steps: Sequence[EnabledStep], console: Console) -> None:
    """The enabled steps, numbered from 1: the process, the line and the text of each."""
    table = make_grid()
    for number, step in enumerate(steps, 1):
        who, line = show_process(step.move.pid, step.source), show_line(step.source)
        table.add_row(Text(str(number), style="dim"), Text(who, style="bold"), Text(line), Text(str(step.label)))
    print_table(table, console)


def show_process(pid: Pid, source: StepSource) -> str:
    return f"{pid} ({source.process})" if source.process else str(pid)


def show_line(source: StepSource) -> str:
    return f"line {source.place.line}" if source.place else ""


def print_snapshot(snapshot: Snapshot, steps: Sequence[TakenStep], console: Console) -> None:
    """Where a run was stopped: the state, and the enabled steps."""
    console.print()
    console.print(Text(show_state(snapshot.variables)))
    console.print()
    console.print(Text("What can go next:"))
    print_enabled(snapshot.enabled, console)
    console.print()
    schedule = show_schedule(tuple(step.event.move for step in steps))
    console.print(Text(f"schedule: {schedule or '-'}", style="dim"))


def row_of(number: int, event: Event) -> tuple[Text, Text, Text]:
    return Text(str(number), style="dim"), Text(str(event.pid), style="bold"), Text(str(event.label))
