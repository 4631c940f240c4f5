"""Programs that are read from files, whatever their language: `load`, `loads`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from porcini.core.errors import InputError
from porcini.core.languages import LANGUAGES, OTHER_ENDINGS, Language, Model, Source

__all__ = ["Model", "load", "loads", "names_function"]

_FUNCTION = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*\Z")


def names_function(text: str) -> bool:
    """Is it `package.module:function`, and not the name of a file?"""
    return _FUNCTION.match(text) is not None and not Path(text).exists()


def load(file: str | Path, *, defines: Mapping[str, str] | None = None, por: str | None = None) -> Model:
    """Read a program. What is wrong with it is an `InputError` that says where; `defines` are macros of Promela,
    `por` names the description of a rewrite theory.

    >>> load("examples/gcl/vineyard.gcl").language
    'gcl'
    """
    source_path = Path(file)
    if not str(file):
        raise InputError("no file was named")
    if source_path.is_dir():
        raise InputError("is a directory", file=str(file))
    try:
        raw = source_path.read_bytes()
    except FileNotFoundError:
        raise InputError("no such file", file=str(file), hint=_a_function(str(file))) from None
    except (OSError, ValueError) as problem:
        raise InputError(f"cannot be read: {problem}", file=str(file)) from None
    language = source_path.suffix.removeprefix(".")
    return _read(language, Source(_decoded(raw, str(file), language), str(file), defines or {}, por))


def _decoded(raw: bytes, file: str, language: str) -> str:
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        found = _registered(language)
        if found is not None and found.takes_latin and b"\0" not in raw:
            return raw.decode("latin-1")
        raise InputError(f"is not UTF-8 text (byte {problem.start})", file=file) from None


def _a_function(file: str) -> str | None:
    """Who names a file of Python with a function means a module."""
    path, colon, function = file.rpartition(":")
    if not colon or not path.endswith(".py"):
        return None
    module = ".".join(part for part in Path(path).with_suffix("").parts if part not in ("/", ".", ".."))
    return f"a coroutine function is named by its module: {module}:{function}"


def loads(
    source: str, language: str = "gcl", file: str = "<text>", *, defines: Mapping[str, str] | None = None
) -> Model:
    """Read a program from a string.

    >>> sorted(loads("x |-> 0, True |> x := 1").observable)
    ['x']
    """
    if language in LANGUAGES and LANGUAGES[language].takes_description:
        raise InputError("a rewrite theory is read from a file, with its description", file=file)
    return _read(language, Source(source, file, defines or {}))


def _registered(language: str) -> Language | None:
    return next((registry[language] for registry in (LANGUAGES, OTHER_ENDINGS) if language in registry), None)


def _read(language: str, source: Source) -> Model:
    found = _registered(language)
    if found is None:
        known = ", ".join("." + ending for ending in LANGUAGES)
        stem = Path(source.file).stem
        hint = f"a coroutine function in it is {stem}:NAME" if language == "py" else f"known: {known}"
        raise InputError(f"unknown language `.{language}`", file=source.file, hint=hint)
    if source.description is not None and not found.takes_description:
        raise InputError("a description is for rewrite theories only", file=source.file)
    if source.defines and not found.takes_macros:
        raise InputError("macros are defined for Promela only", file=source.file)
    return found.load(source)
