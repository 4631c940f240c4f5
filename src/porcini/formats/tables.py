"""The tables of languages and engines as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from rich.table import Table
from rich.text import Text

from porcini.formats.text import make_console
from porcini.formats.values import make_table

_YES, _NO = "yes", "-"


class LanguageRow(Protocol):
    """A row of `porcini.matrix`."""

    @property
    def name(self) -> str: ...

    @property
    def title(self) -> str: ...

    @property
    def commands(self) -> Mapping[str, str | None]: ...

    @property
    def engines(self) -> Mapping[str, str | None]: ...


def _table(*columns: str) -> Table:
    table = make_table()
    for column in columns:
        table.add_column(column, no_wrap=True)
    return table


def print_languages(rows: Sequence[LanguageRow]) -> None:
    """Each language, the commands and engines that support it, and the reasons why others do not."""
    console = make_console()
    titles = _table("language", "")
    for row in rows:
        titles.add_row(row.name, row.title)
    console.print(titles)
    parts = ("command", [row.commands for row in rows]), ("engine of explore", [row.engines for row in rows])
    for head, columns in parts:
        console.print()
        table = _table(head, *(row.name for row in rows))
        for name in columns[0]:
            table.add_row(name, *(_cell(column[name]) for column in columns))
        console.print(table)
    console.print()
    for row in rows:
        missing: dict[str, list[str]] = {}
        for name, reason in (*row.commands.items(), *row.engines.items()):
            if reason is not None:
                missing.setdefault(reason, []).append(name)
        for reason, names in missing.items():
            console.print(Text(f"{row.name} without {', '.join(names)}: {reason}"))


def _cell(reason: str | None) -> Text:
    return Text(_YES, style="green") if reason is None else Text(_NO, style="dim")


def print_engines(engines: Sequence[Mapping[str, Any]], rows: Sequence[LanguageRow]) -> None:
    """What each engine does, and which languages it supports."""
    console = make_console()
    table = _table("engine", "", "for")
    for engine in engines:
        able = [row.name for row in rows if row.engines[engine["name"]] is None]
        table.add_row(engine["name"], engine["summary"], "all" if len(able) == len(rows) else ", ".join(able))
    console.print(table)
