"""Reports as text: the verdict first, then the outcomes, then two schedules side by side.

Colour on a terminal, plain text in a pipe. Text from a model is never read as markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from io import StringIO
from pathlib import Path
from shlex import quote
from typing import Any, NoReturn, TypeVar

from rich.console import Console
from rich.table import Table
from rich.text import Text

from porcini.core.errors import Place
from porcini.core.events import Event
from porcini.core.reports import PLAIN, Counterexample, Outcome, Report, TraceEntry, Trail, Verdict, View
from porcini.core.systems import Waiting
from porcini.core.traces import common_prefix
from porcini.formats.following import print_snapshot, row_of, show_changes, steps_taken
from porcini.formats.real_code import outcomes_table, print_again, print_lanes, print_troubles
from porcini.formats.reorderings import reorderings_table
from porcini.formats.schedules import show_schedule
from porcini.formats.solutions import print_solutions
from porcini.formats.sources import wait_cycle
from porcini.formats.values import make_grid, make_table, print_table, show_state, show_value
from porcini.formats.verdicts import count_of, footer_of, until_failure, verdict_of

_COLOURS = {"holds": "bold green", "violated": "bold red", "unknown": "bold yellow"}
_MOST_ROWS = 20
_MOST_STEPS = 40
_MOST_NAMES = 6
_CONTEXT = 3
_WIDE = 100_000


T = TypeVar("T")


class _Console(Console):
    """A broken pipe is an error like any other; rich would end the program with status 1."""

    def on_broken_pipe(self) -> NoReturn:
        raise  # what is being handled


def make_console() -> Console:
    """Standard output: as wide as necessary in a pipe, as wide as the terminal on a terminal."""
    console = _Console(highlight=False, soft_wrap=True)
    if not console.is_terminal:
        console.width = _WIDE
    return console


def print_report(report: Report, console: Console, options: str = "") -> None:
    """Everything that a user wants to know, in the order of interest; `options` are repeated in lines to paste."""
    print_verdict(report, console)
    if report.coverage is not None:
        _print_real_code(report, console)
        return
    if report.command in ("run", "replay"):
        _print_run(report, console)
        return
    if report.outcomes or report.traces:
        console.print()
        print_table(_table_of(report), console)
        _print_details(report, console)
    if report.trail is not None:
        _print_trail(report, report.trail, console, options)
    if report.search is not None and report.search.first:
        print_solutions(report, report.search, console, options)
    if report.formulas and report.verdict != "holds":
        _print_formulas(report.formulas, console)
    if report.seeds is not None:
        _print_seeds(report, console, options)
    if report.counterexample:
        _print_counterexample(report.counterexample, console)
        console.print()
        given = report.counterexample.input
        if given is not None:
            options += "".join(f"--input {name}={show_value(value)} " for name, value in given.items())
        for run in report.counterexample.runs:
            program, schedule = _program_of(report, options), f'"{show_schedule(run.schedule)}"'
            follow = f"run {program}--schedule " if run.kind == "unfinished" else f"replay {program}"
            line = f"  porcini {follow}{schedule}" if program else f"  {schedule}"
            console.print(Text(line, style="cyan"))
    _print_end(report, console)


def _print_formulas(formulas: Mapping[str, Verdict], console: Console) -> None:
    table = make_table("formula", "verdict")
    for name, verdict in formulas.items():
        table.add_row(Text(name), Text("does not hold" if verdict == "violated" else verdict))
    console.print()
    print_table(table, console)


def _program_of(report: Report, options: str) -> str:
    """The arguments for another command to run the same program; empty if it is not known."""
    source = report.trace
    if source is None:
        return f"{quote(report.file)} {options}"
    if source.program is None:
        return ""
    given = "".join(f"--input {name}={show_value(value)} " for name, value in source.inputs.items())
    return f"{quote(source.program)} {given}"


def _print_end(report: Report, console: Console) -> None:
    console.print()
    _print_notes(report, console)
    console.print(Text(footer_of(report), style="dim"))


def _print_notes(report: Report, console: Console) -> None:
    for note in report.notes:
        console.print(Text(f"note: {note}", style="yellow"))


def _print_real_code(report: Report, console: Console) -> None:
    """The same in lines of source, for programs in more than one file."""
    explored = report.command == "explore"
    if report.outcomes and explored:
        console.print()
        print_table(outcomes_table(report), console)
        print_troubles(report, console)
    print_lanes(report, console)
    if not explored:
        print_troubles(report, console)
    if report.command == "run" or (explored and report.counterexample):
        print_again(report, console)
    if explored:
        _print_end(report, console)
    elif len(report.notes) > 1:
        console.print()
        for note in report.notes[1:]:  # the first one says which orders there are
            console.print(Text(f"note: {note}", style="yellow"))


def show_report(report: Report, view: View = PLAIN) -> str:
    """A report as text: for a terminal in colours, and as wide as the terminal."""
    text = StringIO()
    reader = None if view.stream is None else Console(file=view.stream)
    if reader is not None and reader.is_terminal:
        console = _on_terminal(reader, text)
    else:
        console = Console(file=text, highlight=False, soft_wrap=True, width=_WIDE, color_system=None)
    if view.verdict_only:
        print_verdict(report, console)
    else:
        print_report(report, console, view.options)
    return text.getvalue().removesuffix("\n")


def _on_terminal(reader: Console, text: StringIO) -> Console:
    """A console that writes to a text what the reader's terminal can show."""
    colours: Any = reader.color_system
    return Console(
        file=text,
        highlight=False,
        soft_wrap=True,
        width=reader.width,
        force_terminal=True,
        color_system=colours,
    )


def print_comparison(reports: Sequence[Report], console: Console) -> None:
    """One row per engine."""
    table = make_table()
    for column in ("engine", "verdict", "outcomes", "executions", "blocked", "classes", "events", "seconds"):
        table.add_column(column, justify="left" if column in ("engine", "verdict") else "right")
    for report in reports:
        counts = report.counts
        numbers = (len(report.outcomes), counts.executions, counts.blocked, counts.classes, counts.events)
        verdict = Text(report.verdict, style=_COLOURS[report.verdict])
        name = f"{report.engine} ({report.selection})" if report.selection else report.engine
        table.add_row(name, verdict, *(f"{n:,}" for n in numbers), f"{report.seconds:.2f}")
    print_table(table, console)


def print_verdict(report: Report, console: Console) -> None:
    console.print(Text(verdict_of(report), style=_COLOURS[report.verdict]))


# Outcomes


def _outcomes(report: Report) -> Table:
    table = make_table()
    for column in ("outcome", "final state"):
        table.add_column(column, overflow="fold")
    table.add_column("end states" if report.kept_states else "executions", justify="right")
    table.add_column("one schedule", overflow="fold")
    for outcome in report.outcomes[:_MOST_ROWS]:
        table.add_row(
            Text(outcome.kind, style="" if outcome.kind == "terminated" else "red"),
            Text(show_state(outcome.state)),
            f"{outcome.executions:,}",
            Text(show_schedule(outcome.schedule), style="cyan"),
        )
    if len(report.outcomes) > _MOST_ROWS:
        table.add_row("...", f"{len(report.outcomes) - _MOST_ROWS:,} more (--json lists all)", "", "")
    return table


def _table_of(report: Report) -> Table:
    if report.traces is None:
        return _outcomes(report)
    exact = report.trace is None or report.trace.exact
    return _traces(report.traces) if exact else reorderings_table(report.traces)


def _traces(entries: Sequence[TraceEntry]) -> Table:
    """One row per class of `permute`."""
    table = make_table()
    with_inputs = any(entry.input for entry in entries)
    columns = ("outcome", "final state", "path condition", *(("input",) if with_inputs else ()), "schedule")
    for column in columns:
        table.add_column(column, overflow="fold")
    for entry in entries[:_MOST_ROWS]:
        cells = [
            Text(entry.kind, style="" if entry.kind == "terminated" else "red"),
            Text(show_state(entry.state)),
            Text(entry.path),
        ]
        if with_inputs:
            cells.append(Text(show_state(entry.input or {})))
        table.add_row(*cells, Text(show_schedule(entry.schedule), style="cyan"))
    if len(entries) > _MOST_ROWS:
        more = f"{len(entries) - _MOST_ROWS:,} more (--json lists all)"
        table.add_row("...", more, *[""] * (len(columns) - 2))
    return table


def _print_details(report: Report, console: Console) -> None:
    """Why runs that ended badly did so: one example of each kind."""
    shown = report.counterexample.runs if report.counterexample else ()
    examples = {outcome.kind: outcome for outcome in (*reversed(report.outcomes), *shown)}
    file = report.trace.program or "" if report.trace else report.file
    for kind in sorted(examples):
        print_trouble(examples[kind], file, console)


def print_trouble(outcome: Outcome, file: str, console: Console) -> None:
    """Why a run ended badly, if it did."""
    failures = [(event.pid, event.failure) for event in outcome.trace if event.failure]
    if outcome.kind in ("assertion", "error"):
        console.print()
        for pid, failure in failures:
            where = _at(file, failure.place)
            console.print(Text(f"Process {pid} stopped{where}: {failure.message}"))
    if outcome.kind == "deadlock":
        console.print()
        console.print(Text("Deadlock: nothing can move" + (", and" if outcome.waiting else ".")))
        for waiting in outcome.waiting:
            console.print(Text("  " + _waits(waiting, file)))
        cycle = wait_cycle(outcome.waiting)
        if cycle:
            console.print(Text("  in a cycle: " + " -> ".join(map(str, cycle))))


def _at(file: str, place: Place | None) -> str:
    """A place in a file, or in a module that is named with its function."""
    if place is None:
        return ""
    return f" at line {place.line}" if Path(file).suffix == "" else f" at {file}:{place}"


def _waits(waiting: Waiting, file: str) -> str:
    where = _at(file, waiting.place)
    seen = ", ".join(f"{name} = {show_value(value)}" for name, value in waiting.values.items())
    guard = waiting.guard if waiting.waits_for else f"`{waiting.guard}`"
    holds = f"holds {waiting.holds} and " if waiting.holds else ""
    who = f"{waiting.pid} ({waiting.name})" if waiting.name else str(waiting.pid)
    return f"{who} {holds}waits{where} for {guard}" + (f", where {seen}" if seen else "")


def _print_seeds(report: Report, console: Console, options: str) -> None:
    assert report.seeds is not None
    console.print()
    if not report.seeds:
        console.print(Text("No seeds: every run is a permutation of this one."))
        return
    console.print(Text("Seeds, after which a run does something not recorded here:"))
    for seed in report.seeds[:_MOST_ROWS]:
        program, schedule = _program_of(report, options), f'"{show_schedule(seed)}"'
        line = f"  porcini run {program}--schedule {schedule}" if program else f"  {schedule}"
        console.print(Text(line, style="cyan"))
    if len(report.seeds) > _MOST_ROWS:
        console.print(Text(f"  ... {len(report.seeds) - _MOST_ROWS:,} more (--json lists all)"))


# Traces


def _print_run(report: Report, console: Console) -> None:
    if report.watched is not None:
        console.print()
        first = {name: value for name, value in report.watched.items() if value is not None}
        console.print(Text(f"at first: {show_state(first)}"))
    if report.trail is not None:
        console.print()
        notes = [show_changes(step) for step in report.steps or ()]
        print_table(_steps_of(replace(report.trail, notes=("", *notes))), console)
        stem, loop = (show_schedule(part.schedule) for part in (report.trail.stem, report.trail.loop))
        console.print()
        console.print(Text(f'schedule: "{stem}" --loop "{loop}"', style="dim"))
    elif report.steps:
        console.print()
        print_table(steps_taken(report.steps), console)
    for outcome in report.outcomes:
        if report.steps is None and outcome.trace:
            console.print()
            print_table(_steps_of_run(until_failure(outcome.trace)), console)
        print_trouble(outcome, report.file, console)
        console.print()
        console.print(Text(show_state(outcome.state)))
        console.print(Text(f"schedule: {show_schedule(outcome.schedule)}", style="dim"))
    if report.snapshot is not None:
        print_snapshot(report.snapshot, report.steps or (), console)
    if report.seed is not None:
        console.print(Text(f"seed: {report.seed}", style="dim"))
    _print_notes(report, console)


def _steps_of_run(steps: Sequence[Event]) -> Table:
    table = make_grid()
    for number, event in _shorten(steps):
        table.add_row(*(("", "...", f"{number:,} more steps") if event is None else row_of(number, event)))
    return table


def _shorten(steps: Sequence[Event]) -> list[tuple[int, Event | None]]:
    """All steps with their numbers, or for a long run the first and the last ones."""
    return _ends_of(list(enumerate(steps, 1)))


def _print_counterexample(example: Counterexample, console: Console) -> None:
    console.print()
    if len(example.runs) == 1:
        _print_one(example.runs[0], console)
        return
    left, right = example.runs
    differ = f"differ in {', '.join(example.differs)}" if example.differs else "end alike, but are not equivalent"
    console.print(Text(f"Two schedules that {differ}:", style="bold"))
    console.print()
    part = common_prefix(left.schedule, right.schedule)
    table = make_grid()
    one, two = until_failure(left.trace), until_failure(right.trace)
    first = max(0, part - _CONTEXT)
    last = min(max(len(one), len(two)), part + _MOST_STEPS)
    if first:
        table.add_row("", "...", f"{count_of(first, 'common step')}", "", "")
    for i in range(first, last):
        mark = Text(">" if i == part else " ", style="bold yellow")
        table.add_row(mark, *_cells(one, i), *_cells(two, i))
    rest = max(len(one), len(two)) - last
    if rest > 0:
        table.add_row("", "...", f"{count_of(rest, 'more step')}", "", "")
    table.add_row("", "", "", "", "")
    table.add_row(" ", "", _ending(left, example.differs), "", _ending(right, example.differs))
    print_table(table, console)


def _cells(steps: Sequence[Event], i: int) -> tuple[Text, Text]:
    if i >= len(steps):
        return Text(""), Text("")
    return Text(str(steps[i].pid), style="bold"), Text(str(steps[i].label))


def _ending(outcome: Outcome, differs: Sequence[str]) -> Text:
    """How a run ended; for a large state only the values that differ."""
    if "kind" in differs and len(outcome.state) > _MOST_NAMES:
        return Text(outcome.kind, style="bold")
    kind = "" if outcome.kind == "terminated" else outcome.kind + ": "
    state = outcome.state
    if len(state) > _MOST_NAMES:
        names = {name.partition("[")[0] for name in differs}
        state = {name: value for name, value in state.items() if name in names}
    return Text(kind + show_state(state), style="bold")


def _print_trail(report: Report, trail: Trail, console: Console, options: str) -> None:
    """A run on which a formula does not hold: its steps, with the propositions that change."""
    console.print()
    console.print(Text(f"A run on which it does not hold; {trail.notes[0]}:", style="bold"))
    console.print()
    print_table(_steps_of(trail), console)
    console.print()
    again = f' --loop "{show_schedule(trail.loop.schedule)}"' if trail.loop else ""
    line = f'  porcini replay {quote(report.file)} {options}"{show_schedule(trail.stem.schedule)}"{again}'
    console.print(Text(line, style="cyan"))


def _steps_of(trail: Trail) -> Table:
    table = make_grid()
    notes = trail.notes[1:] or ("",) * (len(trail.stem) + len(trail.loop))
    stem = [(event, note) for event, note in zip(trail.stem, notes, strict=False)]
    loop = [(event, note) for event, note in zip(trail.loop, notes[len(stem) :], strict=False)]
    for title, part, first in (("", stem, 1), ("then for ever:", loop, 1 + len(stem))):
        if title:
            table.add_row("", "", Text(title if part else _no_more(trail), style="bold"), "")
        for number, step in _ends_of([(first + i, pair) for i, pair in enumerate(part)]):
            if step is None:
                table.add_row("", "...", f"{number:,} more steps", "")
            else:
                table.add_row(*row_of(number, step[0]), Text(step[1], style="yellow"))
    return table


def _no_more(trail: Trail) -> str:
    failed = any(event.failure for event in trail.stem)
    return f"then nothing more: {'it has failed' if failed else 'it has ended'}"


def _ends_of(rows: Sequence[tuple[int, T]]) -> list[tuple[int, T | None]]:
    """All rows, or if there are many, the first and the last ones with the number of those left out."""
    if len(rows) <= _MOST_STEPS:
        return list(rows)
    half = _MOST_STEPS // 2
    return [*rows[:half], (len(rows) - 2 * half, None), *rows[-half:]]


def _print_one(outcome: Outcome, console: Console) -> None:
    console.print(Text("One schedule that ends so:", style="bold"))
    console.print()
    print_table(_steps_of_run(until_failure(outcome.trace)), console)
