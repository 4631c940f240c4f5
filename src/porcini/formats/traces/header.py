"""The first line of a trace: what was run, which variables there are, and what is observed of them."""

from __future__ import annotations

import re
from typing import Any

from porcini.core.observations import Cells, Observation, Part, Queue
from porcini.core.pids import Pid
from porcini.core.recordings import Recording
from porcini.core.systems import Observed
from porcini.formats.traces import FORMAT, VERSION
from porcini.formats.traces.objects import (
    Fields,
    mapping,
    natural,
    naturals,
    processes,
    text,
    text_or_null,
    texts,
    variables,
)

_NUMBER = re.compile(r"-?[0-9]{1,18}\Z")


def read_header(fields: Fields) -> tuple[Recording, tuple[Pid, ...] | None]:
    """A recording without steps, and the initial processes, if they are given."""
    if fields.take("format", text, "") != FORMAT:
        fields.refuse("this is not a trace", hint=f'a trace begins with {{"format": "{FORMAT}", "version": 1}}')
    version = fields.take("version", natural)
    if version != VERSION:
        fields.refuse(f"version {version} of the format is not known", hint=f"this Porcini reads {VERSION}")
    fields.take("porcini", text, "")
    parts = fields.take("observed", _parts, None)
    meanings = fields.take("meanings", _meanings, {})
    initial = fields.take("initial", variables, {})
    unset = fields.take("unset", _types, {})
    bookkeeping, symbols = (frozenset(fields.take(key, texts, ())) for key in ("bookkeeping", "symbols"))
    if parts is None and meanings:
        parts = {name: Cells(name) for name in sorted(initial)}
    observed = None if parts is None else Observation(parts, meanings)
    header = Recording(
        (),
        (),
        initial,
        observed,
        language=fields.take("language", text, ""),
        program=fields.take("file", text_or_null, None),
        inputs=fields.take("inputs", variables, {}),
        unset=unset,
        bookkeeping=bookkeeping,
        symbols=symbols,
    )
    given = fields.take("processes", processes, None)
    fields.end()
    _check_names(fields, header)
    return header, given


def _check_names(fields: Fields, header: Recording) -> None:
    """Everything in a header is about variables that it knows."""
    for name in header.unset:
        if name in header.initial:
            fields.refuse(f"`{name}` is `unset`, and has an initial value")
    known = header.initial.keys() | header.unset.keys()
    named = {"bookkeeping": set(header.bookkeeping), "symbols": set(header.symbols)}
    if header.observed is not None:
        named |= {"observed": header.observed.variables(), "meanings": set(header.observed.names)}
    for key, names in named.items():
        for name in sorted(names - known):
            fields.refuse(f"`{key}` names `{name}`, which has no initial value")


def _types(fields: Fields, key: str, value: Any) -> dict[str, str]:
    found = variables(fields, key, value)
    for type_ in found.values():
        if type_ not in ("int", "bool"):
            fields.refuse_value(key, 'an object with "int" or "bool" for each name', value)
    return found


def _parts(fields: Fields, key: str, value: Any) -> dict[str, Part]:
    """Names of variables, or an object that says of what each value is made."""
    if not isinstance(value, dict):
        return {name: Cells(name) for name in texts(fields, key, value)}
    return {name: _part(fields, key, each) for name, each in value.items()}


def _part(fields: Fields, key: str, value: Any) -> Part:
    if isinstance(value, str):
        return Cells(value)
    inner = Fields(value, fields.file, fields.line, f"each of `{key}`")
    part: Part
    if "cells" in inner:
        part = Cells(inner.take("cells", text), inner.take("sizes", naturals))
    else:
        part = Queue(inner.take("length", text), inner.take("fields", texts))
        if not part.fields:
            fields.refuse("a queue needs at least one of `fields`")
    inner.end()
    return part


def _meanings(fields: Fields, key: str, value: Any) -> dict[str, dict[int, Observed]]:
    found: dict[str, dict[int, Observed]] = {}
    for name, meanings in mapping(fields, key, value).items():
        for number, meaning in variables(fields, key, meanings).items():
            if not _NUMBER.match(number) or not _can_be_shown(meaning):
                fields.refuse(f"`{key}` must have numbers and what they stand for: values, texts or lists")
            found.setdefault(name, {})[int(number)] = meaning
    return found


def _can_be_shown(value: object) -> bool:
    return all(map(_can_be_shown, value)) if isinstance(value, tuple) else isinstance(value, int | str)
