"""Sections: what tasks do between taking a lock and giving it back, and how little of their order matters.

A task that comes to `acquire()` takes a free lock at once, and otherwise waits in line. As accesses to one lock,
all of this conflicts: three tasks behind a lock have 36 classes, four have 552. But of all that, only who comes
before whom can be told; and where sections commute, not even that.

While a search goes on, a lock is therefore *guarded*. `acquire()` always ends a step: the task has **come**. The
next step of the task **takes** the lock, and some later one **leaves**. Call the program with these locks G, and
the program with asyncio's own locks S.

*Ordered locks.* Who comes writes `line`; who leaves writes `turn`; who takes reads `turn`, and awaits it
(`Event.awaits`): in every order it comes after the one who left before, and that is no race. All else about the
lock is nobody's business. So to come and to leave commute, and n tasks have n! orders.

    Lemma 1. Steps of G without a conflict commute. To come adds to the end of the line, to leave takes off its
    front; the front of the line, and nobody else, is ready to take. Two who come do conflict. One who comes and
    one who leaves are at different ends, and the line afterwards is the same. Only the front takes, only who took
    leaves, and these follow each other by `turn`.

    Lemma 2. Every run of S is one of G: where a task takes a free lock at once, it comes, and takes next. Where it
    waits, it comes, and takes when the one before has left. So G has all outcomes of S.

    Lemma 3. A run of G is one of S if everybody who came to a free lock took it next. If an equivalent run is so
    (`serial`), then the way the run ends is an outcome of S.

*Unordered locks* keep nobody out: who has come may take, and none of this is a location. n tasks whose sections
commute have one order.

    Lemma 4. Lemma 2 holds here, too: who waits in S is ready in G, and goes when it does in S. But where S stops
    because somebody waits for ever, or lets time pass while somebody waits, G would go on instead. In S, whoever
    has the lock is then stuck: at the end of a step in its section it is not ready, has ended, or has come to a
    lock.

    Lemma 5. A run of G is one of S if everybody took the lock next, and found a place.

What the lemmas leave out is an *exception*: who has an unordered lock gets stuck (4); no equivalent run is one of
S (3, 5); a task is cancelled between coming and taking; somebody who has not taken the lock gives it back, or asks
whether it is taken; somebody looks inside. Then the lock goes from unordered to ordered, or on to asyncio's own,
and the search begins again. Take G with a step that ends everything at each exception: its steps commute as well,
and a search that came to its end has seen all its classes, and no exception. So it has seen all outcomes of S, and
no other. (The first run of each outcome is run again with asyncio's own locks, and must end in the same way.)

Semaphores that begin with at least one place are unordered or asyncio's own. Locks of classes that inherit, and
those made before the run, are asyncio's own. So are all in mode `fifo`.
"""

from __future__ import annotations

import asyncio
from asyncio import locks
from typing import TYPE_CHECKING, Any

from porcini.core.events import Event
from porcini.core.footprints import Location
from porcini.langs.aio import serial
from porcini.langs.aio.processes import Process
from porcini.langs.aio.serial import Deed, Section, What

if TYPE_CHECKING:
    from porcini.langs.aio.loop import ControlledLoop

UNORDERED, ORDERED, PLAIN = range(3)
"""What a lock may be, each a step further from the best case: the last one is asyncio's own."""
_MOST_CHANGES = 12
"""After so many exceptions, all locks are asyncio's own."""
KINDS = (locks.Lock, locks.Semaphore, locks.BoundedSemaphore)
_INSIDE = frozenset({"_locked", "_waiters", "_value", "_bound_value"})
GUARDED = "_porcini_guarded"
PLACE = "_porcini_place"
_set_result = asyncio.Future.set_result


class Levels:
    """What the locks of a program may be, by their places: learnt in one search, and kept for the next."""

    def __init__(self) -> None:
        self._levels: dict[Location, int] = {}
        self._changes = 0
        self.in_use = False
        """Was any lock guarded?"""

    def of(self, place: Location) -> int:
        return PLAIN if self.given_up else self._levels.get(place, UNORDERED)

    @property
    def given_up(self) -> bool:
        return self._changes > _MOST_CHANGES

    def give_up(self) -> None:
        """All locks are asyncio's own."""
        self._changes = _MOST_CHANGES + 1

    def raise_to(self, level: int, place: Location) -> bool:
        """A lock cannot be less than this; is that news?"""
        if self.given_up or level <= self._levels.get(place, UNORDERED):
            return False
        self._levels[place] = level
        self._changes += 1
        return True


class Guarded:
    """A lock or a semaphore in one run, and who is in line: for one that is ordered, the first of these has it."""

    __slots__ = ("_places", "level", "line", "owners", "place", "sections", "turn")

    def __init__(self, sections: Sections, place: Location, level: int, places: int | None) -> None:
        self.sections = sections
        self.place = place
        self.level = level
        self._places = places  # of a semaphore
        self.line: list[Section] = []
        self.turn = Location(f"{place}.turn")
        self.owners = Location(f"{place}.line")

    @property
    def ordered(self) -> bool:
        return self.level == ORDERED

    @property
    def next_level(self) -> int:
        return ORDERED if self.level == UNORDERED and self._places is None else PLAIN

    def come(self) -> Section:
        """The current task wants it. What it has already may keep others waiting for ever."""
        sections = self.sections
        loop = sections.loop
        process = loop.current
        for other in sections.had_by.get(process, ()):
            other.stuck()
        places = self._places or 1
        free = len(self.line) < places
        section = Section(self.place, self.ordered, process, sections.position, free, places)
        if self.ordered:
            loop.writes.add(self.owners)
            if self.line:
                section.future = sections.future()
        self.line.append(section)
        sections.all.append(section)
        sections.note("come", section)
        return section

    def take(self, section: Section) -> None:
        sections = self.sections
        section.take = sections.position
        sections.note("take", section)
        sections.had_by.setdefault(section.process, []).append(self)
        if self.ordered:
            sections.loop.reads.add(self.turn)
            sections.loop.awaits.add(self.turn)

    def give_up(self, section: Section) -> None:
        """A task that came does not take it: it was cancelled."""
        self.exception(PLAIN)
        was_first = self.line[0] is section
        self.line.remove(section)
        if was_first:
            self._call_first()

    def leave(self) -> bool:
        """The current task gives it back. Was it taken by anybody?"""
        process = self.sections.loop.current
        taken = [section for section in self.line if section.take is not None]
        own = next((section for section in taken if section.process is process), None)
        if own is None:
            self.exception(PLAIN)
        section = own or next(iter(taken), None)
        if section is None:
            return False
        self.line.remove(section)
        section.leave = self.sections.position
        self.sections.note("leave", section)
        had = self.sections.had_by[section.process]
        had.remove(self)
        if not had:
            del self.sections.had_by[section.process]
        self._call_first()
        return True

    def _call_first(self) -> None:
        """The first in line may take it. It is ready in the same way whether it came before or comes later."""
        if not self.ordered:
            return
        loop = self.sections.loop
        loop.writes.add(self.turn)
        if not self.line or self.line[0].future is None or self.line[0].future.done():
            return
        process = self.line[0].process
        woken = process in loop.woke
        _set_result(self.line[0].future, True)
        if process in loop.ready:
            loop.ready[process] = 0
        if not woken:
            loop.woke.pop(process, None)

    def is_taken(self) -> bool:
        """Somebody asks. Who has it knows the answer."""
        process = self.sections.loop.current
        if any(section.process is process and section.take is not None for section in self.line):
            return True
        self.exception(PLAIN)
        return bool(self.line)

    def stuck(self) -> None:
        """Who has it may keep it for ever."""
        if not self.ordered:
            self.exception(self.next_level)

    def exception(self, level: int) -> None:
        self.sections.exception(self.place, level)


class Sections:
    """The sections of one run."""

    def __init__(self, loop: ControlledLoop, levels: Levels, events: list[Event]) -> None:
        self.loop = loop
        self.levels = levels
        self._events = events
        self.all: list[Section] = []
        self.deeds: list[Deed] = []
        self.had_by: dict[Process, list[Guarded]] = {}
        self.over = False
        self._guarded: dict[Location, Guarded] = {}

    def guard(self, lock: Any) -> Guarded | None:
        """What a lock is in this run; None if it is asyncio's own."""
        place = vars(lock).get(PLACE)
        if self.over or place is None or type(lock) not in KINDS:
            return None
        level = self.levels.of(place)
        if level == PLAIN:
            return None
        self.levels.in_use = True
        guarded = vars(lock)[GUARDED] = Guarded(self, place, level, getattr(lock, "_value", None))
        self._guarded[place] = guarded
        return guarded

    @property
    def position(self) -> int:
        """How many events there were before the current one."""
        return len(self._events)

    def note(self, what: What, section: Section) -> None:
        self.deeds.append((self.position, what, section))

    def exception(self, place: Location, level: int) -> None:
        commuting = self.loop.commuting
        if not self.over and commuting is not None and self.levels.raise_to(level, place):
            commuting.outgrown = True

    def future(self) -> asyncio.Future[bool]:
        """What a task waits by in line. Nobody else sees it, so it has no place."""
        self.loop._making = True
        return asyncio.Future(loop=self.loop)

    def has_come(self, process: Process) -> bool:
        """Is this a task that may take a lock next?"""
        return any(section.process is process and section.take is None for section in self.all)

    def stopped(self, process: Process) -> None:
        """A step is over: who has a lock must be able to go on by itself."""
        if process not in self.loop.ready:
            for guarded in self.had_by.get(process, ()):
                guarded.stuck()

    def check(self) -> None:
        """A run is over. If none with asyncio's own locks is equivalent, that is an exception: of locks that are
        unordered, if there are any."""
        if serial.is_plain(self.all) or serial.plain_order(self._events, self.deeds) is not None:
            return
        used = [self._guarded[place] for place in sorted({section.lock for section in self.all})]
        for guarded in [each for each in used if not each.ordered] or used:
            guarded.exception(guarded.next_level)


def is_inside(obj: Any, attribute: str) -> bool:
    """Is this what a lock has inside?"""
    return attribute in _INSIDE and type(obj) in KINDS


def looks_inside(obj: Any, attribute: str, levels: Levels) -> bool:
    """Does somebody look inside a lock that is guarded, or may be later? From then on it is not."""
    if not is_inside(obj, attribute):
        return False
    place = vars(obj).get(PLACE)
    return place is not None and levels.raise_to(PLAIN, place)
