"""States of different modules, compared: those of a theory as it is, and those of the transformed one.

Two modules have symbols of their own, print terms in their own way and order the arguments of commutative
operators by their own declarations. So a term is compared by a text that is made here: every operator before its
arguments, the arguments of a commutative one in the order of their texts.
"""

from __future__ import annotations

from typing import Any

from porcini.langs.maude import bindings

_OPEN, _NEXT, _CLOSE = "\x01", "\x02", "\x03"
"""Which no name of Maude's has in it."""


class Keys:
    """Texts for terms of one module. A marked thread counts as the thread: `mark` is what carries the mark."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self._known: dict[Any, str] = {}

    def of(self, term: Any) -> str:
        found = self._known.get(term)
        if found is None:
            found = self._known[term] = self._made(term)
        return found

    def _made(self, term: Any) -> str:
        symbol, args = term.symbol(), list(term.arguments())
        maude = bindings.maude()
        if not args:  # the symbol of a string, a number or a quoted identifier does not say which
            return f"{term if symbol.hasAttr(maude.OP_SPECIAL) else symbol}{_OPEN}{term.getSort()}{_CLOSE}"
        name = str(symbol)
        if name == self._mark:
            return self.of(args[0])
        if symbol.hasAttr(maude.OP_ITER):
            name += f"^{term.getIterExponent()}"
        texts = map(self.of, args)
        return f"{name}{_OPEN}{_NEXT.join(sorted(texts) if symbol.hasAttr(maude.OP_COMM) else texts)}{_CLOSE}"
