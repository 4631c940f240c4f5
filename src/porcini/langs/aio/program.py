"""A coroutine function as a program that Porcini can explore: `AioProgram` and its runs.

**Processes** are tasks and callbacks, named by their creation: the main task is 0, and the k-th task or callback
that a step of process p makes or schedules is p.k. The wakeup of a task is a step of the task. A **step** runs one
ready handle to its end: a task from one await to the next.

**Enabled** is who has a ready handle, and stays so until it runs: a handle that was cancelled when it was ready
runs as a step that does nothing. So no step disables another's, and a blocked task has no action: somebody's step
will make it ready. That step's event says so (`woke`): it comes before the task's next step in every order, and
there is no race to reverse. Another step that could have woken the task instead races with the first one, for the
future that both want to complete.

**Conflicts** come from two sides. Code is followed by a recorder; what it cannot follow is opaque, so is a step
that begins in a function which is not followed. Futures, tasks, handles and joins are seen by the loop itself
(`futures`, `joins`). What a step will touch is not known before it was run, so actions are opaque; engines compare
events.

**Time** moves when nothing is ready, by a step of the process `1`: to the next deadline, and all timers due then
become ready together. Its event is a barrier. What came before it was ready before, so it cannot go earlier; what
goes after it was made ready by it or by what follows; so it races with nothing.

**The end.** A run is over when the main task is done, or nothing is left to wait for. The outcome is what the main
task returned or raised. Steps that its last step comes before in every order, because it made or woke who takes
them, cannot change that, and are not taken; in mode `fifo` these are all that are left. In mode `any`, others were
ready before and could have gone first. They go on while they are ready, since only so is it known what they would
have done; but time stands still, and whom the last step woke stays where it is. (To stop everybody would make the
last step race with every step of every task.) Then all that is left is cancelled, as `asyncio.run` does, in the
order of creation and without exploring other orders.

**Busy waiting.** A step that wrote nothing, made nothing and left its task where it was, with the same values,
would do the same again as long as nobody writes what it read. So the task has no action until somebody does, who
then wakes it. Take a run of the program and leave out all such steps: it ends the same way, and nothing stands in
its way here, since nobody is held up before such a step. Who waits so when nothing else can move waits for ever: a
deadlock. One that watches the clock makes time pass, by steps that double. In mode `fifo` who waits so keeps its
place in the queue, and only a queue of nobody else is taken to be empty.

**Polling.** `while not done: await asyncio.sleep(0.1)`: a task that slept, changed nothing, did not look at the
time and sleeps again at the same place with the same values polls. It will do so again and again, until somebody
writes what it read. When nothing is ready, and all timers are those of tasks that poll, then nobody ever will:
time alone changes nothing, and they wait for ever, too. While another timer is left they poll on.
"""

from __future__ import annotations

import asyncio
import inspect
import math
from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from porcini.core.errors import InputError, Place
from porcini.core.events import Action, Event, Failure, FailureKind, Move
from porcini.core.footprints import NOWHERE, OPAQUE, Footprint, Location
from porcini.core.pids import Pid
from porcini.core.systems import Final, Observed, Program, Waiting
from porcini.langs.aio import standing, trusted
from porcini.langs.aio.futures import SeenTask, coroutine_of
from porcini.langs.aio.inside import Inside, Staying
from porcini.langs.aio.loop import TIME, ControlledLoop, Mode
from porcini.langs.aio.naming import CLOCK, MAIN, Name, Spot, StepLabel
from porcini.langs.aio.processes import Process
from porcini.langs.aio.recording import Blind, Followed, Knowledge, Recorder
from porcini.langs.aio.rounds import Rounds
from porcini.langs.aio.sections import Sections
from porcini.langs.aio.serial import Deed
from porcini.langs.aio.striking import NO_FAULTS, Plan, Possible, Striking

Shows = Callable[[object, bool], object]
"""Is told a value whose text says how a run ended, and whether the text shows the order of keys."""
_CLOCK_ACTION = Action(CLOCK, 0, "clock", OPAQUE)
_MOST_AT_THE_END = 10_000
_MOST_EVENTS = 100_000
_done, _result = asyncio.Future.done, asyncio.Future.result


class AioProgram(Program):
    """A coroutine function with its arguments. `recorder` sees what steps touch, in code that is `followed`.

    `seen` gives what takes the place of a callback in other code, `tasks.discard` say, and records what that does;
    `shows` is told what the main task returns or raises, in its last step.
    """

    discovers_footprints = True

    def __init__(
        self,
        function: Callable[..., Any],
        args: Sequence[Any] = (),
        mode: Mode = "any",
        recorder: Recorder | None = None,
        followed: Followed = lambda code: False,
        seen: Callable[[Any], Any] | None = None,
        shows: Shows = lambda value, in_order: None,
    ) -> None:
        self.function = function
        self.args = tuple(args)
        self.mode: Mode = mode
        self.recorder: Recorder = recorder or Blind()
        self.knowledge = Knowledge(followed)
        self.seen = seen
        self.shows = shows
        self.plan = NO_FAULTS
        self.possible = Possible()
        self.root = Name(MAIN)
        self.labels: dict[tuple[str, Spot | None, Spot | None, str], StepLabel] = {}
        self._events: dict[tuple[object, ...], Event] = {}
        self.looked: dict[tuple[Pid, StepLabel, Footprint], frozenset[Location]] = {}
        """What steps of tasks that were left running have looked at: replays do not record it."""

    def start(self, plan: Plan | None = None) -> AioRun:
        return AioRun(self, self.plan if plan is None else plan)

    def label(self, name: str, began: Spot | None, stopped: Spot | None, end: str = "") -> StepLabel:
        key = name, began, stopped, end
        label = self.labels.get(key)
        if label is None:
            label = self.labels[key] = StepLabel(*key)
        return label

    def event(
        self,
        move: Move,
        label: StepLabel,
        foot: Footprint,
        spawned: tuple[Pid, ...],
        woke: tuple[Pid, ...],
        awaits: frozenset[Location],
        fault: str,
    ) -> Event:
        """One object for all events that are equal: what engines find out about it serves for all runs."""
        about = foot.reads, foot.writes, foot.opaque
        key = move, id(label), about, spawned, woke, awaits, fault  # labels are kept
        event = self._events.get(key)
        if event is None:
            if len(self._events) > _MOST_EVENTS:
                self._events.clear()
            event = self._events[key] = Event(*move, label, foot, spawned, woke=woke, awaits=awaits, fault=fault)
        return event


class _Spinning:
    """A task that waits by asking again and again, and for what."""

    __slots__ = ("anything", "joints", "places", "spot")

    def __init__(
        self,
        places: frozenset[Location],
        joints: frozenset[Location],
        spot: Spot | None,
        anything: bool = False,
    ) -> None:
        self.places, self.joints, self.spot = places, joints, spot
        self.anything = anything
        """May it depend on whatever others do?"""

    def sees(self, foot: Footprint) -> bool:
        return (
            self.anything
            or foot.opaque
            or not self.places.isdisjoint(foot.writes)
            or not self.joints.isdisjoint(foot.reads)
        )


class AioRun:
    """One execution under way. `close` throws it away; so does losing it."""

    def __init__(self, program: AioProgram, plan: Plan = NO_FAULTS) -> None:
        self.program = program
        self.loop = loop = ControlledLoop(program.root, program.mode)
        looked_for = program.possible.noted is not None
        self.faults = loop.faults = Striking(plan, program.possible, loop) if plan or looked_for else None
        self._spinning: dict[Process, _Spinning] = {}
        self._polling: dict[Process, _Spinning] = {}
        self._ticks = 0
        self._too_late: list[Process] = []
        self._rounds = Rounds()
        self.gauge: Callable[[], int] = int
        self.accesses = 0
        """What the gauge said after the last step: the number of accesses that were recorded, say."""
        self._final: Final | None = None
        self._result: Observed = ""
        self._failure: Failure | None = None
        self.unretrieved: tuple[str, ...] = ()
        """Exceptions of tasks and callbacks that nobody looked at: asyncio only logs them."""
        program.recorder.start_run()
        loop.commuting = commuting = program.recorder.commuting
        self._events: list[Event] = []
        if commuting is not None and program.mode == "any":
            loop.sections = Sections(loop, commuting.levels, self._events)
        coroutine = program.function(*program.args)
        if not inspect.iscoroutine(coroutine):
            name = getattr(program.function, "__qualname__", program.function)
            raise InputError(f"`{name}` is not a coroutine function", hint="define it by `async def`")
        self.main = loop.start(coroutine)

    # Run ----------------------------------------------------------------------------------------------------

    def actions(self) -> list[Action]:
        loop = self.loop
        if loop.ready and not (self._spinning and self._spinning.keys() >= loop.ready.keys()):
            if self.faults is None:
                return [process.name.action(process.title) for process in loop.enabled()]
            held, choice = self.faults.held, self.faults.choice
            return [p.name.action(p.title, choice(p)) for p in loop.enabled() if p not in held]
        if not _done(self.main) and (self._time_will_tell() or self._watches_the_clock()):
            return [_CLOCK_ACTION]
        return []

    @property
    def ended(self) -> bool:
        """Has the main task ended?"""
        return _done(self.main)

    def _time_will_tell(self) -> bool:
        loop, polling = self.loop, self._polling
        if not loop.can_advance():
            return False
        return not polling or not loop.only_sleepers(process.task for process in polling)

    def step(self, action: Action) -> Event:
        if action.pid is CLOCK or action.pid == CLOCK:
            return self._advance()
        event = self._step(action)
        self._events.append(event)
        return event

    def _step(self, action: Action) -> Event:
        loop, pid = self.loop, action.pid
        for process in loop.ready:
            if process.name.pid is pid or process.name.pid == pid:
                break
        else:
            raise KeyError(pid)
        if not process.steps and process.spot is None:
            self._arrive(process)
        batch, handle = loop.batch, process.handle
        called = None if handle is None or process.task else (handle._callback, handle._args)
        if Staying.inside is loop:
            recorded, heard = self._taken(process)
        else:
            with Inside(loop):
                recorded, heard = self._taken(process)
        if loop.spawned:
            self._started_eagerly()
        foot = Footprint(
            recorded.reads.union(loop.reads),
            recorded.writes.union(loop.writes, loop.observed, self._unnoticed(process)),
            recorded.opaque or bool(loop.untracked or loop.peeked) or not process.followed,
        )
        process.steps += 1
        changed = heard or foot.opaque or bool(recorded.writes or loop.writes)
        self._heard(process, foot)
        label, failure = self._stopped(process, foot, changed)
        fault = self._met_faults(process)
        if called is not None:
            self._look_for_repeating(process, called, foot)
        if _done(self.main):
            self._after_the_end(process, batch, label, foot, self.program.recorder.looked)
        spawned, woke = loop.spawned, loop.woke
        children = tuple([p.name.pid for p in spawned]) if spawned else ()
        others = self._woken(process) if woke else ()
        awaits = frozenset(loop.awaits) if loop.awaits else NOWHERE
        if failure is not None:
            return Event(*action.move, label, foot, children, failure, woke=others, awaits=awaits, fault=fault)
        return self.program.event(action.move, label, foot, children, others, awaits, fault)

    def _woken(self, process: Process) -> tuple[Pid, ...]:
        """Whom a step has woken beside its own process. Where any of them may go next, it makes no difference who
        was woken first: that may be the order of a set."""
        woken = [p.name.pid for p in self.loop.woke if p is not process]
        return tuple(sorted(woken) if self.loop.mode == "any" else woken)

    def _unnoticed(self, process: Process) -> frozenset[Location]:
        """What every step writes, so that it does not count as a change that others wait for. The step of a task
        changes what the task waits for, and who cancels it looks at that: it cancels what is waited for."""
        return self.loop.always if process.task is None else self.loop.always | process.name.position

    def _taken(self, process: Process) -> tuple[Footprint, bool]:
        """Run a ready process: what was recorded, and whether others heard of it."""
        loop, recorder = self.loop, self.program.recorder
        recorder.begin_step(process.name.pid, process.steps)
        try:
            self._run(process)
        finally:
            self.accesses = self.gauge()
            recorded = recorder.end_step()
        return recorded, loop.settle()

    def _run(self, process: Process) -> None:
        """Run a ready process. How the main task ended is looked at in its last step: others may change it."""
        if self.faults is not None:
            self.faults.begin_step(process)
        self.loop.run(process)
        if process.task is self.main and _done(self.main):
            self._main_ended(self.main, self.main._exception)

    def again(self, event: Event, forget: Callable[[], object]) -> bool:
        """Do what was done in an earlier run, `Inside` the loop. Does it look the same? `forget` drops what was
        recorded, so that the recorder only names new objects."""
        if event.barrier:
            return self._advance().label is event.label
        same = self._again(event, forget)
        self._events.append(event)
        return same

    def _again(self, event: Event, forget: Callable[[], object]) -> bool:
        loop, recorder, pid = self.loop, self.program.recorder, event.pid
        for process in loop.ready:
            if process.name.pid is pid or process.name.pid == pid:
                break
        else:
            return False
        if not process.steps and process.spot is None:
            self._arrive(process)
        batch, handle = loop.batch, process.handle
        called = None if handle is None or process.task else (handle._callback, handle._args)
        recorder.begin_step(pid, process.steps)
        try:
            self._run(process)
        finally:
            self.accesses = self.gauge()
            forget()
            recorder.end_step()
        changed = loop.settle() or bool(loop.writes)
        if loop.spawned:
            self._started_eagerly()
        process.steps += 1
        foot = event.footprint
        if foot.opaque or (foot.writes and not changed):
            changed = foot.opaque or not foot.writes <= loop.observed.union(self._unnoticed(process))
        self._heard(process, foot)
        label, _ = self._stopped(process, foot, changed)
        self._met_faults(process)
        if called is not None:
            self._look_for_repeating(process, called, foot)
        if _done(self.main):
            self._after_the_end(process, batch, label, foot)
        spawned, woke = event.spawned, event.woke
        return (
            label is event.label
            and len(loop.spawned) == len(spawned)
            and (not woke if not loop.woke else woke == self._woken(process))
        )

    def final(self) -> Final:
        if self._final is None:
            self._final = self._ending()
            if self.loop.sections is not None:
                self.loop.sections.check()
                self.loop.sections.over = True
            self._finish()
        return self._final

    def deeds(self) -> tuple[Sequence[Event], Sequence[Deed]]:
        """The events up to here, and what they did about locks that were guarded."""
        return self._events, self.loop.sections.deeds if self.loop.sections is not None else ()

    # a step ---------------------------------------------------------------------------------------------------

    def _arrive(self, process: Process) -> None:
        """Where a process stands before its first step."""
        knowledge, task = self.program.knowledge, process.task
        if process.followed:
            return  # a fault, whose step is our own
        if task is not None:
            code = standing.code_of(coroutine_of(task))
            process.followed = code is not None and knowledge.of_code(code)
        else:
            handle = process.handle
            callback = handle._callback if handle else None
            code = getattr(getattr(callback, "__func__", callback), "__code__", None)
            process.followed = callback is None or knowledge.of_callable(callback)
            if handle and not process.followed and self.program.seen is not None:
                handle._callback, process.followed = self.program.seen(callback), True
        process.spot = standing.start_of(code) if code else None

    def _started_eagerly(self) -> None:
        """Tasks that took their first step inside of this one: where they stand, and whether it was followed."""
        for process in self.loop.spawned:
            if process.eager is None:
                continue
            if not process.eager or not self.program.knowledge.of_code(process.eager):
                self.loop.peeked = f"{process.title}, which was started eagerly and is not followed"
            if not _done(process.task):
                self._stands(process, coroutine_of(process.task))

    def _stands(self, process: Process, coroutine: Any) -> tuple[list[Any], Any]:
        """Note where a task waits, and whether all code that will go on from there is followed; its frames, and
        what the innermost awaits."""
        frames, awaited = standing.chain(coroutine)
        followed = awaited is None or standing.is_future_iter(awaited)
        for frame in frames:
            followed = followed and self.program.knowledge.of_code(frame.f_code)
        process.followed = followed
        process.spot = standing.find_spot(frames)
        return frames, awaited

    def _stopped(self, process: Process, foot: Footprint, changed: bool) -> tuple[StepLabel, Failure | None]:
        """Note where a process stands now; the step's label, and its failure if it is the main task's."""
        task, label, began = process.task, self.program.label, process.spot
        if task is None:
            return label(process.title, began, None, process.end), None
        if self.loop.sections is not None and self.loop.sections.had_by:
            self.loop.sections.stopped(process)
        if _done(task):
            problem = task._exception
            end = (
                f"raises {type(problem).__name__}"
                if problem
                else "ends"
                if task._state != "CANCELLED"
                else "cancelled"
            )
            return label(process.title, began, None, end), self._failure if task is self.main else None
        coroutine = coroutine_of(task)
        frames, awaited = self._stands(process, coroutine)
        if standing.may_come_back(frames, awaited) and (
            process.handle is not None or (frames and standing.is_sleep(frames[-1].f_code))
        ):
            self._look_for_spinning(process, coroutine, frames, None if changed else foot)
        else:
            process.snapshot = None
        return label(process.title, began, process.spot), None

    def _main_ended(self, task: SeenTask, problem: BaseException | None) -> None:
        if problem is None and task._state != "CANCELLED":
            self._result = observed(_result(task), self.program.shows)
            return
        raised = problem or asyncio.CancelledError("the main task was cancelled")
        task._log_traceback = False
        self.program.shows(raised, True)
        self._failure = Failure(kind_of_problem(raised), standing.describe_problem(raised), _place(raised))

    def _advance(self) -> Event:
        loop = self.loop
        recorder = self.program.recorder
        if self.faults is not None:
            self.faults.ticks += 1
        with Inside(loop):
            recorder.begin_step(CLOCK, self._ticks)
            loop.advance(at_most=max(loop.now, 0.001) if self._watches_the_clock() else math.inf)
            recorder.end_step()
        self._ticks += 1
        for process in [p for p, spinning in self._spinning.items() if TIME in spinning.places]:
            self._let_go(process)
        if self.faults is not None:
            for task in loop.pending():
                self.faults.hold(task._process)
        label = self.program.label("clock", None, None, f"{loop.now:g} s")
        event = Event(CLOCK, 0, label, OPAQUE, barrier=True)
        self._events.append(event)
        return event

    def _watches_the_clock(self) -> bool:
        return any(TIME in spinning.places for spinning in self._spinning.values())

    # faults ---------------------------------------------------------------------------------------------------

    def _met_faults(self, process: Process) -> str:
        """A step was taken: hold back who is to be cancelled where it stands now. What has struck in the step?"""
        if self.faults is None:
            return ""
        self.faults.hold(process)
        for other in tuple(self.loop.spawned):
            self.faults.hold(other)
        return self.faults.struck

    # busy waiting ---------------------------------------------------------------------------------------------

    def _look_for_spinning(
        self, process: Process, coroutine: Any, frames: list[Any], foot: Footprint | None
    ) -> None:
        """Is a task that goes on by itself where it was before the step, which changed nothing?"""
        loop, before = self.loop, process.snapshot
        if loop.sections is not None and loop.sections.has_come(process):
            process.snapshot = None
            return
        process.snapshot = now = standing.snapshot(coroutine, frames)
        if before is None or foot is None:
            return
        if standing.unchanged(before, now):
            joints = frozenset(loop.observed)
            spinning = _Spinning(foot.reads | joints, joints, process.spot)
            if process.handle is None:
                if TIME not in spinning.places:
                    self._polling[process] = spinning
                return
            if loop.mode == "any":
                del loop.ready[process]
            self._spinning[process] = spinning

    def _look_for_repeating(self, process: Process, called: tuple[Any, Any], foot: Footprint) -> None:
        """Has a callback done nothing but to have itself called again? Then it would do the same, until somebody
        writes what it read. Where it keeps the handle of the next call, nobody else looks, except to cancel it."""
        loop = self.loop
        if loop.mode != "any" or len(loop.spawned) != 1 or loop.woke:
            return
        (next_one,) = loop.spawned
        handle = next_one.handle
        if handle is None or next_one not in loop.ready or (handle._callback, handle._args) != called:
            return
        if all(place.endswith(trusted.HANDLES_OF_REPEATED_CALLS) for place in foot.writes):
            del loop.ready[next_one]
            joints = frozenset(loop.observed)
            self._spinning[next_one] = _Spinning(foot.reads | joints, joints, process.spot, foot.opaque)

    def _heard(self, process: Process, foot: Footprint) -> None:
        """A process took a step: who waits by asking again may now be answered otherwise."""
        if self._spinning:
            self._spinning.pop(process, None)
            for other in [p for p, spinning in self._spinning.items() if spinning.sees(foot)]:
                self._let_go(other)
        if self._polling:
            self._polling.pop(process, None)
            for other in [p for p, polling in self._polling.items() if polling.sees(foot)]:
                del self._polling[other]

    def _let_go(self, process: Process) -> None:
        del self._spinning[process]
        if self.loop.mode == "any":
            assert process.handle is not None
            self.loop._is_ready(process, process.handle)
            self.loop.woke[process] = None

    # the end --------------------------------------------------------------------------------------------------

    def _after_the_end(
        self,
        process: Process,
        batch: int,
        label: StepLabel,
        foot: Footprint,
        looked: AbstractSet[Location] = frozenset(),
    ) -> None:
        """A step that ended the main task, or one after that."""
        if process.task is self.main:
            self._leave_out(batch)
        elif process.task is not None and process in self.loop.ready:
            key = process.name.pid, label, foot
            known = self.program.looked[key] = self.program.looked.get(key, frozenset()) | looked
            self._rounds.note(process, standing.chain(coroutine_of(process.task))[0], foot, known)
            if self._rounds.go_on_for_ever(self.loop.ready):
                self._too_late += self.loop.ready
                self.loop.ready.clear()

    def _leave_out(self, batch: int) -> None:
        """The main task has ended: who became ready with that, after this batch, comes after it in every order."""
        ready, every = self.loop.ready, self.loop.mode == "fifo"
        self._too_late = [process for process, since in ready.items() if every or since > batch]
        for process in self._too_late:
            del ready[process]

    def _ending(self) -> Final:
        if self._failure is not None:
            return Final(self._failure.kind, {"raised": self._failure.message})
        if _done(self.main):
            return Final("terminated", {"result": self._result})
        with Inside(self.loop):
            return Final("deadlock", {"result": "deadlock"}, tuple(map(self._waiting, self.loop.pending())))

    def _waiting(self, task: SeenTask) -> Waiting:
        process = task._process
        frames, _ = standing.chain(coroutine_of(task))
        spot = standing.find_spot(frames)
        guard = standing.waiting_for(task, frames)
        if spinning := self._spinning.get(process):
            guard = f"spins at {spinning.spot}"
        elif polling := self._polling.get(process):
            guard = f"something that nobody changes: polls at {polling.spot}"
        awaited = standing.awaited_future(task)
        others = getattr(awaited, "_children", (awaited,))
        for_whom = [o._process.name.pid for o in others if isinstance(o, SeenTask) and not _done(o)]
        stack: Observed = tuple(standing.stack(frames))
        place = Place(spot.line, 1) if spot else None
        return Waiting(process.name.pid, guard, {"stack": stack}, place, tuple(for_whom), name=process.title)

    def _finish(self) -> None:
        """Cancel what is left, as `asyncio.run` does, and let it come to its end."""
        loop = self.loop
        if self.faults is not None:
            self.faults.end()
        if _done(self.main):
            left = loop.pending()
            for process in self._too_late:
                if process.handle is not None:
                    loop._is_ready(process, process.handle)
            if left or loop.ready or loop._asyncgens:
                with Inside(loop):
                    self._cancel(left)
                    if loop._asyncgens:
                        loop.call_soon(loop.create_task, loop.shutdown_asyncgens())
                        self._drain()
        problems = [_unretrieved(task) for task in loop.tasks if task._log_traceback]
        for task in loop.tasks:
            task._log_traceback = False
        self.unretrieved = (*loop.problems, *problems)
        self.close()

    def _cancel(self, tasks: Sequence[SeenTask]) -> None:
        for task in tasks:
            task.cancel()
        for process in list(self._spinning):
            self._let_go(process)
        self._drain()

    def _drain(self) -> None:
        loop = self.loop
        for _ in range(_MOST_AT_THE_END):
            if loop.ready:
                loop.run(next(iter(loop.ready)))
                loop.settle()
            elif loop.can_advance() and loop.pending():
                loop.advance()
            else:
                break

    def close(self) -> None:
        if not self.loop._closed:
            with Inside(self.loop):
                self.loop.discard()

    def __del__(self) -> None:
        loop = getattr(self, "loop", None)
        if loop is not None:
            self.close()


def observed(value: object, shows: Shows = lambda value, in_order: None) -> Observed:
    """A value as reports show it. Equal dicts look alike; what has a text of its own may show an order of keys."""
    text = standing.sorted_text(value)
    shows(value, text is None)
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, tuple | list) and all(isinstance(item, bool | int | str) for item in value):
        return tuple(value)
    return standing.plain(value) if text is None else text


def _unretrieved(task: Any) -> str:
    process, problem = task._process, task._exception
    return f"{process.title} ({process.name.text}): {standing.describe_problem(problem)}"


def kind_of_problem(problem: BaseException) -> FailureKind:
    """Did an assertion fail?"""
    asserts = any(isinstance(leaf, AssertionError) for leaf in standing.leaves(problem))
    return "assertion" if asserts else "error"


def _place(problem: BaseException) -> Place | None:
    """The line of the program that raised: the innermost one."""
    trace, line = problem.__traceback__, 0
    while trace is not None:
        line = trace.tb_lineno
        trace = trace.tb_next
    return Place(line, 1) if line else None
