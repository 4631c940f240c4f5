"""Trees of frozen dataclasses and tuples: their parts, and copies in which one part is another.

Shrinking and mutating programs needs no more than this, whatever the language: a program is such a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

Path = tuple[str | int, ...]
"""The way from the root of a tree to one of its parts: names of fields, and places in tuples."""
Tree = TypeVar("Tree")


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def children(tree: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(tree, tuple):
        yield from enumerate(tree)
    elif is_dataclass(tree):
        for name in _field_names(type(tree)):
            yield name, getattr(tree, name)


def parts(tree: Any) -> Iterator[Any]:
    """The tree and all that is in it, from the outside to the inside, in the order of the text."""
    yield tree
    for _, child in children(tree):
        yield from parts(child)


def located(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every dataclass and every tuple in a tree with the way to it, the tree itself first."""
    if isinstance(tree, tuple) or is_dataclass(tree):
        yield path, tree
        for key, child in children(tree):
            yield from located(child, (*path, key))


def part(tree: Any, path: Path) -> Any:
    for key in path:
        tree = tree[key] if isinstance(key, int) else getattr(tree, key)
    return tree


def replaced(tree: Tree, path: Path, new: Any) -> Tree:
    """A copy of a tree that has `new` at `path`."""
    if not path:
        return new
    key, rest = path[0], path[1:]
    if isinstance(key, int):
        assert isinstance(tree, tuple)
        return (*tree[:key], replaced(tree[key], rest, new), *tree[key + 1 :])
    return replace(tree, **{key: replaced(getattr(tree, key), rest, new)})


def rewritten(tree: Any, edits: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """The trees that differ from this one in one place, where `edits` gives what could be there instead."""
    yield from edits(tree)
    for key, child in children(tree):
        for changed in rewritten(child, edits):
            yield replaced(tree, (key,), changed)


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with a change made to each of its parts, from the leaves up."""
    if isinstance(tree, tuple):
        return change(tuple(mapped(child, change) for child in tree))
    if is_dataclass(tree):
        return change(replace(tree, **{name: mapped(child, change) for name, child in children(tree)}))
    return tree
