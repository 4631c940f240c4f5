"""Generated formulas and lassos over a few atoms."""

from __future__ import annotations

from hypothesis import strategies as st

from porcini.properties.ltl.formula import (
    FALSE,
    TRUE,
    And,
    Atom,
    Formula,
    Next,
    Not,
    Or,
    Release,
    Until,
    always,
    eventually,
    iff,
    implies,
    strong_release,
    weak_until,
)

NAMES = "abc"


ONE = [Not, Next, always, eventually]
TWO = [And, Or, Until, Release, And, Or, Until, Release, implies, iff, weak_until, strong_release]


@st.composite
def formulas(draw: st.DrawFn, largest: int = 10, atoms: tuple[str, ...] = tuple(NAMES)) -> Formula:
    """Of a size that is drawn first: `st.recursive` gives too few that are nested."""

    def of_size(size: int) -> Formula:
        if size == 1:
            return draw(leaf)
        if size == 2 or draw(st.booleans()):
            return draw(st.sampled_from(ONE))(of_size(size - 1))
        left = draw(st.integers(1, size - 2))
        return draw(st.sampled_from(TWO))(of_size(left), of_size(size - 1 - left))

    leaf = st.sampled_from([*map(Atom, atoms), *map(Atom, atoms), TRUE, FALSE])
    return of_size(draw(st.integers(1, largest)))


letters = st.frozensets(st.sampled_from(NAMES))
lassos = st.tuples(st.lists(letters, max_size=4), st.lists(letters, min_size=1, max_size=4))
