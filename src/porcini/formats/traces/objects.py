"""JSON lines as objects whose keys are asked for one by one: whatever is wrong says in which line.

A key that nobody asks for is an error: who writes `read` for `reads` would lose conflicts without a word.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NoReturn

from porcini.core.errors import InputError, Place
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.formats.traces import LONGEST_NUMBER

_PID = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,499}\Z")
_PLACE = re.compile(r"([0-9]{1,9}):([0-9]{1,9})\Z")
_LONGEST = 60
_REQUIRED: Any = object()


class _Refused(Exception):
    """A value that JSON allows and traces do not."""


class Fields:
    """One object. `take` returns the value of a key, checked; `end` rejects keys that were not taken."""

    def __init__(self, found: object, file: str, line: int, what: str = "") -> None:
        self.file, self.line, self.what = file, line, what or "an event"
        if not isinstance(found, dict):
            self.refuse(f"{what or 'a line'} must be an object, not {_brief(found)}")
        self._left: dict[str, Any] = dict(found)
        self._asked: set[str] = set()

    def refuse(self, message: str, hint: str | None = None, column: int = 1) -> NoReturn:
        raise InputError(message, file=self.file, place=Place(self.line, column), hint=hint)

    def __contains__(self, key: str) -> bool:
        return key in self._left

    def take(self, key: str, read: Callable[[Fields, str, Any], Any], default: Any = _REQUIRED) -> Any:
        self._asked.add(key)
        if key not in self._left:
            if default is _REQUIRED:
                self.refuse(f"{self.what} has no `{key}`", hint=self._typo(key))
            return default
        return read(self, key, self._left.pop(key))

    def _typo(self, key: str) -> str | None:
        close = get_close_matches(key, self._left, n=1)
        return f"is `{close[0]}` a misprint of it?" if close else None

    def end(self) -> None:
        self._left.pop("info", None)  # whatever a converter wants to keep
        for key in self._left:
            close = get_close_matches(key, self._asked, n=1)
            hint = f"did you mean `{close[0]}`?" if close else "what is for people only goes under `info`"
            self.refuse(f"unknown key {_brief(key)}", hint=hint)

    def refuse_value(self, key: str, what: str, value: object) -> NoReturn:
        self.refuse(f"`{key}` must be {what}, not {_brief(value)}")


# What a key may have as its value


def text(fields: Fields, key: str, value: Any) -> str:
    return value if isinstance(value, str) else fields.refuse_value(key, "a text", value)


def text_or_null(fields: Fields, key: str, value: Any) -> str | None:
    return None if value is None else text(fields, key, value)


def truth(fields: Fields, key: str, value: Any) -> bool:
    return value if isinstance(value, bool) else fields.refuse_value(key, "true or false", value)


def natural(fields: Fields, key: str, value: Any) -> int:
    small = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9
    return value if small else fields.refuse_value(key, "a whole number", value)  # type: ignore[no-any-return]


def naturals(fields: Fields, key: str, value: Any) -> tuple[int, ...]:
    return tuple(natural(fields, key, each) for each in items(fields, key, value))


def items(fields: Fields, key: str, value: Any) -> list[Any]:
    return value if isinstance(value, list) else fields.refuse_value(key, "a list", value)


def texts(fields: Fields, key: str, value: Any) -> tuple[str, ...]:
    return tuple(text(fields, key, each) for each in items(fields, key, value))


def mapping(fields: Fields, key: str, value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else fields.refuse_value(key, "an object", value)


def process(fields: Fields, key: str, value: Any) -> Pid:
    if not isinstance(value, str) or not _PID.match(value):
        fields.refuse_value(key, 'a process such as "0.1"', value)
    return Pid.parse(value)


def processes(fields: Fields, key: str, value: Any) -> tuple[Pid, ...]:
    found = tuple(process(fields, key, each) for each in items(fields, key, value))
    for number, pid in enumerate(found):
        if pid in found[:number]:
            fields.refuse(f"`{key}` names process {pid} twice")
    return found


def place(fields: Fields, key: str, value: Any) -> Place:
    found = _PLACE.match(value) if isinstance(value, str) else None
    if found is None:
        fields.refuse_value(key, 'a place such as "3:14"', value)
    return Place(int(found[1]), int(found[2]))


def touched(fields: Fields, key: str, value: Any) -> dict[Location, Any]:
    """Locations with their values, or a list of locations."""
    if isinstance(value, list):
        names = texts(fields, key, value)
        value = dict.fromkeys(names)
    elif not isinstance(value, dict):
        fields.refuse_value(key, "an object of locations and values, or a list of locations", value)
    return {Location(name): each for name, each in variables(fields, key, value).items()}


def variables(fields: Fields, key: str, value: Any) -> dict[str, Any]:
    for name in mapping(fields, key, value):
        if not name or not name.isprintable():
            fields.refuse(f"a name in `{key}` is empty or cannot be printed")
    return {name: _frozen(each) for name, each in value.items()}


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


def _brief(value: object) -> str:
    shown = json.dumps(value, ensure_ascii=True)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."


# Lines


def lines_of(file: str | Path) -> Iterator[tuple[int, object]]:
    """The JSON values of a file of lines, with their numbers."""
    name = str(file)
    for number, line in enumerate(_text_of(Path(file), name).split("\n"), 1):
        if line.strip():
            yield number, _parse(line, name, number)


def _text_of(path: Path, name: str) -> str:
    if path.is_dir():
        raise InputError("is a directory", file=name)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError("no such file", file=name) from None
    except UnicodeDecodeError as problem:
        raise InputError(f"is not UTF-8 text (byte {problem.start})", file=name) from None
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", file=name) from None


def _parse(line: str, file: str, number: int) -> object:
    try:
        return json.loads(line, parse_int=_number, parse_constant=_constant, object_pairs_hook=_object)
    except json.JSONDecodeError as problem:
        at = Place(number, problem.colno)
        raise InputError(f"not JSON: {problem.msg}", file=file, place=at, hint="one object on each line") from None
    except RecursionError:
        raise InputError("nested too deep", file=file, place=Place(number, 1)) from None
    except _Refused as problem:
        raise InputError(str(problem), file=file, place=Place(number, 1)) from None


def _number(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise _Refused(f"number of {len(digits)} digits; the limit is {LONGEST_NUMBER}")
    return int(digits)


def _constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is not a value that JSON has")


def _object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for number, (key, _) in enumerate(pairs) if key in dict(pairs[:number]))
        raise _Refused(f"an object has {_brief(twice)} twice")
    return found
