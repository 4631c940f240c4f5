"""The one place that imports the Maude bindings. They are GPL and an extra: everything else works without them.

Maude lives once in a process: modules are global, and it talks on standard error. `load` and `enter` catch what it
says there, so that no warning is lost and none is printed behind the user's back.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porcini.core.children import ChildDied, announce, is_sealed, run_in_child, time_limit
from porcini.core.errors import InputError, Place
from porcini.langs.maude.source import Library, Piece, cut, read_pieces

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
        where = f"{Path(self.file).name}:{self.line}: " if self.file else ""
        return f"Maude: {where}{self.message}"


_maude: Any = None
_read: dict[str, tuple[Piece, list[Warned]]] = {}
"""The user's modules and views, by name, with what Maude said about them: they are global in a process."""
_written: dict[str, Path] = {}
"""The files that pieces come from, by the names under which Maude reads them."""
_libraries = {"model-checker"}
_system: set[str] = set()
_INTERFACE = Path(__file__).with_name("porcini.maude")
_PATIENCE = 60.0
"""Seconds for Maude to read a model."""


def maude() -> Any:
    """The bindings, set up once."""
    global _maude
    if _maude is None:
        _require()
        with _heard():
            import maude as bindings

            bindings.init(advise=False)
            for forbid in (bindings.setAllowFiles, bindings.setAllowDir, bindings.setAllowProcesses):
                forbid(False)  # a model is data: nothing in it reaches the host
            bindings.load(str(Path(bindings.__file__).with_name("model-checker.maude")))
            bindings.load(str(_INTERFACE))
        _maude = bindings
        _system.update(header.name for header in bindings.getModules())
    return _maude


def _require() -> None:
    """The bindings are a package with a library; some `maude.py` that happens to be around is not run."""
    spec = importlib.util.find_spec("maude")
    folders = spec.submodule_search_locations if spec is not None else None
    if not any(any(Path(folder).glob("_maude.*")) for folder in folders or ()):
        raise InputError("rewrite theories need the Maude bindings", hint="pip install 'porcini[maude]'")


def interface() -> str:
    """The module that descriptions are written with, as text."""
    return _INTERFACE.read_text(encoding="utf-8").partition("\n\n")[2].rstrip()


def load(path: Path) -> list[Warned]:
    """Read a file of modules; a file that does not load is an error with Maude's own words.

    Unless this process is a sealed child itself, Maude reads it in a child at first: what it dies of is an error,
    too, and what it stumbles over does not leave half a module behind in this process.
    """
    maude()
    try:
        items = read_pieces(path)
    except InputError as problem:
        problem.file = problem.file and _shown(Path(problem.file), path)
        raise
    for item in items:
        if isinstance(item, Piece) and _is_known(item, path):
            continue
        if not is_sealed():
            _rehearse(items, path)
        break
    return [warned for item in items for warned in _entered(item, path)]


def _is_known(piece: Piece, path: Path) -> bool:
    known = _read.get(piece.name)
    if known is None:
        return False
    if known[0].text != piece.text:
        hint = "start again: Maude does not always survive when modules are redefined"
        twice = known[0].file == piece.file and known[0].line != piece.line
        message = f"module {piece.name} is there twice" if twice else "has changed since this process has read it"
        if known[0].file != piece.file:
            message = f"module {piece.name} is not the one that this process has read from {known[0].file}"
        raise InputError(message, file=_shown(piece.file, path), place=Place(piece.line, 1), hint=hint)
    return True


def _shown(file: Path, path: Path) -> str:
    """A file as the user would write it."""
    return str(path if file == path.resolve() else file)


def _entered(item: Piece | Library, path: Path) -> list[Warned]:
    if isinstance(item, Library):
        if item.name not in _libraries:
            with _heard():
                maude().load(str(Path(maude().__file__).with_name(f"{item.name}.maude")))
            _libraries.add(item.name)
        return []
    if _is_known(item, path):
        return _read[item.name][1]
    announce(f"{_shown(item.file, path)}:{item.line}")
    with tempfile.TemporaryDirectory(prefix="porcini-") as folder, _heard() as said:
        maude().load(_put(item, Path(folder)))
    announce("")
    warned = _warnings(said[0])
    _refuse(warned, path)
    _system.discard(item.name)  # a user may define a module that Maude has, too
    _read[item.name] = item, warned
    return warned


def _put(piece: Piece, folder: Path) -> str:
    """A piece in a file of its own, for Maude to read."""
    file = folder / f"{len(_written)}.maude"
    _written[file.name] = piece.file
    file.write_text(piece.in_its_lines, encoding="utf-8")
    return str(file)


def _rehearse(items: list[Piece | Library], path: Path) -> None:
    """Read everything in a fork of this process, to see whether it lives."""

    def read() -> None:
        for item in items:
            _entered(item, path)

    try:
        run_in_child(read, timeout=_PATIENCE)
    except TimeoutError:
        raise InputError(f"Maude has not read it after {_PATIENCE:g} s", file=str(path)) from None
    except ChildDied as death:
        file, _, line = death.announced.rpartition(":")
        place = Place(int(line), 1) if file else None
        raise InputError(
            "Maude cannot read it, and does not say why", file=file or str(path), place=place
        ) from None


def enter(text: str) -> list[Warned]:
    """Read modules from a text of ours, by the same gate as those of a user."""
    warned = []
    for piece in cut(text, Path("generated.maude")):
        with tempfile.TemporaryDirectory(prefix="porcini-") as folder, _heard() as said:
            maude().load(_put(piece, Path(folder)))
        warned += _warnings(said[0])
    return warned


def origin(name: str) -> Path | None:
    """The file that Maude has read under a name."""
    return _written.get(name)


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
    """A term of a module; Maude's own words if it is none, or several."""
    with _heard() as said:
        term = module.parseTerm(text)
    warned = _warnings(said[0])
    if term is None:
        said_so = warned[-1].message if warned else "no parse"
        raise InputError(f"{what} `{text}` is not a term of its module: {said_so}")
    if warned:
        raise InputError(f"{what} `{text}` can be read in several ways: {warned[0].message}")
    return term


def parse_if_any(module: Module, text: str, what: str) -> Term | None:
    """A term of a module, if it is one; what can be read in several ways is an error all the same."""
    with _heard() as said:
        term = module.parseTerm(text)
    if term is not None and _warnings(said[0]):
        raise InputError(f"{what} `{text}` can be read in several ways: {_warnings(said[0])[0].message}")
    return term


def declared_variables(name: str) -> Iterator[tuple[str, str]]:
    """The variables that one of the user's modules declares for its statements, with their sorts; the meta-level
    does not know them any more."""
    piece = _read[name][0] if name in _read else None
    body = re.split(r"\bis\b", piece.text, maxsplit=1)[-1] if piece is not None else ""
    for statement in re.split(r"\s\.(?=\s)", body):
        words = statement.split()
        if words and words[0] in ("var", "vars") and ":" in words:
            colon = words.index(":")
            yield from ((variable, " ".join(words[colon + 1 :])) for variable in words[1:colon])


def read_back(module: Module, text: str) -> Term | None:
    """A term as data, if it is one, and can be read in one way only."""
    with _heard() as said:
        term = module.parseTerm(text)
    return None if term is None or _warnings(said[0]) else module_of_terms().upTerm(term)


def module_of_terms() -> Module:
    return module("META-LEVEL")


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
    return normal_form(term)


def normal_form(term: Term) -> Term:
    """A term, reduced: whether that ends is up to the model."""
    with time_limit():
        term.reduce()
    return term


@contextmanager
def _heard() -> Iterator[list[str]]:
    """What is written to standard error meanwhile, by C++ as well; what is written to standard output is dropped.

    Maude takes $PWD for the current folder, and goes there when it has read a file: so we come back.
    """
    said = [""]
    sys.stdout.flush()
    sys.stderr.flush()
    here = os.open(".", getattr(os, "O_PATH", os.O_RDONLY))  # which a sealed child may do anywhere
    with tempfile.TemporaryFile() as caught, tempfile.TemporaryFile() as dropped, time_limit():
        kept = os.dup(1), os.dup(2)
        os.dup2(dropped.fileno(), 1)
        os.dup2(caught.fileno(), 2)
        try:
            yield said
        finally:
            os.fchdir(here)
            os.close(here)
            for number, descriptor in zip((1, 2), kept, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)
            caught.seek(0)
            said[0] = caught.read().decode("utf-8", "replace")


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
            file = _written.get(match["file"] or "")
            name = str(file) if file is not None else match["file"]
            found.append(Warned(_one_line(match["said"]), name, int(match["line"])))
        else:
            found.append(Warned(_one_line(part), None, None))
    return found


def _one_line(text: str) -> str:
    return " ".join(text.split())


def is_fatal(warned: Warned) -> bool:
    """Does it mean that something was not read?"""
    return bool(_FATAL.search(warned.message))


def _refuse(warned: list[Warned], path: Path) -> None:
    fatal = [each for each in warned if is_fatal(each)]
    if not fatal:
        return
    worst = fatal[0]
    file = Path(worst.file) if worst.file else path
    place = Place(worst.line, 1) if worst.file and worst.line is not None else None
    source = file.read_text(encoding="utf-8", errors="replace") if place and file.is_file() else None
    raise InputError(worst.message, file=_shown(file, path), place=place, source=source)
