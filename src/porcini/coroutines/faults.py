"""Which faults a user asks for, and the order in which plans of faults are explored (`langs/aio/striking`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from porcini.core.errors import InputError
from porcini.core.events import Event
from porcini.core.pids import Pid
from porcini.langs.aio.loop import Mode
from porcini.langs.aio.naming import MAIN, StepLabel
from porcini.langs.aio.program import AioProgram
from porcini.langs.aio.striking import NO_FAULTS, Fault, Plan, Possible, rank

_MOST_LISTED = 8


@dataclass(frozen=True, slots=True)
class Error:
    """A call that may raise: by its name, and what it raises."""

    target: str
    raises: type[BaseException]

    def __str__(self) -> str:
        """As the command line is given it."""
        module = "" if self.raises.__module__ == "builtins" else f"{self.raises.__module__}:"
        return f"{module}{self.raises.__qualname__}={self.target}"


@dataclass(frozen=True, slots=True)
class Faults:
    """What may go wrong by choice. `cancel` is the number of a task, counted from 1 in the order in which a first
    run makes them (0 is the test itself), or True for any task but the test."""

    cancel: int | bool = False
    timeouts: bool = False
    errors: tuple[Error, ...] = ()
    max_faults: int = 1
    """How many of them one run may have."""

    def __post_init__(self) -> None:
        if not isinstance(self.cancel, int) or self.cancel < 0:
            hint = "True for any task, or the number of one, such as 1"
            raise InputError(f"`cancel` is {self.cancel!r}", hint=hint)
        if not isinstance(self.timeouts, bool):
            raise InputError(f"`timeouts` is {self.timeouts!r}", hint="True or False")
        if not isinstance(self.max_faults, int) or isinstance(self.max_faults, bool) or self.max_faults < 1:
            raise InputError(f"`max_faults` is {self.max_faults!r}", hint="a whole number of at least 1")

    @property
    def any(self) -> bool:
        return self.cancel is not False or self.timeouts or bool(self.errors)

    def check_mode(self, mode: Mode) -> None:
        """In asyncio's own queue there is no place for what comes from outside."""
        for name, is_asked in {"cancel": self.cancel is not False, "timeouts": self.timeouts}.items():
            if is_asked and mode != "any":
                raise InputError(f"`{name}` is not for mode {mode}", hint="mode any, where they can come between")

    def possible(self) -> Possible:
        """What runs are to look for, as long as it is not known which task is meant."""
        texts = [f"{_last(error.target)}() raises {error.raises.__qualname__}" for error in self.errors]
        return Possible(timeouts=self.timeouts, errors=texts)

    def looked_for(self, program: AioProgram, events: Sequence[Event]) -> None:
        """Let runs look for these faults; the events are those of a first run."""
        program.possible = possible = self.possible()
        if self.cancel is True:
            possible.cancels = lambda pid: pid != MAIN
        elif self.cancel is not False:
            chosen = self._chosen(events)
            possible.cancels = lambda pid: pid == chosen

    def _chosen(self, events: Sequence[Event]) -> Pid:
        tasks = tasks_of(events)
        if 0 <= self.cancel < len(tasks):
            return tasks[self.cancel][0]
        listed = [f"{number} is {name} ({pid})" for number, (pid, name) in enumerate(tasks[:_MOST_LISTED])]
        more = f", and {len(tasks) - _MOST_LISTED} more" if len(tasks) > _MOST_LISTED else ""
        raise InputError(f"there is no task {self.cancel} to cancel", hint=f"{', '.join(listed)}{more}")

    def notes(self, possible: Possible) -> Iterator[str]:
        """What a report says of them; `possible` is what runs looked for."""
        if not self.any:
            return
        cancel = "any task" if self.cancel is True else f"task {self.cancel}"
        kinds = [f"{cancel} cancelled at any of its awaits"] if self.cancel is not False else []
        kinds += ["timers that fire before their time"] if self.timeouts else []
        kinds += [f"{error.raises.__qualname__} raised by {error.target}" for error in self.errors]
        number = "1 fault" if self.max_faults == 1 else f"{self.max_faults} faults"
        yield f"at most {number} in one run: {', '.join(kinds)}"
        never = [error.target for number, error in enumerate(self.errors) if number not in possible.called]
        if never:
            yield f"no step called {', '.join(dict.fromkeys(never))}, so nothing was raised there"


def _last(target: str) -> str:
    return target.rpartition(":")[2].rpartition(".")[2]


def tasks_of(events: Sequence[Event]) -> list[tuple[Pid, str]]:
    """The tasks of a run that took a step, in the order in which they were made, with their names."""
    names = {
        event.pid: event.label.name
        for event in events
        if isinstance(event.label, StepLabel) and event.label.end != "callback"
    }
    made = [MAIN, *(pid for event in events for pid in event.spawned)]
    return [(pid, names[pid]) for pid in made if pid in names]


def errors_from(given: Mapping[Any, Any]) -> tuple[Error, ...]:
    """`{TimeoutError: "bank:fetch"}`, or several names in a list."""
    if not isinstance(given, Mapping):
        raise InputError(f"`errors` is {given!r}", hint='a dict, such as {TimeoutError: "bank:fetch"}')
    found = []
    for raises, targets in given.items():
        if not (isinstance(raises, type) and issubclass(raises, BaseException)):
            raise InputError(f"{raises!r} is not an exception class", hint='errors={TimeoutError: "bank:fetch"}')
        named = [targets] if isinstance(targets, str) else targets
        if not isinstance(named, list | tuple) or not all(isinstance(target, str) for target in named):
            raise InputError(f"`errors` names {targets!r}", hint='the name of a function, such as "bank:fetch"')
        found += [Error(target, raises) for target in named]
    return tuple(found)


def plans(program: AioProgram, faults: Faults) -> Iterator[tuple[int, int]]:
    """Give a program every plan that matters, those with fewer faults first. A plan is explored before the next
    one is asked for, since what could strike there leads to the others. Yields how many plans were explored, and
    how many are known."""
    level: Sequence[Plan] = [NO_FAULTS]
    done = 0
    for number in range(faults.max_faults + 1):
        found: dict[Plan, None] = {}
        known = done + len(level)
        for plan in level:
            program.plan = plan
            program.possible.noted = set() if faults.any and number < faults.max_faults else None
            yield done, known
            done += 1
            noted = program.possible.noted or ()
            found.update((plan.extended(fault), None) for fault in sorted(noted, key=rank))
        level = list(found)
        if not level:
            return


class DrawnPlans:
    """Plans by chance, for walks: of the faults that earlier walks have met. The first one has none."""

    def __init__(self, program: AioProgram, faults: Faults, seed: int) -> None:
        self._random, self._most = Random(seed), faults.max_faults
        program.possible.noted = self._noted = set[Fault]()
        self._listed: list[Fault] = []

    def __call__(self) -> Plan:
        if len(self._listed) != len(self._noted):
            self._listed = sorted(self._noted, key=rank)
        number = min(self._random.randint(0, self._most), len(self._listed))
        return Plan(frozenset(self._random.sample(self._listed, number)))
