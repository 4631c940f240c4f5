"""May what a program does depend on how objects and futures are called?

References can be compared and followed. A few functions of the library look at more: `toString` writes names, and
the order of a set or a map is that of its elements. These matter where they are applied to what may hold
references; in a function with type parameters that is settled where the function is called.
"""

from __future__ import annotations

from collections.abc import Sequence

from porcini.langs.actors.names import Use, World
from porcini.langs.actors.types import Hole, Ty, resolve

TELLING = frozenset({"toString", "take", "next", "elements", "values", "entries", "max", "min", "set elements"})
"""Functions of the library whose results may depend on names."""
_PLAIN = {"Int", "Bool", "String", "Rat", "Unit"}
_REFERENCE = "a reference"


def names_matter(world: World) -> bool:
    """Is a function that tells names, or their order, applied to what may hold references?"""
    telling = set(TELLING & world.python.keys() | {"set elements"})
    while True:
        found = [(use, _held(world, use)) for use in world.uses if use.function in telling]
        if any(_REFERENCE in held for _, held in found):
            return True
        more = {use.within for use, held in found if held and use.within is not None}
        if more <= telling:
            return False
        telling |= more


def _held(world: World, use: Use) -> set[str]:
    """What the arguments of a function may hold: references, or something of a type that is a parameter."""
    return {each for type_ in use.types for each in _inside(world, type_, use.parameters)}


def _inside(world: World, type_: Ty, parameters: Sequence[str], within: tuple[str, ...] = ()) -> set[str]:
    """The same of one type. `within` are the types whose constructors are being looked at."""
    type_ = resolve(type_)
    if isinstance(type_, Hole):
        return {_REFERENCE}
    if type_.name in parameters:
        return {type_.name}
    if type_.name in _PLAIN:
        return set()
    data = world.data.get(type_.name)
    if data is None and type_.name not in ("Set", "Map"):
        return {_REFERENCE}
    held = {each for part in type_.args for each in _inside(world, part, parameters, within)}
    if data is not None and type_.name not in within:
        parts = [part for c in data.constructors for part in world.constructors[c.name].formals]
        inner = {each for p in parts for each in _inside(world, p, data.parameters, (*within, type_.name))}
        held |= inner - set(data.parameters)
    return held
