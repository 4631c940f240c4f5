"""Looking through trees of frozen dataclasses and tuples, and changing them in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, is_dataclass, replace
from typing import Any


def parts(tree: Any) -> Iterator[Any]:
    """The tree and all that is in it."""
    yield tree
    for _, child in _children(tree):
        yield from parts(child)


def rewritten(tree: Any, edits: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """The trees that differ from this one in one place, where `edits` gives what could be there instead."""
    yield from edits(tree)
    for name, child in _children(tree):
        for changed in rewritten(child, edits):
            if isinstance(tree, tuple):
                yield (*tree[:name], changed, *tree[name + 1 :])
            else:
                yield replace(tree, **{name: changed})


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with a change made to each of its parts, from the leaves up."""
    if isinstance(tree, tuple):
        return change(tuple(mapped(child, change) for child in tree))
    if is_dataclass(tree):
        return change(replace(tree, **{name: mapped(child, change) for name, child in _children(tree)}))
    return tree


def _children(tree: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(tree, tuple):
        yield from enumerate(tree)
    elif is_dataclass(tree):
        for each in fields(tree):
            yield each.name, getattr(tree, each.name)
