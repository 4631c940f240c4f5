"""The one place that imports the Maude bindings. They are GPL and an extra: everything else works without them.

Maude lives once in a process: modules are global, and it talks on standard error. `load` and `enter` catch what it
says there, so that no warning is lost and none is printed behind the user's back.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porcini.core.errors import InputError, Place

Term = Any
Module = Any
"""Objects of the bindings, which have no types of their own."""


@dataclass(frozen=True, slots=True)
class Warned:
    """Something that Maude said about a file."""

    message: str
    file: str | None
    line: int | None

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}: " if self.file else ""
        return f"Maude: {where}{self.message}"


_maude: Any = None
_loaded: dict[Path, tuple[str, list[Warned]]] = {}
_system: set[str] = set()
_INTERFACE = Path(__file__).with_name("porcini.maude")


def maude() -> Any:
    """The bindings, set up once."""
    global _maude
    if _maude is None:
        try:
            import maude as bindings
        except ImportError:
            raise InputError(
                "rewrite theories need the Maude bindings", hint="pip install 'porcini[maude]'"
            ) from None
        bindings.init(advise=False)
        for forbid in (bindings.setAllowFiles, bindings.setAllowDir, bindings.setAllowProcesses):
            forbid(False)  # a model is data: nothing in it reaches the host
        _maude = bindings
        with _heard():
            bindings.load("model-checker.maude")
            bindings.load(str(_INTERFACE))
        _system.update(header.name for header in bindings.getModules())
    return _maude


def interface() -> str:
    """The module that descriptions are written with, as text."""
    return _INTERFACE.read_text(encoding="utf-8").partition("\n\n")[2].rstrip()


def load(path: Path) -> list[Warned]:
    """Read a file of modules; a file that does not load is an error with Maude's own words."""
    bindings = maude()
    given, path = path, path.resolve()
    text = path.read_text(encoding="utf-8", errors="replace")
    known = _loaded.get(path)
    if known is not None:
        if known[0] != text:
            hint = "start again: Maude does not always survive when modules are redefined"
            raise InputError("has changed since this process has read it", file=str(given), hint=hint)
        return known[1]
    with _heard() as said:
        done = bindings.load(str(path))
    warned = _warnings(said[0])
    if not done or any(map(is_fatal, warned)):
        with _heard():
            bindings.input("endm")  # a file may have ended inside a module
    _refuse(warned, done, given, text)
    _system.difference_update(_DEFINED.findall(text))  # a user may define a module that Maude has, too
    _loaded[path] = text, warned
    return warned


def enter(text: str) -> list[Warned]:
    """Read modules from a text."""
    with _heard() as said:
        maude().input(text)
    return _warnings(said[0])


def module(name: str) -> Module:
    """A module by name."""
    with _heard():
        found = maude().getModule(name)
    if found is None:
        raise InputError(f"there is no module `{name}`")
    return found


def module_names() -> set[str]:
    return {header.name for header in maude().getModules()}


def system_modules() -> set[str]:
    """The modules that were there before any of the user's."""
    maude()
    return _system


def parse(module: Module, text: str, what: str) -> Term:
    """A term of a module; Maude's own words if it is none."""
    with _heard() as said:
        term = module.parseTerm(text)
    if term is None:
        warned = _warnings(said[0])
        said_so = warned[-1].message if warned else "no parse"
        raise InputError(f"{what} `{text}` is no term of its module: {said_so}")
    return term


def meta_term(home: Module, text: str) -> Term:
    """A term as data, as it is written."""
    return module("META-LEVEL").upTerm(parse(home, text, "the term"))


def meta_module(name: str) -> Term:
    """A module as data, as it was written: with its imports, not with what they import."""
    return _reduced(f"upModule('{name}, false)")


def meta_flat_module(name: str) -> Term:
    """A module as data, with all that it imports."""
    return _reduced(f"upModule('{name}, true)")


def _reduced(text: str) -> Term:
    term = module("META-LEVEL").parseTerm(text)
    term.reduce()
    return term


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What is written to standard error meanwhile, by C++ as well."""
    said = [""]
    sys.stderr.flush()
    with tempfile.TemporaryFile() as caught:
        kept = os.dup(2)
        os.dup2(caught.fileno(), 2)
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            caught.seek(0)
            said[0] = caught.read().decode("utf-8", "replace")


_DEFINED = re.compile(r"^\s*(?:s?mod|fmod|omod|fth|th)\s+(\S+)\s+is\b", re.MULTILINE)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_WARNED = re.compile(r'(?:"(?P<file>[^"]*)"|<[^>]*>), line (?P<line>\d+)(?: \([^)]*\))?: (?P<said>.*)', re.DOTALL)
_FATAL = re.compile(
    r"no parse|didn't expect token|undeclared|unusable|unable to|not exist|bad token|missing|unpatchable"
    r"|syntax error|used before it is bound|could not|unrecognized|unexpected|skipped"
)


def _warnings(text: str) -> list[Warned]:
    text = _COLOUR.sub("", text)
    found = []
    for part in re.split(r"^(?:Warning|Error): ", text, flags=re.MULTILINE)[1:]:
        match = _WARNED.match(part.strip())
        if match:
            found.append(Warned(_one_line(match["said"]), match["file"], int(match["line"])))
        else:
            found.append(Warned(_one_line(part), None, None))
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())


def is_fatal(warned: Warned) -> bool:
    """Does it mean that something was not read?"""
    return bool(_FATAL.search(warned.message))


def _refuse(warned: list[Warned], done: bool, path: Path, text: str) -> None:
    fatal = [each for each in warned if is_fatal(each)]
    if not fatal and done:
        return
    if not fatal:
        raise InputError("Maude cannot read it", file=str(path))
    worst = fatal[0]
    here = worst.file is None or Path(worst.file).name == path.name
    place = Place(worst.line, 1) if worst.line is not None else None
    raise InputError(
        worst.message, file=str(path) if here else worst.file, place=place, source=text if here else None
    )
