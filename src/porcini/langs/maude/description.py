"""The page that a language needs: which sorts are states, threads and thread ids, and who says what steps
touch."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields
from pathlib import Path

from porcini.core.errors import InputError, Place


@dataclass(frozen=True, slots=True)
class Description:
    """A description as it is written in a TOML file."""

    file: str
    module: str
    """The module with the rules and the program."""
    initial: str
    """The state to begin with, a term of it."""
    state: str
    thread: str
    tid: str
    dependence: str | None = None
    """A module that defines `touches`; without it, what steps touch is derived from the rules."""
    future: str | None = None
    """A module that defines `future`; without it, a thread may touch all that its code names."""
    propositions: str | None = None
    """A module that defines `_|=_`."""

    @property
    def modules(self) -> list[str]:
        """All modules that it names, each once."""
        named = (self.module, self.propositions, self.dependence, self.future)
        return list(dict.fromkeys(name for name in named if name))


_KEYS = tuple(field.name for field in fields(Description) if field.name != "file")
_NEEDED = ("module", "initial", "state", "thread", "tid")


def read_description(path: Path) -> Description:
    """Read a description; what is wrong with it is an error that names the key."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise InputError(
            "no such file", file=str(path), hint="a theory needs a description, see docs/maude.md; --por names it"
        ) from None
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot be read: {problem}", file=str(path)) from None
    try:
        found = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise InputError(f"is no TOML: {problem}", file=str(path)) from None
    for key, value in found.items():
        if key not in _KEYS:
            raise _wrong(path, text, key, f"unknown key `{key}`", f"known: {', '.join(_KEYS)}")
        if not isinstance(value, str) or not value.strip():
            raise _wrong(path, text, key, f"`{key}` wants a text", None)
    missing = [key for key in _NEEDED if key not in found]
    if missing:
        raise InputError(f"`{missing[0]}` is missing", file=str(path), hint=f"needed: {', '.join(_NEEDED)}")
    return Description(str(path), **found)


def wrong_value(description: Description, key: str, message: str, hint: str | None = None) -> InputError:
    """An error about the value of a key, at its line."""
    path = Path(description.file)
    return _wrong(path, path.read_text(encoding="utf-8") if path.is_file() else "", key, message, hint)


def _wrong(path: Path, text: str, key: str, message: str, hint: str | None) -> InputError:
    lines = text.splitlines()
    at = next((number for number, line in enumerate(lines, 1) if line.split("=")[0].strip() == key), None)
    place = Place(at, 1) if at else None
    return InputError(message, file=str(path), place=place, source=text, hint=hint)
