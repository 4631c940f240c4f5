"""A judge for Promela: an interpreter of its trees, with SPIN's semantics, as a `Machine` of the oracle.

What is like SPIN and not obvious:

    atomic       who is inside of one moves alone until it has to wait; then all may move, and it goes on alone
                 as soon as it moves again
    rendezvous   a step of two processes. The sender does not go on alone; a receiver in an atomic block does
    `else`       can be executed if nothing else of its `if` or `do` can; a receive by rendezvous does not count,
                 because nobody can execute it alone
    the end      a process at its end dies when it is the youngest; only `_nr_pr` and numbers of processes tell

What is like Porcini (docs/design.md, "What is counted"): a process whose assertion fails, or that makes an error,
stops where it is, and is counted by `_nr_pr` for ever; the others run on. An error outweighs a failed assertion.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import NamedTuple

from conformance.oracle import Outcome, Step
from conformance.promela.graph import END, STOPPED, Acceptance, Offer, Template, Transition
from conformance.promela.tree import Model, Name, Run, Variable, nodes
from conformance.promela.values import (
    Frame,
    Message,
    Operation,
    Stopped,
    constant_values,
    initial_values,
    layout,
)

KINDS = ("terminated", "assertion", "error")


class Process(NamedTuple):
    template: str
    at: int
    values: tuple[int, ...]


class State(NamedTuple):
    shared: tuple[int, ...]
    queues: tuple[tuple[Message, ...], ...]
    processes: tuple[Process, ...]
    holder: int = -1
    """who is inside of an atomic block, and moves alone"""
    failure: int = 0
    """which of `KINDS`"""


class Judge:
    """A model as a `Machine`. A process is named by its number."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self._templates = {p.name: Template(model, p) for p in model.proctypes}
        self._constants = {number: name for name, number in constant_values(model).items()}
        names = {node.name for node in nodes(model) if isinstance(node, Name)}
        runs = [node for node in nodes(model) if isinstance(node, Run)]
        numbers_matter = bool(runs) and ("_pid" in names or any(run.into for run in runs))
        self._deaths_matter = "_nr_pr" in names or numbers_matter
        self._timeouts = "timeout" in names

    def initial(self) -> State:
        queues = tuple(() for channel in self._model.channels for _ in range(channel.size or 1))
        processes = tuple(self._started(p.name, ()) for p in self._model.proctypes for _ in range(p.active))
        return State(initial_values(self._model.variables), queues, processes)

    def steps(self, state: State) -> list[Step]:
        moves = self._moves_alone(state) or self._moves(state, idle=False)
        return moves or (self._moves(state, idle=True) if self._timeouts else [])

    def outcome(self, state: State) -> Outcome:
        waiting = any(p.at not in self._templates[p.template].ends for p in state.processes)
        kind = "deadlock" if waiting and not state.failure else KINDS[state.failure]
        return kind, tuple(sorted(self._observed(state).items()))

    def _observed(self, state: State) -> dict[str, object]:
        """Shared variables and the contents of channels, as Porcini writes them."""
        found: dict[str, object] = {}
        for name, (base, variable) in layout(self._model.variables).items():
            shown = [
                self._shown(variable.type, value) for value in state.shared[base : base + (variable.size or 1)]
            ]
            found[name] = shown[0] if variable.size is None else tuple(shown)
        for name, (base, channel) in layout(self._model.channels).items():
            for index in range(channel.size or 1) if channel.capacity else ():
                messages = [
                    tuple(map(self._shown, channel.types, message)) for message in state.queues[base + index]
                ]
                flat = [message[0] if len(message) == 1 else message for message in messages]
                found[name if channel.size is None else f"{name}[{index}]"] = tuple(flat)
        return found

    def _shown(self, type_: str, value: int) -> object:
        return self._constants.get(value, value) if type_ == "mtype" else value

    def _started(self, name: str, given: Message) -> Process:
        template = self._templates[name]
        missing: tuple[Variable, ...] = template.parameters[len(given) :]
        return Process(name, template.start, given + initial_values(missing + template.variables))

    def _moves_alone(self, state: State) -> list[Step]:
        return [] if state.holder < 0 else list(self._moves_of(state, state.holder, idle=False))

    def _moves(self, state: State, idle: bool) -> list[Step]:
        return [step for pid in range(len(state.processes)) for step in self._moves_of(state, pid, idle)]

    def _moves_of(self, state: State, pid: int, idle: bool) -> Iterator[Step]:
        process = state.processes[pid]
        if process.at >= 0:
            for choice, transition in enumerate(self._templates[process.template].places[process.at]):
                for after in self._taken(state, pid, transition, idle):
                    yield Step((pid,), after, choice=choice)
        elif process.at == END and self._deaths_matter and pid == len(state.processes) - 1:
            yield Step((pid,), state._replace(processes=state.processes[:-1], holder=-1))

    def _taken(self, state: State, pid: int, transition: Transition, idle: bool) -> Iterator[State]:
        """The states after a transition: none if it has to wait, several if several can receive."""
        if any(True for other in transition.unless for _ in self._taken(state, pid, other, idle)):
            return
        frame = _frame(state, pid, idle)
        match transition.does:
            case Operation() as does:
                if _ready(does, frame):
                    yield self._done(state, frame, transition, does.checked)
            case Offer(channel, message):
                yield from self._met(state, pid, transition, channel(frame), message(frame))

    def _done(self, state: State, frame: Frame, transition: Transition, does: Callable[[Frame], object]) -> State:
        """The state after a step, or after one in which its process fails."""
        try:
            does(frame)
        except Stopped as stopped:
            failure = max(state.failure, KINDS.index(str(stopped)))
            return self._after(state, frame, None)._replace(failure=failure)
        return self._after(state, frame, transition)

    def _after(self, state: State, frame: Frame, transition: Transition | None) -> State:
        """The state after a step of one process; without a transition it has stopped."""
        target = transition.target if transition else STOPPED
        holder = frame.pid if transition and transition.holds else -1
        processes = list(state.processes)
        processes[frame.pid] = Process(processes[frame.pid].template, target, tuple(frame.values))
        processes += [self._started(name, given) for name, given in frame.started]
        return State(tuple(frame.shared), tuple(frame.queues), tuple(processes), holder, state.failure)

    def _met(
        self, state: State, sender: int, sends: Transition, channel: int, message: Message
    ) -> Iterator[State]:
        moved = _moved(state, sender, sends.target)
        for pid, process in enumerate(state.processes):
            if pid == sender or process.at < 0:
                continue
            for transition in self._templates[process.template].places[process.at]:
                frame = _frame(moved, pid)
                match transition.does:
                    case Acceptance(wanted, matches, apply) if wanted(frame) == channel:
                        if matches(frame, message):
                            yield self._done(moved, frame, transition, partial(apply, message=message))


def endless(judge: Judge, most: int = 100_000) -> bool:
    """Is there a run that never ends? Then a model is not for `explore`. More than `most` states count as such."""
    start = judge.initial()
    open_, closed = {start}, set()
    path = [(start, iter(judge.steps(start)))]
    while path:
        state, steps = path[-1]
        step = next(steps, None)
        if step is None:
            path.pop()
            open_.remove(state)
            closed.add(state)
        elif step.after in open_ or len(closed) > most:
            return True
        elif step.after not in closed:
            open_.add(step.after)
            path.append((step.after, iter(judge.steps(step.after))))
    return False


def _ready(operation: Operation, frame: Frame) -> bool:
    """A test that cannot be made, such as one of a cell that is not there, is a step: its process stops."""
    try:
        return operation.ready(frame)
    except Stopped:
        return True


def _frame(state: State, pid: int, idle: bool = False) -> Frame:
    values = state.processes[pid].values
    return Frame(list(state.shared), list(state.queues), list(values), pid, len(state.processes), idle)


def _moved(state: State, pid: int, target: int) -> State:
    processes = list(state.processes)
    processes[pid] = processes[pid]._replace(at=target)
    return state._replace(processes=tuple(processes))
