"""P4's algorithm (Alg. 2): back-sets of actors, actor selection by stability, task selection by marks.

     1  Explore(E):
     2    S = last(E)
     3    updateBackSets(E, S)
     4    a = selectActor(S)
     5    if a != none:
     6      back(S) = {a}
     7      done(S) = {}
     8      while some a is in back(S) and not in done(S):
     9        add a to done(S)
    10        for all t in selectTask(a):                   Fig. 6: unmark(a); mark(t, a)
    11          Explore(E.next(S, a.t))

    open_node       at a new state, chooses an actor (line 4) and puts it into the back-set (line 6)
    next_move       takes the actors of the back-set in turn, and of each all enabled tasks (lines 8 to 11); with
                    task selection only those that are not marked (Fig. 6)
    descend         marks the older tasks of the same actor that are independent of the chosen one (Fig. 6), and
                    passes on the queues
    reverse_races   at the end of a run, for each reversal v at an earlier state: unless the actor of an initial of
                    v is in that state's back-set, adds one (`updateBackSets`, line 3)

Where this differs from the paper:

- Back-sets are updated from the reversals that all engines use (`races`), by the rule of source sets. So guards
  and futures are handled: resolving a future counts as posting to those who wait for it. The freeze flags of
  TransDPOR, which keep a second actor out of a back-set while the first has not been tried, are not needed: an
  actor whose run would begin with an actor in the set is not added.
- Without task selection all tasks of an actor are dependent (Def. 1), with it they are if they share a field that
  one of them writes (Theorem 2).
- Actors are scanned in the order in which they ran, the last one first, then by creation; the table needs it.
- Marks are made newest first (erratum 2). A task that was suspended, or reads a future that others may resolve, is
  dependent on everything. A branch in which the chosen actor's tasks are all marked is cut only if nobody else can
  post to that actor, or read the futures of these tasks; otherwise other actors go first.
- A mark on a task means that it need not be taken: it is independent of all that was run since a newer task of its
  actor, and running it before that one has been tried, or will be. Fig. 6 keeps it until the actor runs another
  task. But tasks resolve futures: where another actor has looked at one in between, the task could not have come
  first. So a mark goes when anything is run that the task depends on.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

from porcini.core.events import Action, Event, Move
from porcini.core.execution import Dependence
from porcini.core.pids import Pid
from porcini.core.systems import Program
from porcini.core.traces import Foata
from porcini.engines.catalogue import Engine
from porcini.engines.options import ActorSelection, Options, TaskSelection
from porcini.engines.search import Node, Search
from porcini.engines.stability import Stability, StateView
from porcini.engines.stats import SearchStats
from porcini.engines.wakeup import initials
from porcini.engines.wakeup_sequences import reversals
from porcini.ir.analysis.numbering import FIRST_POINT
from porcini.ir.flat.frames import FrameRun, Process
from porcini.ir.tasks.actors import Actors
from porcini.ir.tasks.events import future
from porcini.ir.tasks.system import StepSystem


@dataclass(slots=True)
class Plan:
    """What Alg. 2 keeps at a state. Queues hold tasks in the order in which they came."""

    order: tuple[Pid, ...]
    queues: dict[Pid, tuple[Pid, ...]]
    marks: dict[Pid, frozenset[Pid]]
    form: Foata
    back: list[Pid] = field(default_factory=list)
    left: list[Move] = field(default_factory=list)
    done: int = 0
    active: int = 0

    @property
    def is_closed(self) -> bool:
        """Will every enabled actor be tried here?"""
        return len(self.back) >= self.active


class ActorDependence(Dependence):
    """Def. 1: tasks of one actor are ordered by when they are selected, whatever they do; the rest of a task that
    was suspended is ordered by what it touches.
    """

    direct = False

    def __init__(self, actors: Actors) -> None:
        super().__init__()
        self.actors = actors

    def conflict(self, a: Event | Action, b: Event | Action) -> bool:
        return self.actors.same_queue(a, b) or super().conflict(a, b)


class TransDpor:
    """The reduction; it uses no sleep sets."""

    sleeps = False

    def __init__(
        self, actors: Actors, selection: ActorSelection, tasks: TaskSelection, stats: SearchStats, seed: int
    ) -> None:
        self.actors = actors
        self.selection = selection
        self.tasks = tasks
        self.stats = stats
        self.random = Random(seed)
        self.stability = Stability(actors, refined=selection == "refined")
        stats.counts.heuristic = 0

    def open_node(self, search: Search, node: Node, enabled: list[Action], plan: Plan | None) -> None:
        if plan is None:
            plan = Plan((), {}, {}, Foata.empty())
            self._enqueue(plan, node, [action.pid for action in node.actions])
        elif search.execution.events:
            event = search.execution.events[-1]
            plan.form = plan.form.extend(event)
            self._dequeue(plan, node, event)
            self._enqueue(plan, node, event.spawned)
        node.plan = plan
        if enabled:
            chosen = self._select(node, enabled, plan)
            if chosen is not None:
                plan.back.append(chosen)

    def _dequeue(self, plan: Plan, node: Node, event: Event) -> None:
        """Remove a task that ended from its queue, and move the actor that ran to the front."""
        slots = self._slots(node)
        actor = self.actors.of_step(event)
        if slots[slots[0].by_pid[event.pid].base] < FIRST_POINT:
            plan.queues[actor] = tuple(pid for pid in plan.queues[actor] if pid != event.pid)
        if plan.order[:1] != (actor,):
            plan.order = (actor, *(other for other in plan.order if other != actor))

    def _enqueue(self, plan: Plan, node: Node, pids: Sequence[Pid]) -> None:
        slots = self._slots(node)
        for pid in pids:
            if self.actors.is_object(slots, pid):
                if self.actors.group_of(slots, pid) == pid:
                    plan.order += (pid,)
                continue
            actor = self.actors.group_of(slots, slots[slots[0].by_pid[pid].base + 2])
            plan.queues[actor] = (*plan.queues.get(actor, ()), pid)

    def _slots(self, node: Node) -> Sequence[Any]:
        assert isinstance(node.run, FrameRun)
        return node.run.slots

    # Choosing an actor

    def _select(self, node: Node, enabled: list[Action], plan: Plan) -> Pid | None:
        """Line 4. None if every enabled task is marked."""
        able = {self.actors.of_step(action): True for action in enabled}
        plan.active = len(able)
        ready = {action.pid for action in enabled}
        active = [actor for actor in plan.order if actor in able] or list(able)
        open_ = [actor for actor in active if self._unmarked(plan, actor, ready)]
        if len(active) == 1:
            return active[0] if open_ else None
        slots = self._slots(node)
        view = self.stability.view(slots, self._unfinished(slots, plan))
        chosen = self._choose(active, view)
        if chosen not in open_:
            by_pid = slots[0].by_pid
            marked = [by_pid[pid] for pid in plan.queues[chosen] if pid in ready]
            if not open_ or view.is_isolated(chosen, marked, self._stuck(node, marked)):
                return None
            chosen = self._choose(open_, view)
        return chosen

    def _stuck(self, node: Node, marked: list[Process]) -> set[Pid]:
        """The tasks that cannot move before one of the marked ones has ended: a task that awaits several futures
        awaits all of them."""
        futures = {future(task.pid) for task in marked}
        return {a.pid for a in node.actions if not a.enabled and not futures.isdisjoint(a.guard_locations)}

    def _choose(self, active: list[Pid], view: StateView) -> Pid:
        if self.selection == "first" or len(active) == 1:
            return active[0]
        if self.selection == "random":
            return self.random.choice(active)
        for actor in active:
            if view.is_stable(actor):
                return actor
        self._note_heuristic()
        return min(active, key=view.level)

    def _note_heuristic(self) -> None:
        assert self.stats.counts.heuristic is not None
        self.stats.counts.heuristic += 1

    def _unfinished(self, slots: Sequence[Any], plan: Plan) -> list[Process]:
        by_pid = slots[0].by_pid
        return [by_pid[pid] for queue in plan.queues.values() for pid in queue]

    def _unmarked(self, plan: Plan, actor: Pid, ready: set[Pid]) -> list[Pid]:
        """The tasks of an actor to be tried, newest first."""
        marked = plan.marks.get(actor, frozenset())
        return [pid for pid in reversed(plan.queues.get(actor, ())) if pid in ready and pid not in marked]

    # Going on

    def next_move(self, search: Search, node: Node) -> Action | None:
        plan: Plan = node.plan
        while not plan.left:
            if plan.done == len(plan.back):
                return None
            actor = plan.back[plan.done]
            plan.done += 1
            ready = {action.pid for action in node.enabled}
            plan.left = [Move(pid) for pid in reversed(self._unmarked(plan, actor, ready))]
        return node.action(plan.left.pop())

    def descend(self, node: Node, event: Event) -> Plan:
        plan: Plan = node.plan
        marks = self._marks(node, event) if self.tasks == "independent" else plan.marks
        return Plan(plan.order, dict(plan.queues), marks, plan.form)

    def _marks(self, node: Node, event: Event) -> dict[Pid, frozenset[Pid]]:
        """The marks after an event: Fig. 6, except that a task loses its mark if it depends on what another actor
        does."""
        plan: Plan = node.plan
        actor = self.actors.of_step(event)
        queue = plan.queues[actor]
        older = queue[: queue.index(event.pid)]
        marks = {other: pids for other, pids in plan.marks.items() if pids and other != actor}
        if not older and not marks:
            return {}
        actions = {action.pid: action for action in node.actions}
        for other, pids in marks.items():
            marks[other] = frozenset(pid for pid in pids if not event.footprint.conflicts(actions[pid].footprint))
        marks[actor] = frozenset(pid for pid in older if self.actors.independent_tasks(event, actions[pid]))
        return marks

    def reverse_races(self, search: Search) -> None:
        closed = [node.plan.is_closed for node in search.nodes]
        if all(closed):
            return
        for reversal in reversals(search, closed=closed):
            plan: Plan = search.nodes[reversal.at].plan
            for step in reversal.steps:
                sequence = [*reversal.between, step]
                starts = [self.actors.of_step(event) for event in initials(sequence, search.dependence)]
                if not any(actor in plan.back for actor in starts):
                    plan.back.append(starts[0])

    def count_pending(self, node: Node) -> int:
        plan: Plan = node.plan
        return len(plan.left) + len(plan.back) - plan.done

    def class_of(self, node: Node) -> Hashable:
        form: Foata = node.plan.form
        return form.key


def transdpor(program: Program, stats: SearchStats, options: Options) -> None:
    """Explore a program of actors. States are counted as in P4's Table 1, without the one before main."""
    assert isinstance(program, StepSystem), "it needs actors"
    actors = Actors(program)
    dependence = ActorDependence(actors) if options.tasks == "all" else Dependence()
    stats.counts.states -= 1
    reduction = TransDpor(actors, options.actors, options.tasks, stats, options.seed)
    stats.selection = options.selection
    Search(program, reduction, stats, dependence).explore()


_COMPARED: tuple[tuple[ActorSelection, TaskSelection], ...] = (
    ("first", "all"),
    ("first", "independent"),
    ("stable", "all"),
    ("stable", "independent"),
)
TRANSDPOR = Engine(
    "back-sets of actors, with actor and task selection",
    transdpor,
    needs=("actors",),
    rank=6,
    takes=frozenset({"actors", "tasks"}),
    selections=tuple(Options(actors=actors, tasks=tasks) for actors, tasks in _COMPARED),
)
