"""One run in every detail: what its steps touched, with values, how it ended, and where those stand that wait.

Noted       a program whose last run is kept, step by step
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from porcini.core.events import Action, Event, Schedule
from porcini.core.systems import Final, Program
from porcini.coroutines.blocked import Blocked, blocked_in, name_object
from porcini.coroutines.steady import SteadyProgram, SteadyRun
from porcini.langs.aio import lookups
from porcini.langs.aio.telling import Access, Telling


@dataclass(slots=True)
class Noted(Program):
    """A program whose last run is kept in detail. Its recorder is a `Telling` one."""

    program: SteadyProgram
    run: NotedRun | None = None

    def start(self) -> NotedRun:
        return self.start_under(())

    def start_under(self, schedule: Schedule) -> NotedRun:
        self.run = NotedRun(self.program.start_under(schedule))
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
            for attribute, value in lookups.fields_of(owner):
                name = name_object(value, recorder)
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
