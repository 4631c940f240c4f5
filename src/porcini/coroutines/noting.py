"""One run in every detail: what its steps touched, with values, how it ended, and where those stand that wait.

Telling     a recorder whose values a person can use: of an item the item, of a write what it left behind
Noted       a program whose last run is kept, step by step
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from porcini.core.events import Action, Event
from porcini.core.systems import Final
from porcini.coroutines.blocked import Blocked, blocked_in, named
from porcini.coroutines.steady import SteadyProgram, SteadyRun
from porcini.langs.aio import rules
from porcini.langs.aio.recorder import LOG, OPAQUE, Access, Recorder

_Entry = tuple[Any, ...]


class Telling(Recorder):
    """Operations on containers log several entries before they do anything: what they wrote is seen after all."""

    def __init__(self) -> None:
        super().__init__(detailed=True)
        self._open: list[tuple[_Entry, list[str]]] = []

    def detailed_log(self, entry: _Entry) -> None:
        if self._open:
            last = self._open[-1][0]
            if last[0] is not entry[0] or last[1] != entry[1]:
                self._settle()
        LOG.append(entry)
        single = [entry]
        if len(entry) == 4 and entry[3] is not OPAQUE:
            single = [(*entry[:3], (suffix,)) for suffix in entry[3]]
        self._open += [(one, [self._value(one)]) for one in single]
        self._pending = self._open[-1] if self._open else None

    def _settle(self) -> None:
        opened, self._open, self._pending = self._open, [], None
        for entry, values in opened:
            values.append(self._value(entry))
            self._values.append((entry, values))

    def _clear(self) -> None:
        super()._clear()
        self._open = []

    def made_since(self, seen: set[int]) -> list[object]:
        """The objects of users' classes that this run has made and still has, except for those that were seen."""
        fresh = [obj for key, obj in self._kept.items() if key not in seen]
        seen.update(self._kept)
        return [obj for obj in fresh if type(obj).__module__.partition(".")[0] not in sys.stdlib_module_names]

    def _value(self, entry: _Entry) -> str:
        if len(entry) == 4 and entry[3] is not OPAQUE and entry[3][0][-1:] == "]":
            key = entry[3][0][1:-1]
            if key not in ("#", "="):
                return self._show(_item(entry[0], key))
        return super()._value(entry)


def _item(container: Any, key: str) -> object:
    """What a container has under a key that is given as text."""
    if isinstance(container, dict):
        return next((v for k, v in list(container.items()) if rules.shown(k) == key), rules.ABSENT)
    if isinstance(container, list | tuple | deque):
        return container[int(key)] if key.isdecimal() and int(key) < len(container) else rules.ABSENT
    if isinstance(container, set | frozenset):
        return any(rules.shown(k) == key for k in container)
    return rules.ABSENT


@dataclass(slots=True)
class Noted:
    """A program whose last run is kept in detail. Its recorder is a `Telling` one."""

    program: SteadyProgram
    run: NotedRun | None = None

    def start(self) -> NotedRun:
        self.run = NotedRun(self.program.start())
        return self.run


class NotedRun:
    """A run of which all is kept."""

    def __init__(self, run: SteadyRun) -> None:
        self._run = run
        self.actions = run.actions
        self.events: list[Event] = []
        self.accesses: list[Sequence[Access]] = []
        self.blocked: dict[object, Blocked] = {}
        self.known_as: dict[str, str] = {}
        """Names of objects that are known by an attribute: the lock of an account, say."""
        self._seen: set[int] = set()
        self.problem: BaseException | None = None

    def step(self, action: Action) -> Event:
        event = self._run.step(action)
        recorder = self._run.run.program.recorder
        assert isinstance(recorder, Telling)
        self.events.append(event)
        self.accesses.append(() if event.barrier else tuple(recorder.accesses))
        self._look_around(recorder)
        return event

    def _look_around(self, recorder: Telling) -> None:
        """What is in the attributes of objects that were made in this step."""
        for owner in recorder.made_since(self._seen):
            for attribute, value in rules.fields_of(owner):
                name = named(value, recorder)
                if "#" in name:
                    self.known_as.setdefault(name, f"{recorder.name_of(owner)}.{attribute}")

    def final(self) -> Final:
        run = self._run.run
        recorder = run.program.recorder
        assert isinstance(recorder, Telling)
        done: Any = run.main
        if not self.blocked and not done.done():
            touched = list(zip(self.events, self.accesses, strict=True))
            self.blocked = {b.pid: b for b in blocked_in(run, recorder, touched)}
        final = self._run.final()
        self.problem = self._run.problem
        return final
