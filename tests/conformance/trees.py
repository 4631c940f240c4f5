"""Trees of frozen dataclasses and tuples: their parts, and copies in which one part is another.

Shrinking and mutating programs needs no more than this, whatever the language: a program is such a tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any, TypeVar

Path = tuple[str | int, ...]
"""The way from the root of a tree to one of its parts: names of fields, and places in tuples."""
Tree = TypeVar("Tree")


@cache
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))


def parts(tree: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every dataclass and every tuple in a tree, the tree itself first."""
    if isinstance(tree, tuple):
        yield path, tree
        for place, each in enumerate(tree):
            yield from parts(each, (*path, place))
    elif is_dataclass(tree):
        yield path, tree
        for name in _field_names(type(tree)):
            yield from parts(getattr(tree, name), (*path, name))


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
