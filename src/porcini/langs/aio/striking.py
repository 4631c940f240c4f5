"""Faults of a run: cancellations, timers that fire before their time, calls that raise.

A search does not choose faults as it goes. A run has a *plan*, which says beforehand which faults strike and
where, and under one plan all orders are explored as ever. A fault is known by numbers that do not depend on the
order:

    Cancel      of a task, after so many of its steps and so many ticks of the clock: at one of its awaits, where
                it may have been cancelled before
    Early       of a timer, after so many ticks of the clock
    Raise       of a call that a process makes in its step of this number, counted within the step

*Under a plan nothing is a choice.* A cancellation is a step of a process of its own. What comes last, the step
that brings the task to its await or the tick of the clock, makes this process or wakes it, and from there on the
task is held back until it has been cancelled. So every place between these two steps of the task is tried, no step
disables another, and no run misses the cancellation once the task is there. The clock cannot tick before it, since
somebody is ready; to be cancelled after the tick is another fault. A timer that fires early is ready from when it
is made, or from the tick on, like one that is due. A call that raises is part of its step, and this step is
another choice of its process: the bits of the choice are the calls.

*No fault is missed.* Take a run with faults, up to where the last of them strikes: it is the beginning of a run
under the plan without that one. This plan is explored, so a run of the same class has been seen. There the same
steps come before the same ticks (the clock is ordered with everything), and they make the same calls. So the fault
could have struck there, and was noted. To explore the plan without faults, then those with one fault more for each
that was noted, and so on, therefore comes to every plan under which anything new happens.

*A schedule tells its plan* (`plan_of`): steps and ticks can be counted in it. So a replay needs the schedule only.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any

from porcini.core.events import Move
from porcini.core.pids import Pid
from porcini.langs.aio.naming import CLOCK, Name
from porcini.langs.aio.processes import Process, ReadyHandle

if TYPE_CHECKING:
    from porcini.langs.aio.loop import ControlledLoop

_done = asyncio.Future.done

FAULTS = Pid((2,))
"""The process that cancels task p is 2.p."""
_AFTER_FAULTS = Pid((3,))
"""What that makes, callbacks say, is 3.n.p.0 and so on, where n is how many numbers p has: by 2.p.0, task p.0 is
cancelled."""
_TIMEOUTS = dict.fromkeys(("_release_waiter", "Timeout._on_timeout"), "a timeout")
"""What timers of asyncio's own do, in words for the user: of `wait` and `wait_for`, and of `timeout`."""
MOST_CALLS = 29
"""So many bits of a choice fit into the text of a schedule."""


@dataclass(frozen=True, slots=True)
class Cancel:
    """A task is cancelled where it stands after so many steps, after so many other faults that did so there."""

    pid: Pid
    steps: int
    ticks: int
    before: int = 0


@dataclass(frozen=True, slots=True)
class Early:
    """A timer fires although it is not due."""

    pid: Pid
    ticks: int


@dataclass(frozen=True, slots=True)
class Raise:
    """A call raises: the bit is that of the call and the exception, within the step."""

    pid: Pid
    steps: int
    bit: int


Fault = Cancel | Early | Raise


def by_faults(pid: Pid) -> bool:
    """Does this process exist only because a task was cancelled?"""
    return pid[:1] in (FAULTS, _AFTER_FAULTS)


def rank(fault: Fault) -> tuple[object, ...]:
    """In this order faults are tried."""
    return type(fault).__name__, *astuple(fault)


@dataclass(frozen=True, slots=True)
class Plan:
    """The faults of a run."""

    faults: frozenset[Fault] = frozenset()

    def __len__(self) -> int:
        return len(self.faults)

    def __contains__(self, fault: Fault) -> bool:
        return fault in self.faults

    def extended(self, fault: Fault) -> Plan:
        return Plan(self.faults | {fault})

    def choices(self) -> dict[tuple[Pid, int], int]:
        """The choice of a process in a step, where it has one: which of the calls in it raise."""
        found = Counter[tuple[Pid, int]]()
        for fault in self.faults:
            if isinstance(fault, Raise):
                found[fault.pid, fault.steps] += 1 << fault.bit
        return found


NO_FAULTS = Plan()


def plan_of(schedule: Iterable[Move]) -> Plan:
    """The plan under which a schedule can be followed. Every process may be a timer that fired early: for those
    that are none, or that were due, it makes no difference."""
    ticks, steps, faults = 0, Counter[Pid](), set[Fault]()
    cancelled = Counter[tuple[Pid, int, int]]()
    for pid, choice in schedule:
        if pid == CLOCK:
            ticks += 1
        elif pid[:1] == FAULTS:
            task = Pid(pid[1:])
            where = task, steps[task], ticks
            faults.add(Cancel(*where, cancelled[where]))
            cancelled[where] += 1
        else:
            faults.add(Early(pid, ticks))
            faults.update(Raise(pid, steps[pid], bit) for bit in range(choice.bit_length()) if choice >> bit & 1)
            steps[pid] += 1
    return Plan(frozenset(faults))


@dataclass(slots=True)
class Possible:
    """Which faults are looked for. `noted` are those that runs have met and that are not in their plans."""

    cancels: Callable[[Pid], bool] | None = None
    """Of which tasks?"""
    timeouts: bool = False
    errors: Sequence[str] = ()
    """What is raised, by the number of the error."""
    names: dict[Pid, Name] = field(default_factory=dict)
    noted: set[Fault] | None = None
    """None while nobody asks."""
    called: set[int] = field(default_factory=set)
    """The errors whose calls were made at all."""
    too_many_calls: bool = False
    """Was there a step with more calls than a schedule can tell?"""


class Striking:
    """The faults of one run under way: planned ones strike, others that could have struck are noted."""

    __slots__ = (
        "_calls",
        "_cancelled",
        "_cancellers",
        "_choices",
        "_loop",
        "_noted",
        "_possible",
        "held",
        "pid",
        "plan",
        "steps",
        "struck",
        "ticks",
    )

    def __init__(self, plan: Plan, possible: Possible, loop: ControlledLoop) -> None:
        self.plan = plan
        self._loop = loop
        self.ticks = 0
        self._cancellers: dict[Process, Process] = {}
        self._cancelled = Counter[tuple[Process, int, int]]()
        self.held: dict[Process, Process] = {}
        """Tasks that wait to be cancelled, and by whom."""
        self.struck = ""
        """What has struck in the current step."""
        self.pid, self.steps = FAULTS, 0
        self._calls = 0
        self._choices = plan.choices() if possible.errors else {}
        self._possible = possible
        self._noted = possible.noted  # a run that is ended late notes nothing for the next plan

    def begin_step(self, process: Process) -> None:
        if process.fault and process.handle is not None and process.handle._cancelled:
            process.end, process.fault = "cancelled before its time", ""
        self.pid, self.steps, self.struck = process.name.pid, process.steps, process.fault
        self._calls = 0

    def choice(self, process: Process) -> int:
        """Which of its calls raise in the next step of a process."""
        return self._choices.get((process.name.pid, process.steps), 0)

    def _meets(self, fault: Fault, wanted: bool) -> bool:
        """Is it planned? If not, it is noted where such faults are wanted."""
        if fault in self.plan:
            return True
        if wanted and self._noted is not None:
            self._noted.add(fault)
        return False

    def hold(self, process: Process) -> None:
        """Let a task that is to be cancelled at its await, which it has begun, wait for that."""
        loop, task = self._loop, process.task
        begun = process.steps or process.eager is not None
        if task is None or _done(task) or not begun or loop.mode != "any" or process in self.held:
            return
        wanted, pid = self._possible.cancels, process.name.pid
        fault = Cancel(pid, process.steps, self.ticks, self._cancelled[process, process.steps, self.ticks])
        if self._meets(fault, wanted is not None and wanted(pid)):
            canceller = self.held[process] = self._canceller(process)
            loop._is_ready(canceller, ReadyHandle(canceller, self._cancel, (process,), loop, None))

    def _canceller(self, process: Process) -> Process:
        """The process that cancels a task, as often as that is planned: made or woken by the current step."""
        canceller = self._cancellers.get(process)
        if canceller is not None:
            self._loop.woke[canceller] = None
            return canceller
        task = process.name.pid
        pid = Pid((*FAULTS, *task))
        name = self._possible.names.setdefault(pid, Name(pid, Pid((*_AFTER_FAULTS, len(task), *task))))
        canceller = self._cancellers[process] = Process(name, "fault")
        canceller.end = canceller.fault = f"cancels {process.title} ({process.name.text})"
        canceller.followed = True
        self._loop.spawned.append(canceller)
        return canceller

    def _cancel(self, process: Process) -> None:
        """The fault itself. A task that was ready could not go on before; it may be cancelled once more."""
        del self.held[process]
        if process in self._loop.ready:
            self._loop.woke[process] = None
        process.task.cancel()
        self._cancelled[process, process.steps, self.ticks] += 1
        self.hold(process)

    def fires(self, timer: Any) -> bool:
        """Does a timer fire that is not due? For its callback, the time is then what it waited for."""
        process = timer.process
        if not self._meets(Early(process.name.pid, self.ticks), self._possible.timeouts):
            return False
        process.due = timer._when
        process.end = f"fires before its time, which is {timer._when:g} s"
        process.fault = f"{_TIMEOUTS.get(process.title, process.title)} {process.end}"
        return True

    def raises(self, errors: Sequence[int]) -> int | None:
        """A call is made that may raise these: which one does it raise?"""
        known = len(self._possible.errors)
        self._possible.called.update(errors)
        first, self._calls = self._calls * known, self._calls + 1
        for error in errors:
            bit = first + error
            if bit >= MOST_CALLS:
                self._possible.too_many_calls = True
            elif self._meets(Raise(self.pid, self.steps, bit), True):
                raised = self._possible.errors[error]
                self.struck = f"{self.struck}, {raised}" if self.struck else raised
                return error
        return None

    def end(self) -> None:
        """The run is over: what is cleaned up after it meets no faults."""
        self.plan, self._possible, self._noted = NO_FAULTS, Possible(), None
