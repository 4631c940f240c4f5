"""The names of generated modules: sorts, operators and variables of ours that must not meet those of a user.

They are words that a person can read, and a user may have had the same idea: then ours are called otherwise,
`Start2` for `Start`. What matters is *tokens*: an operator `_Now_` of a user's would be read where we write
`Now(U)`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from porcini.langs.maude.signature import Signature

_WORDS = re.findall(
    r"\S+",
    """
    MThread MState enabled ready moved
    Way WayList noWay Ways AllWays Alone Offers Offered Now Future Known Sure Going Clash Uses Weight
    StateInfo PState ThreadList StateList Start noInfo left-out noThread noState state
    MarkAmples Moved TidOf Can CanMove Next AfterAll Disturbs Depends Able Apart Undisturbed Invisible Size Smaller
    LeaveOut Waiting First Choose Try TrySets Everyone SetList noSet set Ample Sets Split Near Reached Length
    Sought FutureIn Groups Meets Within Has Stuck
    PropList noProp Watched Unseen Changes Same Views Alike View Shows Alters Whole Threads Mark Unmark
    """,
)
_INTERFACE = ["Location", "Access", "Footprint", "reads", "writes", "awaits", "anything", "nothing"]
"""Those of the module PORCINI, which are not ours to change where the user has imported it."""
_VARIABLES = re.findall(r"\S+", "U W T Y Z Ys F G L L' R N C C' Us Vs Ws Es Cs Ss B I M M' Qs Xs O S P Ps")
_SIGNS = {";;": "_;;_", "in": "_in_", "less": "_less_"}
"""Operators between their arguments, by the word in the middle."""
_NUMBERED = re.compile(r"way\d+|Sees\d+")
_SPECIAL = "()[]{},"
_TOKEN = re.compile(r"[^\s()\[\]{},]+")


@dataclass(frozen=True, slots=True)
class Names:
    """What our names are called in the modules that are made of a theory."""

    instead: dict[str, str]
    """Those that are called otherwise."""
    mark: str
    """What is put behind names that are numbered, such as `way0`."""

    @property
    def interface(self) -> str:
        """The module PORCINI, with other names where it needs some."""
        sorts = [f"sort {name} to {self[name]}" for name in _INTERFACE[:3] if name in self.instead]
        operators = [f"op {name} to {self[name]}" for name in _INTERFACE[3:] if name in self.instead]
        renamed = ", ".join(sorts + operators)
        return f"PORCINI * ({renamed})" if renamed else "PORCINI"

    def __getitem__(self, name: str) -> str:
        return self.instead.get(name, name)

    def in_text(self, text: str) -> str:
        """A text of ours with our names as they are called."""
        if not self.instead and not self.mark:
            return text
        return _TOKEN.sub(lambda token: self._token(token[0]), text)

    def _token(self, token: str) -> str:
        if _NUMBERED.fullmatch(token):
            return token + self.mark
        return self.instead.get(token, token)


def names_for(signature: Signature, *, imported: bool) -> Names:
    """`imported`: has the user imported PORCINI?"""
    constants = {name for name, arity in signature.operators if arity == 0}
    taken = set(signature.sorts) | {token for name, _ in signature.operators for token in tokens(name)}
    words = _WORDS if imported else [*_WORDS, *_INTERFACE]
    instead: dict[str, str] = {}
    for name in [*words, *_VARIABLES]:
        if name in (constants if name in _VARIABLES else taken):
            instead[name] = _free(name, {*taken, *_WORDS, *_INTERFACE, *_VARIABLES})
            taken.add(instead[name])
    for word, operator in _SIGNS.items():
        if (operator, 2) in signature.operators:
            instead[word] = _free(word, taken)
            instead[operator] = f"_{instead[word]}_"
    mark = ""
    while any(re.fullmatch(rf"(?:way|Sees)\d+{mark}", token) for token in taken):
        mark += "'"
    return Names(instead, mark)


def _free(name: str, taken: Iterable[str]) -> str:
    number = 2
    while f"{name}{number}" in taken:
        number += 1
    return f"{name}{number}"


def tokens(name: str) -> list[str]:
    """The name of an operator, and the words that stand between its arguments."""
    found = [name, name.replace("`", "")]
    word = ""
    for character in name:
        if character in "_`" or character in _SPECIAL:
            found += [word] if word else []
            word = ""
        else:
            word += character
    return [*found, word] if word else found
