"""The same schedule must do the same: a program whose runs are compared with the run before, step by step.

A search replays the beginning of its last run again and again, so comparing with the last run alone sees most of
what is not a function of the schedule; `rehearsing` looks at one whole run before the search. What differs is an
error that names the step.

Most of these replays are cheap (`again`): of a step nothing is recorded but how often it touched anything; that,
where it stopped, and whom it made and woke is compared. The first ones, and then one in so many, compare it all.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from porcini.core.errors import InputError, Place
from porcini.core.events import Action, Event, Failure, Schedule
from porcini.core.footprints import Location
from porcini.core.origins import origin_of
from porcini.core.systems import Final, Program, Restart
from porcini.coroutines.following import Following
from porcini.coroutines.guards import Guarding, check_refused
from porcini.coroutines.leftovers import Snapshot
from porcini.coroutines.lines import at, users_lines
from porcini.engines.replaying import follow
from porcini.formats.lanes import short_names
from porcini.langs.aio.commuting import Commuting
from porcini.langs.aio.inside import Inside
from porcini.langs.aio.log import LOG
from porcini.langs.aio.naming import Spot, StepLabel
from porcini.langs.aio.outside import Refused
from porcini.langs.aio.program import AioProgram, AioRun, kind_of_problem
from porcini.langs.aio.recorder import OpaqueCall, Recorder
from porcini.langs.aio.sections import Levels
from porcini.langs.aio.standing import describe_problem, leaves
from porcini.langs.aio.striking import NO_FAULTS, Plan, plan_of

SUSPECTS = (
    "usual suspects: state that outlives a run (a global, a class attribute, a cache, a fixture that the test "
    "changes), the real time, unseeded random numbers, ids, the order of a set, real I/O, threads"
)
_MOST_TO_END = 1_000
_ALL_COMPARED, _ONE_IN = 10, 20
_accesses, _forget = LOG.__len__, LOG.clear
_MOST_NAMED = 3


class NondeterministicProgram(InputError):
    """The same schedule did something else: the program depends on more than the order of its steps."""


class SteadyProgram(Program):
    """A program that is guarded, and whose runs are compared with each other."""

    discovers_footprints = AioProgram.discovers_footprints

    def __init__(
        self,
        program: AioProgram,
        guarding: Guarding,
        recorder: Recorder | None = None,
        look: Callable[[], Snapshot] | None = None,
        learn: Callable[[], None] | None = None,
        packages: Sequence[str] = (),
        following: Following | None = None,
    ) -> None:
        self.program = program
        self.following = following
        self.guarding = guarding
        self.recorder = recorder
        self.last: list[Event] = []
        self.unretrieved: Counter[str] = Counter()
        """Exceptions that nobody looked at, and in how many runs."""
        self.unfollowed: Counter[Spot] = Counter()
        """Where opaque steps began of which the recorder has nothing to say: in code that is not instrumented."""
        self.untracked: Counter[str] = Counter()
        """Why else steps were opaque: what the program made behind the loop's back."""
        self.reasons: dict[object, OpaqueCall | Spot | str] = {}
        """Why opaque steps were, by their labels."""
        self.opaque = 0
        self.steps = 0
        """Steps of which all was recorded, and how many of these were opaque."""
        self.accesses: list[int] = []
        """How often the steps of `last` touched anything."""
        self.commuting: Commuting | None = None
        """Which updates commute, while a search goes on that can begin again."""
        self.unfinished: SteadyRun | None = None
        """The last run, if it was left before its end."""
        self.outlives = True
        """Does a run write what was there before it, so that the next one may find it?"""
        self._replays = 0
        self._planned = NO_FAULTS
        self.draw_plan: Callable[[], Plan] | None = None
        """What gives each run its plan, where plans are drawn by chance."""
        self.look = look
        self._learn = learn
        self.leftovers: list[Location] = []
        """What a run read that the run before it had changed."""
        self.packages = packages
        self.initialised: list[Location] = []
        """What the first run has set up in packages, once and for all."""
        self._noted = 0
        self.levels = Levels()
        """What is known of locks."""

    def commute(self, commuting: Commuting | None) -> None:
        """Footprints are others now: no run is compared with an earlier one."""
        if self.recorder is not None:
            self.recorder.commuting = self.commuting = commuting
        self.forget_runs()

    def forget_runs(self) -> None:
        """The next run is compared with none."""
        self.last, self.accesses = [], []

    def forget_coverage(self) -> None:
        """More code is followed from now on: what was opaque before is of no interest."""
        self.opaque = self.steps = self._noted = 0
        self.unfollowed.clear()
        self.untracked.clear()
        if self.recorder is not None:
            self.recorder.opaque_calls.clear()

    def start(self) -> SteadyRun:
        return self._start(self.program.plan if self.draw_plan is None else self.draw_plan())

    def start_under(self, schedule: Schedule) -> SteadyRun:
        return self._start(plan_of(schedule))

    def _start(self, plan: Plan) -> SteadyRun:
        if self.unfinished is not None and self.outlives:
            self.unfinished.end()
        if self.following is not None:
            self.following.caches.put_back()
        if plan != self._planned:  # runs under different plans are not compared
            self._planned, self.last, self.accesses = plan, [], []
        self.guarding.start_run()
        self.unfinished = SteadyRun(self, plan)
        if self._learn is not None:  # arguments that were made for this run
            self._learn()
        return self.unfinished

    def leave(self) -> None:
        """No more runs: the last one lets go of what it has replaced, while the world is still guarded."""
        if self.unfinished is not None:
            self.unfinished.run.close()
            self.unfinished = None

    def outgrown(self) -> Restart:
        """What is known of commuting updates has grown, so that earlier footprints were too small."""
        assert self.commuting is not None
        self.commuting.begin_again()
        self.commute(self.commuting)
        return Restart(self)

    def start_after(self, events: Sequence[Event]) -> SteadyRun:
        self._replays += 1
        run = self.start()
        if self._replays <= _ALL_COMPARED or self._replays % _ONE_IN == 0:
            follow(run, tuple(event.move for event in events))
            return run
        run.repeat(events)
        return run

    def saw_opaque(self, label: object, untracked: str) -> None:
        self.opaque += 1
        noted = self.recorder.opaque_calls.total() if self.recorder else 0
        if untracked:
            self.untracked[untracked] += 1
            self.reasons[label] = untracked
        elif noted == self._noted and isinstance(label, StepLabel) and label.began:
            self.unfollowed[label.began] += 1
            self.reasons[label] = label.began
        elif self.recorder is not None and self.recorder.last_opaque is not None:
            self.reasons[label] = self.recorder.last_opaque
        self._noted = noted


class SteadyRun:
    """A run that compares itself with the one before, for as long as both follow the same schedule."""

    __slots__ = ("_at", "_final", "_following", "_late", "_owner", "actions", "run")

    def __init__(self, owner: SteadyProgram, plan: Plan) -> None:
        self._owner = owner
        self._at = 0
        self._following = True
        self._final: Final | None = None
        self._late: BaseException | None = None  # raised after the run
        self.run: AioRun = owner.program.start(plan)
        owner.guarding.loop = self.run.loop
        self.run.gauge = _accesses
        self.actions = self.run.actions

    def step(self, action: Action) -> Event:
        owner, at = self._owner, self._at
        event = self._guarded(action)
        owner.steps += 1
        commuting = owner.commuting
        if event.footprint.opaque and not event.barrier:
            owner.saw_opaque(event.label, self.run.loop.untracked or self.run.loop.peeked)
            if commuting is not None:
                commuting.any_order_is_seen()
                commuting.locks_are_seen()
        if commuting is not None and commuting.outgrown:
            self.end()
            raise owner.outgrown()
        if event.failure is not None:
            event = replace(event, failure=_placed(event.failure, self.problem))
        self._at = at + 1
        last = owner.last
        if self._following:
            if at < len(last) and last[at].pid == event.pid:
                before = last[at]
                if before is not event and (
                    before.label is not event.label
                    or before.footprint != event.footprint
                    or before.spawned != event.spawned
                    or before.woke != event.woke
                    or before.awaits != event.awaits
                ):
                    raise _differs(at, before, event)
                return before
            self._following = False
            del last[at:], owner.accesses[at:]
        last.append(event)
        owner.accesses.append(self.run.accesses)
        return event

    def _guarded(self, action: Action) -> Event:
        guarding = self._owner.guarding
        guarding.steps += 1
        guarding.stepping = True
        try:
            event = self.run.step(action)
        except Refused:  # in the middle of our own code
            check_refused(self.run.loop)
            raise
        finally:
            guarding.stepping = False
        check_refused(self.run.loop)
        return event

    def end(self) -> None:
        """Let the run come to its end, so that the program cleans up what the next one would find."""
        for _ in range(_MOST_TO_END):
            able = self.run.actions()
            if not able:
                self.final()
                return
            self._guarded(able[0])
        self._owner.unfinished = None
        self.run.close()

    def repeat(self, events: Sequence[Event]) -> None:
        """Do again what was done in an earlier run, comparing as little as tells."""
        owner = self._owner
        guarding, run, last, accesses = owner.guarding, self.run, owner.last, owner.accesses
        guarding.stepping = True
        try:
            with Inside(run.loop):
                for at, event in enumerate(events):
                    guarding.steps += 1
                    same = run.again(event, _forget)
                    check_refused(run.loop)
                    if at < len(last) and last[at] is event:
                        same = same and accesses[at] == run.accesses
                    else:
                        last[at:], accesses[at:] = [event], [run.accesses]
                    if not same:
                        break
                else:
                    self._at = len(events)
                    return
        finally:
            guarding.stepping = False
        run.close()
        follow(owner.start(), tuple(event.move for event in events))  # knows what to say, if it happens again
        raise nondeterministic("touches more or less, stops elsewhere or wakes others than before", at + 1, event)

    def final(self) -> Final:
        """How the run ended, and what was cleaned up after it."""
        if self._final is None:
            self._final = self._cleaned_up(self._ended())
            if self._owner.commuting is not None and self._owner.commuting.outgrown:
                raise self._owner.outgrown()
        return self._final

    def _cleaned_up(self, final: Final) -> Final:
        """What follows a run may look at all that it left behind, the order of keys and items included."""
        owner, guards = self._owner, self._owner.guarding.guards
        self._late = owner.guarding.end_run() if guards.at_end else None
        if guards.looks_back and owner.commuting is not None:
            owner.commuting.any_order_is_seen()
            if owner.commuting.outgrown:
                raise owner.outgrown()
        if self._late is None or final.kind != "terminated":
            return final
        return Final(kind_of_problem(self._late), {"raised": describe_problem(self._late)})

    def _ended(self) -> Final:
        owner = self._owner
        owner.unfinished = None
        owner.guarding.steps += 1
        owner.guarding.stepping = True
        try:
            final = self.run.final()
        finally:
            owner.guarding.stepping = False
        check_refused(self.run.loop)
        owner.unretrieved.update(self.run.unretrieved)
        return final

    @property
    def problem(self) -> BaseException | None:
        """What the main task raised, or what was raised after it."""
        main: Any = self.run.main
        problem: BaseException | None = main._exception
        return problem or self._late


def _placed(failure: Failure, problem: BaseException | None) -> Failure:
    """A failure at the last line of the user's, which may be before code of others that raised it."""
    users = users_lines(next(leaves(problem))) if problem else ()
    return replace(failure, file=users[-1].path, place=Place(users[-1].line, 1)) if users else failure


def _differs(at: int, before: Event, now: Event) -> NondeterministicProgram:
    return nondeterministic("; ".join(_what_differs(before, now)), at + 1, now)


def nondeterministic(what: str, step: int, event: Event) -> NondeterministicProgram:
    label = event.label
    spots = (label.began, label.stopped) if isinstance(label, StepLabel) else ()
    spot = next((spot for spot in spots if spot and origin_of(spot.path) != "porcini"), None)
    name = label.name if isinstance(label, StepLabel) else str(label)
    return NondeterministicProgram(
        "the same schedule did not do the same when it was run again: "
        f"step {step}, of {name} ({event.pid}), {what}",
        **(at(spot.path, spot.line) if spot else {}),
        hint=SUSPECTS,
    )


def _what_differs(before: Event, now: Event) -> list[str]:
    found = []
    if before.label != now.label:
        found.append(f"now {_end(now)}, and before {_end(before)}")
    for verb, had, has in (
        ("reads", before.footprint.reads, now.footprint.reads),
        ("writes", before.footprint.writes, now.footprint.writes),
    ):
        if has - had:
            found.append(f"{verb} {_some(has - had)}, which it did not before")
        if had - has:
            found.append(f"no longer {verb} {_some(had - has)}")
    if before.footprint.opaque != now.footprint.opaque:
        found.append("calls what is not known" if now.footprint.opaque else "no longer calls what is not known")
    if before.spawned != now.spawned:
        found.append(f"makes {len(now.spawned)} tasks or callbacks, before {len(before.spawned)}")
    if before.woke != now.woke:
        found.append(f"wakes {_pids(now.woke)}, before {_pids(before.woke)}")
    return found


def _end(event: Event) -> str:
    label = event.label
    if not isinstance(label, StepLabel):
        return str(label)
    return f"stops at {label.stopped}" if label.stopped else label.end.replace("cancelled", "is cancelled")


def _some(locations: frozenset[Location]) -> str:
    """Of the locations those that the user has names for, if there are any."""
    users = [
        location for location in sorted(locations) if not location.startswith(("task ", "future ", "handle "))
    ]
    names = list(dict.fromkeys(short_names(users or sorted(locations)).values()))
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _pids(pids: Sequence[object]) -> str:
    return ", ".join(map(str, pids)) or "nobody"
