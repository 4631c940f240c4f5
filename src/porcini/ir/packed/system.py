"""Running packed programs.

    present     the processes of a state
    steps       what each process can do, one edge at a time, and the state after each step; a process inside
                `atomic` keeps the turn until it is blocked

A rendezvous is a step of the sender with a partner. A failure stops its process for good, and marks the state.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from porcini.core.errors import InputError, InternalError, LimitHit
from porcini.core.events import Failure
from porcini.core.systems import Program as Searched
from porcini.core.systems import Restart
from porcini.ir.expr import Timeout
from porcini.ir.operations import Assert, Receive, Send
from porcini.ir.packed.code import POLLED_RENDEZVOUS, RENDEZVOUS_IN_D_STEP, Coder, Constants, EdgeCode
from porcini.ir.packed.failing import may_fail
from porcini.ir.packed.layout import (
    ASSERTION_FAILED,
    ERROR_FAILED,
    FAILED_AT,
    HOLDER,
    ONE_PROCESS,
    POPULATION,
    POPULATION_AT,
    Channel,
    CheckFailed,
    Layout,
    RunError,
    matches,
)
from porcini.ir.packed.numbers import is_number_blind
from porcini.ir.packed.processes import PointCode, Process, ProcessSet
from porcini.ir.packed.touch import Resources
from porcini.ir.program import MOST_PROCESSES, Program, Variable, nodes_of

LONGEST_D_STEP = 1_000_000
PER_ANSWER = 256
"""A rendezvous has a choice of its own for each slot and edge that may answer (`ir.packed.view`)."""


class PackedStep(NamedTuple):
    """What one process can do, and the state after it; `partner` receives, if it is a rendezvous."""

    process: Process
    code: EdgeCode
    after: int
    partner: Process | None = None
    partner_code: EdgeCode | None = None
    failure: Failure | None = None

    @property
    def last(self) -> tuple[Process, EdgeCode]:
        """The process that acted last, and its edge: in a rendezvous this is the receiver, which may keep the
        turn."""
        if self.partner is not None and self.partner_code is not None:
            return self.partner, self.partner_code
        return self.process, self.code


class PackedSystem:
    """A program with its states; they are whole numbers. What is `wider` has room for all values, and is searched
    instead where bits are not enough that were to be (`Bounds.exact`)."""

    def __init__(
        self, program: Program, inputs: Mapping[Variable, int] | None = None, wider: Searched | None = None
    ) -> None:
        self.program = program
        self._wider = wider
        self.inputs = dict(inputs or {})
        """Shared variables whose initial value differs from that in the program."""
        self.layout = Layout(program)
        self.resources = Resources()
        self.notes: dict[str, None] = {}
        """What a user should know about the runs so far, for example that values were wrapped around."""
        edges = [edge for template in program.templates for edge in template.edges]
        self.uses_timeout = any(isinstance(node, Timeout) for edge in edges for node in nodes_of(edge))
        self.may_fail = may_fail(program, self.layout.declared)
        self.has_atomic = any(edge.atomic for edge in edges)
        self.starts = any(template.starts for template in program.templates)
        self.is_number_blind = is_number_blind(program)
        self._process_sets: dict[int, tuple[int, dict[int, ProcessSet]]] = {}
        self._processes: dict[tuple[object, ...], Process] = {}
        self._templates_mask = 0
        for slot in range(MOST_PROCESSES):
            self._templates_mask |= (1 << self.layout.template_bits) - 1 << self.layout.base(slot)
        s = 0
        for var in program.variables:
            s = self._with_cells(s, var, self.layout.of_var[var], self.inputs.get(var))
        for channel in self.layout.shared_channels:
            channel.wrapped = self.wrapped
        for number in program.initial:
            try:
                s = self.start(s, number, (0,) * len(program.templates[number].parameters))
            except RunError as problem:  # of a process that is there from the start
                kind = program.templates[number]
                raise InputError(
                    f"a variable of {kind.name} has no first value: {problem}", place=kind.place
                ) from None
        self._initial = s

    def initial(self) -> int:
        return self._initial

    # What generated code asks for

    def channel(self, s: int, number: int) -> Channel:
        shared = self.layout.shared_channels
        if 1 <= number <= len(shared):
            return shared[number - 1]
        each = self.layout.channels_each
        if number > len(shared) and each:
            slot, index = divmod(number - len(shared) - 1, each)
            template = self.layout.template_of(s, slot)
            if template >= 0 and index < len(self.program.templates[template].channels):
                channel = self.layout.own_channel(slot, template, index)
                channel.wrapped = self.wrapped
                return channel
        raise RunError(
            "an uninitialised channel is used" if number == 0 else "the channel is gone with its process"
        )

    def start(self, s: int, template: int, args: tuple[int, ...]) -> int:
        slot = (s & POPULATION) >> POPULATION_AT
        if slot >= MOST_PROCESSES:
            raise RunError(f"too many processes: the limit is {MOST_PROCESSES}, as in SPIN")
        base = self.layout.base(slot)
        kind = self.program.templates[template]
        s += ONE_PROCESS + (template + 1 << base) + (kind.entry << base + self.layout.template_bits)
        for var in kind.variables:
            s = self._with_cells(s, var, base + self.layout.of_var[var])
        for index, (var, cell) in enumerate(kind.channel_cells):
            number = self.layout.own_id(slot, index)
            if number > var.bounded.high:
                raise RunError(f"too many channels: the limit is {var.bounded.high}")
            s |= number << base + self.layout.of_var[var] + cell * var.bounded.bits
        for var, value in zip(kind.parameters, args, strict=True):
            s = self._with_value(s, var, base + self.layout.of_var[var], value)
        for var, expr in kind.setup:
            at = base + self.layout.of_var[var]
            coder = Coder(self.layout, template, Constants(slot, self.inputs, self.layout.declared), self, {})
            value = coder.function(expr)(s)
            for cell in range(var.size):
                s = self._with_value(s, var, at + cell * var.bounded.bits, value)
        return s

    def first_value(self, var: Variable) -> int:
        return self.inputs.get(var, var.initial[0])

    def _with_value(self, s: int, var: Variable, at: int, value: int) -> int:
        """A state with a value stored where it has zeros."""
        if not var.bounded.holds(value):
            self.wrapped(f"`{var.title}`")
        return s | (value & (1 << var.bounded.bits) - 1) << at

    @staticmethod
    def _with_cells(s: int, var: Variable, at: int, given: int | None = None) -> int:
        for value in var.initial if given is None else (given,):
            s |= (value & (1 << var.bounded.bits) - 1) << at
            at += var.bounded.bits
        return s

    def stands_at(self, s: int, template: int, pid: int, label: str) -> bool:
        slot = self._find_slot(s, template, pid)
        points = self.program.templates[template].points
        if slot is None:
            return False
        here = self.layout.point_of(s, slot, template)
        return here < len(points) and label in points[here].labels

    def no_progress(self, s: int) -> bool:
        """Is no process at a progress label? In a state in which nothing can move, progress is not required."""
        here = (process.at(s).point for process in self.present(s).members)
        return not any(label.startswith("progress") for point in here for label in point.labels) and bool(
            self.steps(s)
        )

    def enabled(self, s: int, pid: int) -> bool:
        members = self.present(s).members
        return 0 <= pid < len(members) and self._enabled(s, members[pid], quiet=False)

    def _enabled(self, s: int, process: Process, quiet: bool) -> bool:
        """Can a process do something, in SPIN's sense, which does not look for partners?"""
        for code in process.at(s).edges:
            if code.edge.otherwise:
                return True
            try:
                if code.channel is not None and (code.fixed or code.channel(s)).capacity == 0:
                    if isinstance(code.edge.talk, Send):
                        return True
                elif code.ready(s, quiet):
                    return True
            except RunError:
                return True
        return False

    def peek(self, s: int, template: int, pid: int, var: Variable, index: int) -> int:
        slot = self._find_slot(s, template, pid)
        if slot is None:
            return 0
        if not 0 <= index < var.size:
            raise RunError(f"array index {index} is out of range: the array has {var.size} cells")
        return self.read(s, var, index, slot)

    def read(self, s: int, var: Variable, index: int = 0, slot: int | None = None) -> int:
        bounds = var.bounded
        at = self.layout.of_var[var] + index * bounds.bits + (0 if slot is None else self.layout.base(slot))
        return bounds.wrap(s >> at)

    def _find_slot(self, s: int, template: int, pid: int) -> int | None:
        """The slot of a process that an expression refers to; the first of its template if no number is given."""
        if pid >= 0:
            return pid if self.layout.template_of(s, pid) == template else None
        slots = range((s & POPULATION) >> POPULATION_AT)
        return next((slot for slot in slots if self.layout.template_of(s, slot) == template), None)

    def wrapped(self, what: str) -> None:
        self.notes[f"a value did not fit {what} and was wrapped around"] = None

    def outgrown(self, what: str) -> None:
        """A value does not fit bits that were to be enough."""
        if self._wider is None:
            raise InternalError(f"a value does not fit {what}")
        raise Restart(self._wider)

    # The processes of a state

    def present(self, s: int) -> ProcessSet:
        kinds = s & self._templates_mask
        found = self._process_sets.get(kinds)
        if found is None:
            found = self._process_sets[kinds] = self._constants_of(s), {}
        mask, by_constants = found
        key = s & mask
        present = by_constants.get(key)
        if present is None:
            slots = range((s & POPULATION) >> POPULATION_AT)
            present = by_constants[key] = ProcessSet(tuple(self._process(s, slot) for slot in slots))
        return present

    def presence_bits(self, s: int) -> int:
        """The bits that tell `present` who is there, for states with processes of the same kinds as this one."""
        return self._templates_mask | self._constants_of(s)

    def _constants_of(self, s: int) -> int:
        """The bits of the constant parameters of all processes of a state."""
        mask = 0
        for slot in range((s & POPULATION) >> POPULATION_AT):
            kind = self.program.templates[self.layout.template_of(s, slot)]
            for var in self._constant_vars(kind.variables):
                mask |= (1 << var.bounded.bits) - 1 << self.layout.base(slot) + self.layout.of_var[var]
        return mask

    @staticmethod
    def _constant_vars(variables: list[Variable]) -> Iterator[Variable]:
        return (var for var in variables if var.constant and not var.array)

    def _process(self, s: int, slot: int) -> Process:
        number = self.layout.template_of(s, slot)
        values = {
            var: self.read(s, var, 0, slot)
            for var in self._constant_vars(self.program.templates[number].variables)
        }
        channels = {channel.id: channel for channel in self.layout.shared_channels}
        for var, value in values.items():
            if var.bounded.kind == "chan" and value not in channels:
                try:
                    channels[value] = self.channel(s, value)
                except RunError:
                    continue
        kinds = tuple(sorted((number, channel.at) for number, channel in channels.items()))
        key = (slot, number, tuple(values.values()), kinds)
        found = self._processes.get(key)
        if found is None:
            known = self.inputs | values
            found = Process(self.layout, number, slot, known, self, channels, self.resources)
            self._processes[key] = found
        return found

    # Steps

    def steps(self, s: int, quiet: bool = False) -> list[PackedStep]:
        """All steps in a state, choice by choice; `quiet` says that nothing can be done without `timeout`."""
        present = self.present(s)
        holder = s & HOLDER
        if holder:
            found = self.steps_of(s, present, present.members[holder - 1])
            if not found:
                raise InternalError("a process holds the turn and cannot move")
            return found
        found = [step for process in present.members for step in self.steps_of(s, present, process, quiet)]
        if not found and self.uses_timeout and not quiet:
            return self.steps(s, quiet=True)
        return found

    def meetings_of(self, s: int, present: ProcessSet, process: Process, other: Process) -> list[PackedStep]:
        """The rendezvous in which one process sends to another."""
        found: list[PackedStep] = []
        may_run = self.may_run(s, present, process) and process.stopped(s) is None
        for code in process.at(s).edges if may_run else ():
            if isinstance(code.edge.talk, Send) and always_meets(code):
                try:
                    found += self._meetings(s, present, process, code, (other,))
                except RunError:
                    continue  # `steps_of` reports it
        return found

    def steps_of(
        self, s: int, present: ProcessSet, process: Process, quiet: bool = False, meetings: bool = True
    ) -> list[PackedStep]:
        """The steps of one process. Receiving by a rendezvous is part of the sender's step."""
        if not self.may_run(s, present, process, quiet):
            return []
        problem = process.stopped(s)
        if problem is not None:
            return [self._fail(s, process, code, problem) for code in process.at(s).edges[:1]]
        found: list[PackedStep] = []
        for edges in process.at(s).ranks:
            found = self._steps_of_rank(s, present, process, edges, quiet, meetings)
            if found:
                break
        return found

    def may_run(self, s: int, present: ProcessSet, process: Process, quiet: bool = False) -> bool:
        """Is a process allowed to move, by its `provided` condition and by priorities?"""
        if not process.may_run(s):
            return False
        if self.program.priorities is None:
            return True
        own = self._priority(s, process)
        return not any(
            self._priority(s, other) > own and other.may_run(s) and self._enabled(s, other, quiet)
            for other in present.members
        )

    def _priority(self, s: int, process: Process) -> int:
        assert self.program.priorities is not None
        return self.read(s, self.program.priorities, process.slot)

    def _steps_of_rank(
        self,
        s: int,
        present: ProcessSet,
        process: Process,
        edges: tuple[EdgeCode, ...],
        quiet: bool,
        meetings: bool,
    ) -> list[PackedStep]:
        """The steps of one process by edges of one rank. An `else` is possible if no other edge of its family
        is."""
        found: list[PackedStep] = []
        able: set[int] = set()
        waiting: list[EdgeCode] = []
        for code in edges:
            if code.edge.otherwise:
                waiting.append(code)
                continue
            if not meetings and always_meets(code):
                found += self._broken(s, process, code)
                continue
            made = self._steps_by(s, present, process, code, quiet)
            if made:
                able.update(code.edge.families)
                found += made
        for code in sorted(waiting, key=lambda code: -len(code.edge.families)):  # the innermost first
            if code.edge.families[-1] not in able:
                found += self._steps_by(s, present, process, code, quiet)
                able.update(code.edge.families)
        if waiting and found:
            found.sort(key=lambda step: step.code.edge.choice)
        return found

    def _steps_by(
        self, s: int, present: ProcessSet, process: Process, code: EdgeCode, quiet: bool
    ) -> list[PackedStep]:
        try:
            if code.channel is not None and (code.fixed or code.channel(s)).capacity == 0:
                return self._meetings(s, present, process, code, present.members)
            if not code.ready(s, quiet):
                return []
            after = code.apply(s)
        except (RunError, CheckFailed) as problem:
            return [self._fail(s, process, code, problem)]
        return [self._settle(present, PackedStep(process, code, after))]

    def _broken(self, s: int, process: Process, code: EdgeCode) -> list[PackedStep]:
        """The step of a rendezvous that fails without a partner: by an index, a division, or inside a `d_step`."""
        if isinstance(code.edge.talk, Send) and code.edge.talk.in_d_step:
            return [self._fail(s, process, code, RunError(RENDEZVOUS_IN_D_STEP))]
        if code.channel is not None and code.values is not None:
            try:
                code.channel(s)
                code.values(s)
            except RunError as problem:
                return [self._fail(s, process, code, problem)]
        return []

    def _partners(
        self, s: int, others: Sequence[Process], process: Process, code: EdgeCode
    ) -> list[tuple[Process, EdgeCode]]:
        """The processes that could receive what a process sends by a rendezvous, each with its edge."""
        if not isinstance(code.edge.talk, Send):
            return []
        assert code.channel is not None and code.values is not None
        channel, values = code.channel(s), code.values(s)
        found: list[tuple[Process, EdgeCode]] = []
        for other in others:
            if other is process or not other.may_run(s) or other.stopped(s) is not None:
                continue
            for edges in other.at(s).ranks:
                answers = [answer for answer in edges if answers_with(s, answer, channel, values)]
                if answers:
                    found += [(other, answer) for answer in answers]
                    break
        return found

    def _meetings(
        self, s: int, present: ProcessSet, process: Process, code: EdgeCode, others: Sequence[Process]
    ) -> list[PackedStep]:
        """The rendezvous that a sender can have: one step for each process that could receive."""
        if isinstance(code.edge.talk, Send) and code.edge.talk.in_d_step:
            return [self._fail(s, process, code, RunError(RENDEZVOUS_IN_D_STEP))]
        found: list[PackedStep] = []
        for other, answer in self._partners(s, others, process, code):
            assert code.accept is not None and code.values is not None and answer.accept is not None
            values = code.values(s)
            try:
                if isinstance(answer.edge.talk, Receive) and answer.edge.talk.keep:
                    raise RunError(POLLED_RENDEZVOUS)
                after = answer.accept(code.accept(s, values), values)
            except (RunError, CheckFailed) as problem:
                step = self._fail(s, other, answer, problem)
                found.append(step._replace(process=process, code=code, partner=other, partner_code=answer))
            else:
                found.append(self._settle(present, PackedStep(process, code, after, other, answer)))
        return found

    def _fail(self, s: int, process: Process, code: EdgeCode, problem: Exception) -> PackedStep:
        is_error = isinstance(problem, RunError)
        point = process.failed_error if is_error else process.failed_assertion
        mark = ERROR_FAILED if is_error else ASSERTION_FAILED
        after = process.move_to(s, point) & ~HOLDER | mark << FAILED_AT
        failure = Failure("error", str(problem), code.edge.place)
        if isinstance(problem, CheckFailed):
            check = code.edge.block[problem.args[0]]
            assert isinstance(check, Assert)
            failure = Failure("assertion", f"assertion `{check.text}` failed", check.place)
        return PackedStep(process, code, after, failure=failure)

    def _settle(self, present: ProcessSet, step: PackedStep) -> PackedStep:
        """A step with what follows at once: the rest of a `d_step`, and who holds the turn."""
        after = step.after & ~HOLDER
        mover, code = step.last
        if code.edge.d_step:
            ended = self._rest_of_d_step(after, step)
            if isinstance(ended, PackedStep):
                return ended
            after, code = ended
        if code.edge.atomic:
            later = self.present(after) if self.starts else present
            if self._can_move(after, later, mover):
                after |= mover.slot + 1
        return step._replace(after=after)

    def _can_move(self, s: int, present: ProcessSet, process: Process) -> bool:
        if not self.may_run(s, present, process):
            return False
        return any(code.edge.otherwise or self.can_take(s, present, process, code) for code in process.at(s).edges)

    def can_take(self, s: int, present: ProcessSet, process: Process, code: EdgeCode) -> bool:
        """Is an edge enabled, without regard to its rivals? An edge that would fail counts as enabled."""
        try:
            if code.channel is not None and (code.fixed or code.channel(s)).capacity == 0:
                return bool(self._partners(s, present.members, process, code))
            return code.ready(s, False)
        except RunError:
            return True

    def _rest_of_d_step(self, s: int, step: PackedStep) -> PackedStep | tuple[int, EdgeCode]:
        """Run a `d_step` to its end: take the first edge that is ready, repeatedly."""
        process, first = step.last
        for _ in range(LONGEST_D_STEP):
            code: EdgeCode | None = None
            try:
                code = self._first_ready(s, process.at(s))
                if code is None:
                    failed = self._fail(s, process, first, RunError("blocked inside d_step"))
                    blocked = Failure("error", "blocked inside d_step", process.at(s).point.place)
                    return step._replace(after=failed.after, failure=blocked)
                s = code.apply(s)
            except (RunError, CheckFailed) as problem:
                failed = self._fail(s, process, code or first, problem)
                return step._replace(after=failed.after, failure=failed.failure)
            if not code.edge.d_step:
                return s, code
        raise LimitHit(f"the limit of {LONGEST_D_STEP:,} statements in one d_step")

    @staticmethod
    def _first_ready(s: int, here: PointCode) -> EdgeCode | None:
        edges = here.ranks[-1]  # nothing has precedence over a `d_step` once it has begun
        ready = (code for code in edges if not code.edge.otherwise and code.ready(s, False))
        otherwise = (code for code in edges if code.edge.otherwise)
        return next(ready, None) or next(otherwise, None)


def answers_with(s: int, code: EdgeCode, channel: Channel, values: tuple[int, ...]) -> bool:
    """Would an edge receive these values by a rendezvous?"""
    if not isinstance(code.edge.talk, Receive):
        return False
    assert code.channel is not None and code.wanted is not None
    return code.channel(s).id == channel.id and matches(values, code.wanted(s))


def rendezvous(code: EdgeCode) -> bool:
    """May an edge be one half of a rendezvous?"""
    if not isinstance(code.edge.talk, Send | Receive):
        return False
    return code.among is None or any(channel.capacity == 0 for channel in code.among)


def always_meets(code: EdgeCode) -> bool:
    """Is an edge one half of a rendezvous, for every channel that it may use?"""
    return code.among is not None and all(channel.capacity == 0 for channel in code.among)
