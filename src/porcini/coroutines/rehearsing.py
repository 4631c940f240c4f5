"""One schedule is run twice before a search, and compared: what is not a function of the schedule shows there.

Then the packages are followed through which it led (`following`), and it is compared once more. What the user's
own code does only once shows in the first comparison, in which packages are opaque.

Packages set themselves up when they are used for the first time: a codec is looked up, a table is filled. A first
run after which nothing else is left behind is a warm-up, and the next two are compared. That goes for packages
that are followed, and for what is found missing and set up in one step: whoever comes first then does the same.
Where it takes several steps, or is the user's, two tasks may race to be the first, and no later run shows it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from porcini.core.errors import ScheduleError
from porcini.core.events import Event
from porcini.core.footprints import Location
from porcini.core.systems import Final
from porcini.coroutines.following import Following
from porcini.coroutines.leftovers import Snapshot, read_again
from porcini.coroutines.steady import NondeterministicProgram, SteadyProgram, nondeterministic
from porcini.engines.limits import Clock
from porcini.engines.replaying import follow
from porcini.langs.aio.loop import HANDLER, QUEUED, TIME

_TWICE = 10_000
_AFTER_THE_END = 100
_WARM_UPS = 2
_ROUNDS = 3
_OF_THE_RUN = QUEUED | {HANDLER, TIME}


def run_twice(program: SteadyProgram, clock: Clock | None = None) -> None:
    """Run one schedule twice, asyncio's own or nearly so, and compare; then once more, with the packages followed
    that it led through."""
    following = program.following
    final = _first(program, clock, following)
    for _ in range(_ROUNDS):
        new = following.follow() if following is not None else []
        if following is None or not new:
            return
        try:
            now = _follow(program, following, clock, tuple({name.partition(".")[0] for name in new}))
        except (NondeterministicProgram, ScheduleError):  # a package keeps what no run shall find: it stays opaque
            following.give_up()
            program.forget_runs()
            program.forget_coverage()
            _ends_alike(final, _settle(program, clock, program.packages), program.last)
            return
        _ends_alike(final, now, program.last)


def _first(program: SteadyProgram, clock: Clock | None, following: Following | None) -> Final | None:
    """Run the schedule and compare, with packages opaque; once more, if it left something behind in a package."""
    before = following.caches.copies() if following is not None else []
    try:
        return _settle(program, clock, program.packages)
    except (NondeterministicProgram, ScheduleError):
        if following is None or not following.caches.compare(before):
            raise
        program.forget_runs()
        return _settle(program, clock, program.packages)


def _follow(
    program: SteadyProgram, following: Following, clock: Clock | None, packages: Sequence[str]
) -> Final | None:
    """Run the schedule with more packages followed, and compare."""
    program.forget_runs()
    program.forget_coverage()
    before = following.caches.copies()
    _run(program, [], clock)  # some things are set up that only instrumented code would see
    following.caches.compare(before)
    program.forget_runs()
    return _settle(program, clock, packages)


def _settle(program: SteadyProgram, clock: Clock | None, packages: Sequence[str]) -> Final | None:
    """Run one schedule until it does the same twice; in the first runs, packages may set themselves up."""
    for _ in range(_WARM_UPS):
        first: list[Event] = []
        try:
            return _compare(program, first, clock)
        except (NondeterministicProgram, ScheduleError):
            initialised = _initialised(first, packages)
            if not initialised:
                raise
        program.initialised += initialised
        program.forget_runs()
    return _compare(program, [], clock)


def _initialised(events: Sequence[Event], packages: Sequence[str]) -> list[Location]:
    """What a run has written in packages that are followed, if it has changed nothing else that outlives it."""
    written = {location for event in events for location in event.footprint.writes if not _MADE.search(location)}
    of_packages = {location for location in written if location.startswith(tuple(f"{p}." for p in packages))}
    unknown = any(event.footprint.opaque and not event.barrier for event in events)
    if unknown or written - of_packages - _OF_THE_RUN or not all(_at_once(place, events) for place in of_packages):
        return []
    return sorted(of_packages)


def _at_once(place: Location, events: Sequence[Event]) -> bool:
    """Is it written by the first step that looks at it?"""
    for event in events:
        if place in event.footprint.writes:
            return True
        if place in event.footprint.reads:
            return False
    return True


def _compare(program: SteadyProgram, events: list[Event], clock: Clock | None) -> Final | None:
    """Run one schedule, whose events are put into a list, and run it once more. How it ends, if it does."""
    look = program.look or (lambda: Snapshot(()))
    before = look()
    final = _run(program, events, clock)
    shifted = [(bytearray(size), object()) for size in range(2048)]  # so that nothing has the same address again
    between = look()
    with _watching(program):  # what only the first run went through, an import say, is not met again
        again = program.start()
        repeated = follow(again, tuple(event.move for event in events))
    program.leftovers = read_again(before.changed(between), between.grown(look()), repeated)
    if final is not None and events:
        if again.actions():
            raise nondeterministic("goes on where it ended before", len(events), events[-1])
        _ends_alike(final, again.final(), events)
    program.outlives = any(map(_outlives, events))
    program.unretrieved.clear()
    del shifted
    return final


def _ends_alike(before: Final | None, after: Final | None, events: Sequence[Event]) -> None:
    """What is followed, and what is there already, must make no difference to how a schedule ends."""
    if before is None or after is None or not events:
        return
    if (after.kind, after.state) != (before.kind, before.state):
        one, two = (", ".join(map(str, f.state.values())) for f in (before, after))
        raise nondeterministic(
            f"ends with {after.kind} {two}, before with {before.kind} {one}", len(events), events[-1]
        )


def _run(program: SteadyProgram, events: list[Event], clock: Clock | None) -> Final | None:
    """Run one schedule; how it ends, if it does."""
    run = program.start()
    most = _TWICE
    while len(events) < most and (able := run.actions()):
        events.append(run.step(able[0]))
        if run.run.ended and most == _TWICE:  # others may go on for ever
            most = min(most, len(events) + _AFTER_THE_END)
        if clock is not None:
            clock.check()
    return run.final() if not run.actions() else None


def _watching(program: SteadyProgram) -> AbstractContextManager[None]:
    """While this is open, it is noted which packages a run leads through."""
    return program.following.watching() if program.following is not None else nullcontext()


_MADE = re.compile(r"<[\d.]+#\d+/\d+>|(task|future|handle) ")
"""How names of what a run makes look."""


def _outlives(event: Event) -> bool:
    """Does a step write what was there before the run?"""
    foot = event.footprint
    return (foot.opaque and not event.barrier) or not all(map(_MADE.search, foot.writes))
