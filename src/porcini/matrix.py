"""Which language goes with which command and engine: one table for people, programs, the docs and the tests.

Nothing is decided here: engines and commands have needs, languages have capabilities (`core.capabilities`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from porcini.commands.needs import COMMANDS
from porcini.core.capabilities import Capabilities
from porcini.core.languages import LANGUAGES
from porcini.engines.catalogue import engines_by_rank


@dataclass(frozen=True, slots=True)
class Row:
    """A language: for each command, and for each engine of `explore`, why it is not possible, or None if it is."""

    name: str
    title: str
    commands: dict[str, str | None]
    engines: dict[str, str | None]

    @property
    def cells(self) -> dict[str, str | None]:
        return self.commands | {f"explore --engine {name}": reason for name, reason in self.engines.items()}


def matrix() -> list[Row]:
    """All languages that are installed, and real code."""
    from porcini.coroutines.code import CAPABILITIES

    rows = [_row(f".{ending}", language.title, language.capabilities) for ending, language in LANGUAGES.items()]
    return [*rows, _row("module:function", "coroutines of asyncio", CAPABILITIES)]


def _row(name: str, title: str, capabilities: Capabilities) -> Row:
    commands = {command: capabilities.missing(needs) for command, needs in COMMANDS.items()}
    engines = {engine: capabilities.missing(found.needs) for engine, found in engines_by_rank()}
    return Row(name, title, commands, engines)


def to_json(rows: list[Row]) -> dict[str, Any]:
    return {
        "schema": 1,
        "languages": [
            {"name": row.name, "title": row.title, "commands": row.commands, "engines": row.engines}
            for row in rows
        ],
    }


def engines_to_json() -> dict[str, Any]:
    return {
        "schema": 1,
        "engines": [
            {
                "name": name,
                "summary": engine.summary,
                "needs": list(engine.needs),
                "complete": engine.complete,
                "keeps_states": engine.keeps_states,
            }
            for name, engine in engines_by_rank()
        ],
    }


def reasons(rows: list[Row]) -> list[str]:
    """The reasons for all holes, each once; a hole is shown by the number of its reason."""
    found = (reason for row in rows for reason in row.cells.values() if reason is not None)
    return list(dict.fromkeys(found))


def as_markdown(rows: list[Row]) -> str:
    """The table as it stands in the docs: a column for each language."""
    numbered = reasons(rows)
    lines = ["| | " + " | ".join(f"`{row.name}`" for row in rows) + " |", "|---" * (len(rows) + 1) + "|"]
    for cell in rows[0].cells:
        shown = [_shown(row.cells[cell], numbered) for row in rows]
        lines.append(f"| `{cell}` | " + " | ".join(shown) + " |")
    lines.append("")
    lines += [f"{number}. {reason}" for number, reason in enumerate(numbered, 1)]
    return "\n".join(lines) + "\n"


def _shown(reason: str | None, numbered: list[str]) -> str:
    return "yes" if reason is None else f"no ({numbered.index(reason) + 1})"
