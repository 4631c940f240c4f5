"""The propositions of a formula on states of a theory: which of them hold, and which steps could change that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

from porcini.langs.maude.visibility import Visibility


class Asked(Protocol):
    """What answers: the system, which asks Maude."""

    def ask(self, function: str, args: list[Any]) -> Any: ...
    def parts(self, term: Any) -> list[Any]: ...
    def threads(self, term: Any) -> Mapping[str, Any]: ...
    def number_term(self, number: int) -> Any: ...
    def label_term(self, label: str) -> Any: ...


class Watching:
    """Some propositions. Threads and rules are asked about once; `visibility` says what is asked, and why."""

    def __init__(self, system: Asked, visibility: Visibility, propositions: Sequence[Any]) -> None:
        self.system = system
        self.propositions = propositions
        self.whole = next((each for each in propositions if self._is_true("Whole", each)), None)
        """One that may look at all of a state, if there is one."""
        self._numbers = [system.number_term(number) for number in range(len(visibility.threads))]
        self._alone = sum(
            1 << bit
            for bit, (pattern, _) in enumerate((p, each) for p in visibility.threads for each in propositions)
            if pattern.alone
        )
        self._letters: dict[Any, int] = {}
        self._views: dict[Any, int] = {}
        self._shown: dict[tuple[str, Any], bool] = {}

    def letter(self, term: Any) -> int:
        """The propositions that hold in a state, as bits."""
        found = self._letters.get(term)
        if found is None:
            found = self._letters[term] = self._bits(
                self._is_true("_|=_", term, prop) for prop in self.propositions
            )
        return found

    def is_seen(self, rule: str, tid: str, term: Any, later: Any) -> bool:
        """May a step of a thread that leads from one state to another change a proposition, there or wherever else
        it is taken?"""
        before, after = Counter(self.system.parts(term)), Counter(self.system.parts(later))
        one, two = self._any_view(before - after), self._any_view(after - before)
        if one & self._alone != two & self._alone or (one | two) & ~self._alone:
            return True
        return self._shows(rule, self.system.threads(term)[tid])

    def _any_view(self, parts: Iterable[Any]) -> int:
        """The patterns that some of the parts match, for each proposition; only threads match any."""
        found = 0
        for part in parts:
            if part not in self._views:
                self._views[part] = self._bits(
                    self._is_true("View", number, part, prop)
                    for number in self._numbers
                    for prop in self.propositions
                )
            found |= self._views[part]
        return found

    def _shows(self, rule: str, thread: Any) -> bool:
        found = self._shown.get((rule, thread))
        if found is None:
            label = self.system.label_term(rule)
            found = any(self._is_true("Shows", label, thread, prop) for prop in self.propositions)
            self._shown[rule, thread] = found
        return found

    def _is_true(self, function: str, *args: Any) -> bool:
        return str(self.system.ask(function, list(args))) == "true"

    @staticmethod
    def _bits(found: Iterable[bool]) -> int:
        return sum(1 << number for number, each in enumerate(found) if each)
