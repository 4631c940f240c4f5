"""Instrumented code for functions that exist already: found in their source, statement by statement.

A module may have thousands of lines of which a program uses few. A statement at the top of a module is rewritten
and compiled when a function in it is asked for, by itself: what a name in a function means depends on the
functions and classes around it, and on nothing else in the module. (Python's compiler looks at what a module
imports: `m.f()` is not the call of a method then.)
"""

from __future__ import annotations

import ast
import functools
import inspect
import linecache
from collections.abc import Iterable, Iterator
from types import CodeType, FunctionType

from porcini.langs.aio import rules
from porcini.langs.aio.calls.frames import FUTURE
from porcini.langs.aio.rewriting import rewrite

_Functions = dict[tuple[str, int], list[CodeType]]
"""By qualified name and first line; there can be several lambdas in a line, in the order of their evaluation."""


class NoSource(Exception):
    """The source of this code cannot be found, so it cannot be instrumented."""


def compile_instrumented(tree: ast.Module, filename: str, module: str, static_cells: bool) -> CodeType:
    """The code of a tree, which is rewritten in place."""
    tree, written = rewrite(tree, filename, module, static_cells)
    rules.WRITTEN_GLOBALS.setdefault(module, set()).update(written)
    return rules.mark_instrumented(compile(tree, filename, "exec", dont_inherit=True))


class _Source:
    """The statements of a module, and the functions in those that were compiled. It is compiled once only: a tree
    that is rewritten is gone."""

    def __init__(self, source: str, filename: str) -> None:
        self.filename = filename
        body = ast.parse(source, filename).body
        self.imports = [node for statement in body for node in _imports_in(statement)]
        self.body = {(_first_line(s), s.end_lineno or s.lineno): s for s in body}
        self.functions: _Functions = {}

    def take(self, line: int) -> ast.Module | None:
        """The statement with this line, to be compiled, if that was not done before."""
        for span in [span for span in self.body if span[0] <= line <= span[1]]:
            return ast.Module([*self.imports, self.body.pop(span)], [])
        return None

    def add(self, module: CodeType) -> None:
        todo = [module]
        for code in todo:
            self.functions.setdefault((code.co_qualname, code.co_firstlineno), []).append(code)
            todo.extend(constant for constant in code.co_consts if isinstance(constant, CodeType))


def _imports_in(statement: ast.AST) -> Iterator[ast.stmt]:
    """The imports that a statement makes in the namespace of its module."""
    if isinstance(statement, ast.Import | ast.ImportFrom):
        yield statement
    elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.expr):
        for part in ast.iter_child_nodes(statement):
            yield from _imports_in(part)


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min(statement.lineno, *(each.lineno for each in decorators), statement.lineno)


def statements_of(functions: Iterable[FunctionType], lines: set[int]) -> Iterator[FunctionType]:
    """The functions that are in the same statements of their module as some of these lines."""
    for function in functions:
        source = _source_of(function)
        line = function.__code__.co_firstlineno
        if source is not None and any(first <= line <= last for first, last in _spans(source, frozenset(lines))):
            yield function


@functools.lru_cache(maxsize=1024)
def _spans(source: str, lines: frozenset[int]) -> list[tuple[int, int]]:
    """From where to where the statements go that have some of these lines."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # it is being edited
        return []
    spans = [(_first_line(statement), statement.end_lineno or statement.lineno) for statement in body]
    return [(first, last) for first, last in spans if any(first <= line <= last for line in lines)]


_instrumented = functools.lru_cache(maxsize=1024)(lambda name, static_cells, source, file: _Source(source, file))
_plain = functools.lru_cache(maxsize=1024)(lambda flags, source, file: _Source(source, file))


@functools.lru_cache(maxsize=1024)
def _written_globals(source: str) -> set[str]:
    """The globals that some function of a module rebinds, whether that function is instrumented or not."""
    if "global" not in source:
        return set()
    return {name for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Global) for name in node.names}


def _find_instrumented(code: CodeType, source: str, module: str) -> list[CodeType]:
    """The instrumented code of functions with this name in this line."""
    static_cells = bool(code.co_freevars)
    known = _instrumented(module, static_cells, source, code.co_filename)
    while tree := known.take(code.co_firstlineno):
        rules.WRITTEN_GLOBALS.setdefault(module, set()).update(_written_globals(source))
        known.add(compile_instrumented(tree, code.co_filename, module, static_cells))
    return known.functions.get((code.co_qualname, code.co_firstlineno), [])


def _find_plain(code: CodeType, source: str) -> list[CodeType]:
    """The same as Python has it."""
    flags = code.co_flags & FUTURE
    known = _plain(flags, source, code.co_filename)
    while tree := known.take(code.co_firstlineno):
        known.add(compile(tree, code.co_filename, "exec", flags, dont_inherit=True))
    return known.functions.get((code.co_qualname, code.co_firstlineno), [])


_found: dict[int, tuple[CodeType, str, str, CodeType | None]] = {}
"""By the address of a code: the code, its module's source and name, and what an earlier session found for it."""
_MOST_FOUND = 10_000


def twin_of(function: FunctionType) -> CodeType:
    """The instrumented code for a function: same free variables, so that it can take the old code's place."""
    code = function.__code__
    source = _source_of(function)
    if source is None:
        raise NoSource(f"{function.__module__}.{function.__qualname__}")
    known, name = _found.get(id(code)), function.__globals__.get("__name__", function.__module__)
    if known is not None and known[0] is code and known[1] is source and known[2] == name:
        twin = known[3]
    else:
        try:
            twin = _found_in(source, function)
        except SyntaxError:  # it is being edited
            twin = None
        if len(_found) >= _MOST_FOUND:
            _found.clear()
        _found[id(code)] = code, source, name, twin
    if twin is None or twin.co_freevars != code.co_freevars:
        raise NoSource(f"{function.__module__}.{function.__qualname__}: its source is not the one that was loaded")
    if code.co_flags & inspect.CO_ITERABLE_COROUTINE:  # set by `types.coroutine`
        return twin.replace(co_flags=twin.co_flags | inspect.CO_ITERABLE_COROUTINE)
    return twin


def _found_in(source: str, function: FunctionType) -> CodeType | None:
    """The instrumented code for a function, if the source has code like that which was loaded."""
    code, name = function.__code__, function.__globals__.get("__name__", function.__module__)
    found = _find_instrumented(code, source, name)
    if len(found) > 1 or not _rewritten(function):
        loaded = code.replace(co_flags=code.co_flags & ~inspect.CO_ITERABLE_COROUTINE)
        originals = _find_plain(code, source)
        same = len(found) == len(originals)
        found = [twin for twin, one in zip(found, originals, strict=False) if same and one == loaded]
    return found[0] if found else None


def _rewritten(function: FunctionType) -> bool:
    """Did pytest rewrite the assertions of its module? Then what was loaded is not what the source says."""
    return type(function.__globals__.get("__loader__")).__module__.startswith("_pytest.")


_sources: dict[str, tuple[list[str], str]] = {}
"""By file, its lines as `linecache` has them, and the same as one text: equal texts are then the same object."""


def _source_of(function: FunctionType) -> str | None:
    file = function.__code__.co_filename
    if file.startswith("<frozen"):
        file = str(function.__globals__.get("__file__", file))
    lines = linecache.getlines(file, function.__globals__)
    if not lines:
        if file.startswith("<"):  # made by a dataclass, say: `inspect` would look through all modules for it
            return None
        try:
            return "".join(inspect.findsource(function.__code__)[0])
        except (OSError, TypeError):
            return None
    known = _sources.get(file)
    if known is None or known[0] is not lines:
        known = _sources[file] = (lines, "".join(lines))
    return known[1]
