"""What steps are said to touch, checked on the steps themselves: a sample of it, while a program runs.

Every reduction rests on `touches` and `future`, and these are what a user says. Where two steps of different
threads can be taken and are said to be independent, both orders must lead to the same states; what a thread does
must be among what it was said to do still. A difference is an error that shows both. What Porcini derives is
checked in the same way, and a difference is a bug of ours.

It is a sample: all is well with the pairs that were tried. A pair of rules is tried when it is met for the n-th
time, for n up to 16 and for powers of two. `--check-annotations` tries all (`examining`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, groupby
from typing import Any, Protocol

from porcini.core.errors import InputError, InternalError
from porcini.core.footprints import Footprint
from porcini.core.pids import Pid
from porcini.langs.maude.description import Description, wrong_value

_ALWAYS = 16
_LONGEST = 300
_WALKED = 120
"""So many states are visited where Maude's own checker will be asked, which does not come by here."""


class Taken(Protocol):
    """A step that can be taken: who, by which rule, what it touches, and the state after it."""

    @property
    def pid(self) -> Pid: ...
    @property
    def rule(self) -> str: ...
    @property
    def footprint(self) -> Footprint: ...
    @property
    def after(self) -> Any: ...


Steps = Callable[[Any], Sequence[Taken]]
"""The steps that can be taken in a state, asked without being audited themselves."""


@dataclass(slots=True)
class Audit:
    """Tries pairs of steps in both orders."""

    description: Description
    steps: Steps
    _met: Counter[tuple[str, str]] = field(default_factory=Counter)

    def look(self, taken: Sequence[Taken]) -> None:
        """Try some of the pairs of steps that can be taken in a state."""
        for one, two in _pairs(taken):
            rules = one[0].rule, two[0].rule
            self._met[rules] += 1
            met = self._met[rules]
            if met <= _ALWAYS or met & (met - 1) == 0:
                self._try(one, two)

    def look_at_all(self, taken: Sequence[Taken]) -> None:
        """Try all of them."""
        for one, two in _pairs(taken):
            self._try(one, two)

    def _try(self, one: Sequence[Taken], two: Sequence[Taken]) -> None:
        there, back = self._afterwards(one, two[0]), self._afterwards(two, one[0])
        if there == back:
            return
        first, second = (f"`{each[0].rule}` of {each[0].pid}" for each in (one, two))
        message = (
            f"{first} and {second} are said to be independent, and their order matters: "
            f"in this order {_shown(there - back or there)}, in the other {_shown(back - there or back)}"
        )
        raise dependent(self.description, message)

    def _afterwards(self, first: Sequence[Taken], second: Taken) -> frozenset[Any]:
        """The states after one step and then the other, in whichever ways there are."""
        return frozenset(
            later.after.term
            for step in first
            for later in self.steps(step.after)
            if later.pid == second.pid and later.rule == second.rule
        )


def dependent(description: Description, message: str) -> Exception:
    """An error about steps that were taken for independent: the user's, or ours where we have derived that."""
    if description.dependence is None:
        return InternalError(message)
    return wrong_value(description, "dependence", message, "`touches` must name all that a step touches")


def _pairs(taken: Iterable[Taken]) -> Iterator[tuple[list[Taken], list[Taken]]]:
    """The steps of different threads that are said to be independent."""
    for one, two in combinations(list(_by_rule(taken)), 2):
        if one[0].pid != two[0].pid and _independent(one, two):
            yield one, two


def _by_rule(taken: Iterable[Taken]) -> Iterator[list[Taken]]:
    """All ways of a thread to take a rule, together: how they are numbered may depend on the rest of a state."""
    ordered = sorted(taken, key=lambda step: (step.pid, step.rule))
    for _, group in groupby(ordered, key=lambda step: (step.pid, step.rule)):
        yield list(group)


def _independent(one: Iterable[Taken], two: Sequence[Taken]) -> bool:
    return not any(a.footprint.conflicts(b.footprint) for a in one for b in two)


def _shown(states: frozenset[Any]) -> str:
    if not states:
        return "the second step is not to be had"
    text = min(map(str, states))
    return f"`{text}`" if len(text) <= _LONGEST else f"`{text[:_LONGEST]} ...`"


def walk(initial: Any, look: Callable[[Any], Sequence[Taken]]) -> None:
    """Some runs from the beginning, one after another: of those that can go, each time another one goes."""
    visited = 0
    for start in range(_WALKED):
        state, length = initial, 0
        while visited < _WALKED and (able := look(state)):
            visited += 1
            state = able[(start * 7 + length * (start + 1)) % len(able)].after
            length += 1
        if visited >= _WALKED or length == 0:
            return


def not_foreseen(description: Description, who: str, what: str) -> InputError:
    message = f"{who} touches {what}, which `future` does not say"
    return wrong_value(description, "future", message, "`future` must name all that a thread may still touch")
