"""Values and states as text, and tables without lines between their cells."""

from __future__ import annotations

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from porcini.core.systems import Observed

_LONGEST_VALUE = 60


def show_value(value: Observed) -> str:
    if isinstance(value, tuple):
        return "[" + ", ".join(map(show_value, value)) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return value
    if value.bit_length() > 8 * _LONGEST_VALUE:
        return f"<a number of {value.bit_length()} bits>"
    return str(value)


def show_state(state: Mapping[str, Observed]) -> str:
    return "  ".join(f"{name}={show_value(value)}" for name, value in state.items()) or "-"


def print_table(table: Table, console: Console) -> None:
    """Print a table. Tables are padded to a rectangle; in a pipe the trailing blanks are removed."""
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    for line in captured.get().splitlines():
        console.print(Text(line.rstrip()))


def make_table(*columns: str) -> Table:
    """A table with headings, without lines."""
    return Table(*columns, box=None, pad_edge=False, padding=(0, 3, 0, 0), header_style="bold")


def make_grid() -> Table:
    return Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
