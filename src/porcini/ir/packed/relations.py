"""The transitions of the processes of a state, and the relations between them.

A transition is an edge of a process, or the two edges of a rendezvous, with all that follows while the turn is
held; those who are met on the way are moved by it, too. It is enabled when each of the processes that begin it
stands at the right point and all of its guards are true. For processes that may still be started there is one
transition for each template, which stands for anything that they might do; and one for each edge by which an
existing process may meet them.

    conflicts   the transitions that do not accord with one, and may be enabled at the same time
    enablers    for a guard that is false: it stays false until one of these is taken (a necessary enabling set)

Sets of transitions are whole numbers, a bit for each. The relations are computed when they are first needed.
"""

from __future__ import annotations

from collections.abc import Mapping

from porcini.core.bits import bits
from porcini.ir.expr import TRUE
from porcini.ir.operations import Receive, Send
from porcini.ir.packed.code import EdgeCode
from porcini.ir.packed.guards import Guards
from porcini.ir.packed.later import Later, any_of, may_talk
from porcini.ir.packed.numbers import reachable
from porcini.ir.packed.processes import PointCode, Process, ProcessSet
from porcini.ir.packed.space import MacroMove, may_meet
from porcini.ir.packed.system import PackedSystem, always_meets, rendezvous
from porcini.ir.packed.touch import NOTHING, POPULATION_OF_ALL, Touch
from porcini.ir.packed.transitions import ANYTHING, Course, Guard, Transition, disturbs, may_meet_started
from porcini.ir.program import rivals


class Relations:
    """All transitions of one set of processes."""

    def __init__(self, system: PackedSystem, present: ProcessSet, visible: int = 0) -> None:
        self.system, self.present = system, present
        self.all: list[Transition] = []
        self.at: dict[tuple[int, int], int] = {}
        """By slot and point: the transitions of a process that stands there."""
        self._by_edges: dict[tuple[EdgeCode, EdgeCode | None], int] = {}
        self._guards = Guards(system, present)
        self._laters: list[Later] = []
        self._find_later()
        for process in present.members:
            for point in range(len(process.template.points)):
                self._add_transitions(process, point)
        self.later = len(self.all)
        """From this number on, transitions belong to processes that do not exist yet."""
        for later in self._laters:
            number = len(self.all)
            ends = {process.slot: points for process, points in later.ends.items()}
            made = Transition(number, (), (), later.touch, (), ends, starts=later.starts, template=later.number)
            made.meets = later.meets
            self.all.append(made)
            self._may_be_moved(later.met, number)
            self._watch_partners_of_later(made, later)
        self._reach = [reachable(template) for template in system.program.templates]
        self._leading: dict[tuple[int, int, int], int] = {}
        self._futures: dict[tuple[int, int], int] = {}
        self._alone: dict[tuple[int, int], int] = {}
        self._own: dict[int, int] = {}
        self._starters: dict[int, int] = {}
        self._movers: dict[int, frozenset[int]] = {}
        self.points = 0
        """The bits of a state that hold the points of all processes."""
        for process in present.members:
            self.points |= process.toucher.point
        self._blind = _forgets_numbers(system, visible)
        self._unordered = POPULATION_OF_ALL if self._blind else 0
        for named in system.program.unordered:
            if isinstance(named, int):
                self._unordered |= system.resources("tail", named) | system.resources("head", named)
            else:
                self._unordered |= system.resources.cells(named, -1, None)
        self.visible = 0
        for transition in self.all:
            if visible and transition.touch.may_wake(visible):
                self.visible |= 1 << transition.number

    # Building the transitions

    def _add_transitions(self, process: Process, point: int) -> None:
        if not self._can_stand(process, point):
            return
        here = process.point(point)
        for number, code in enumerate(here.edges):
            if rendezvous(code):
                self._later_meetings(process, point, number)
                if isinstance(code.edge.talk, Send):
                    self._meetings(process, point, number)
                if always_meets(code):
                    continue
            run = self._follow(here.touches[number], process, code)
            made = self._add(((process, point),), (code,), run, self._guards.of(process, code, here))
            self._by_edges[code, None] = made.number
            self._watch_partners(made, process, code, here)

    def _can_stand(self, process: Process, point: int) -> bool:
        """May a process stand at a point between steps? Inside an atomic sequence it stands only where it may be
        blocked."""
        template = process.template
        if template.provided is not TRUE:
            return True
        into = [edge for spot in template.points for edge in spot.edges if edge.target == point]
        if point == template.entry or not into or not all(edge.atomic or edge.d_step for edge in into):
            return True
        if all(edge.d_step for edge in into):
            return False
        edges = template.points[point].edges
        return not any(edge.otherwise or (edge.talk is None and not edge.guards) for edge in edges)

    def _meetings(self, process: Process, point: int, number: int) -> None:
        code = process.point(point).edges[number]
        run = self._follow(process.point(point).touches[number], process, code)
        for other in self.present.members:
            if other is process:
                continue
            for there in range(len(other.template.points)):
                spot = other.point(there)
                for answer, touched in zip(spot.edges, spot.touches, strict=True):
                    if isinstance(answer.edge.talk, Receive) and may_meet(code, answer):
                        both = run.join(self._follow(touched, other, answer))
                        guards = self._guards.of_meeting(process, code, process.point(point), other, answer, spot)
                        made = self._add(((process, point), (other, there)), (code, answer), both, guards)
                        self._by_edges[code, answer] = made.number
                        self._watch_partners(made, process, code, process.point(point))

    def _later_meetings(self, process: Process, point: int, number: int) -> None:
        """One half of a rendezvous whose other process does not exist yet: it waits for that process to be
        started."""
        here = process.point(point)
        for later in self._laters:
            if later.may_meet(here.edges[number]):
                run = self._follow(here.touches[number], process, here.edges[number])
                run.meet(later)
                guard = Guard(0, lambda s: False, 0, template=later.number)
                self._add(((process, point),), (here.edges[number],), run, (guard,))

    def _watch_partners(self, made: Transition, process: Process, code: EdgeCode, here: PointCode) -> None:
        """When another process reaches a point where it would answer a rendezvous, it disables an `else` beside
        that rendezvous, and edges with a higher rank."""
        others = rivals(code.edge, [rival.edge for rival in here.edges])
        sends = [c for c in here.edges if c.edge in others and isinstance(c.edge.talk, Send) and rendezvous(c)]
        for other in self.present.members if sends else ():
            if other is process:
                continue
            for there in range(len(other.template.points)):
                answers = [c for c in other.point(there).edges if isinstance(c.edge.talk, Receive)]
                if any(may_meet(sent, answer) for sent in sends for answer in answers):
                    made.answers[other.slot] = made.answers.get(other.slot, 0) | 1 << there
        made.later_answers = frozenset(
            later.number for later in self._laters if any(later.may_meet(sent) for sent in sends)
        )

    def _watch_partners_of_later(self, made: Transition, later: Later) -> None:
        """The same for a process that does not exist yet."""
        for talk in later.sends_beside_others():
            channels = later.toucher.among(talk.channel)
            for other in self.present.members:
                for there in range(len(other.template.points)):
                    answers = (c for c in other.point(there).edges if isinstance(c.edge.talk, Receive))
                    if any(may_talk(channels, answer.among) for answer in answers):
                        made.answers[other.slot] = made.answers.get(other.slot, 0) | 1 << there
            made.later_answers |= {
                other.number
                for other in self._laters
                if any(may_talk(channels, other.toucher.among(each.channel)) for each in other.receives())
            }

    def _add(
        self,
        stands: tuple[tuple[Process, int], ...],
        codes: tuple[EdgeCode, ...],
        run: Course,
        guards: tuple[Guard, ...],
    ) -> Transition:
        ends = {mover.slot: points for mover, points in run.ends.items()}
        made = Transition(len(self.all), stands, codes, run.touch, guards, ends, run.stores, frozenset(run.starts))
        made.meets = frozenset(run.meets)
        made.forward = _leads_forward(stands, run)
        self.all.append(made)
        self._may_be_moved(run.met, made.number)
        for mover, point in stands:
            self.at[mover.slot, point] = self.at.get((mover.slot, point), 0) | 1 << made.number
        return made

    def _may_be_moved(self, met: Mapping[Process, int], number: int) -> None:
        """Processes that stand at some points may be met by a transition on its way: it is one of theirs, too."""
        for process, points in met.items():
            for point in bits(points):
                self.at[process.slot, point] = self.at.get((process.slot, point), 0) | 1 << number

    def _follow(self, touch: Touch, process: Process, code: EdgeCode) -> Course:
        """What an edge does, with all that may come after it while the turn is held.

        `left` holds the points at which a process may stand with the turn. Each edge from there may follow; if it
        sends by a rendezvous, so may every receive that can answer, after which the receiver may have the turn.
        """
        run = Course(touch)
        seen: set[tuple[Process, int]] = set()
        left: list[tuple[Process, int]] = []

        def go_on(mover: Process, taken: EdgeCode) -> None:
            if taken.edge.atomic or taken.edge.d_step:
                pair = mover, taken.edge.target
                if pair not in seen:
                    seen.add(pair)
                    left.append(pair)

        run.take(process, code)
        go_on(process, code)
        while left:
            mover, point = left.pop()
            here = mover.point(point)
            run.touch |= here.touch
            for edge in here.edges:
                run.take(mover, edge)
                go_on(mover, edge)
                run.touch |= _tested(mover, edge)
                if rendezvous(edge) and isinstance(edge.edge.talk, Send):
                    for later in self._laters:
                        if later.may_meet(edge):  # it may be started meanwhile
                            run.meet(later)
                    for other in self.present.members:
                        for there in range(len(other.template.points) if other is not mover else 0):
                            spot = other.point(there)
                            for answer, touched in zip(spot.edges, spot.touches, strict=True):
                                if isinstance(answer.edge.talk, Receive) and may_meet(edge, answer):
                                    run.touch |= touched
                                    run.take_answer(other, there, answer)
                                    go_on(other, answer)
        return run

    def _find_later(self) -> None:
        """The templates of which processes may still be started, and all that these might do."""
        templates = self.system.program.templates
        left = [number for process in self.present.members for number in process.template.starts]
        while left:
            number = left.pop()
            if all(later.number != number for later in self._laters):
                self._laters.append(any_of(self.system, number))
                left += templates[number].starts
        before: list[tuple[object, ...]] = []
        while before != (now := [later.known for later in self._laters]):
            before = now
            for later in self._laters:
                self._add_met(later)

    def _add_met(self, later: Later) -> None:
        """Add the steps of other processes that it meets while it holds the turn: they are part of its step."""
        for edge in later.met_while_holding():
            assert edge.talk is not None
            channels = later.toucher.among(edge.talk.channel)
            met = Course(later.touch)
            for other in self._laters:
                if any(may_talk(channels, other.toucher.among(talk.channel)) for talk in other.answers(edge)):
                    met.meet(other)
            for process in self.present.members:
                for point in range(len(process.template.points)):
                    here = process.point(point)
                    for code, touch in zip(here.edges, here.touches, strict=True):
                        if isinstance(code.edge.talk, Receive) and may_talk(channels, code.among):
                            met = met.join(self._follow(touch, process, code))
                            met.take_answer(process, point, code)
            later.touch = Touch(0, met.touch.reads, met.touch.writes, met.touch.effects, met.touch.wide)
            later.starts |= met.starts
            later.meets |= met.meets
            later.ends |= {process: later.ends.get(process, 0) | points for process, points in met.ends.items()}
            later.met |= {process: later.met.get(process, 0) | points for process, points in met.met.items()}

    # The relations

    def number(self, move: MacroMove) -> int | None:
        """The number of the transition that a move takes; None if it is an error on the way to one."""
        return self._by_edges.get((move.code, move.partner_code))

    def movers(self, numbers: int) -> frozenset[int]:
        """The slots of all processes that take part in some transitions."""
        found = self._movers.get(numbers)
        if found is None:
            found = frozenset(process.slot for number in bits(numbers) for process, _ in self.all[number].stands)
            self._movers[numbers] = found
        return found

    def future(self, process: Process, here: int) -> int:
        """All transitions that a process may still take part in, with those of processes that it may start."""
        key = process.slot, here
        known = self._futures.get(key)
        if known is None:
            known = 0
            for point in bits(self._reach[process.number][here] if here < len(process.template.points) else 0):
                known |= self.at.get((process.slot, point), 0)
            left = {template for number in bits(known) for template in self.all[number].starts}
            while left:
                template = left.pop()
                for later in self.all[self.later :]:
                    if later.template == template and not known >> later.number & 1:
                        known |= 1 << later.number
                        left |= later.starts
            self._futures[key] = known
        return known

    def conflicts(self, number: int) -> int:
        """The transitions that do not accord with a given one."""
        one = self.all[number]
        if one.conflicts is None:
            found = 0
            for other in self.all:
                if other is not one and not self.accord(one, other):
                    found |= 1 << other.number
            one.conflicts = found
        return one.conflicts

    def accord(self, one: Transition, other: Transition) -> bool:
        if disturbs(one, other) or disturbs(other, one):
            return False
        if may_meet_started(one, other) or may_meet_started(other, one):
            return False
        shared = False
        for process, point in one.stands:
            for same, there in other.stands:
                if same is process:
                    if there != point:
                        return True  # they are never enabled at the same time
                    shared = True
        if not shared and self._declared(one, other):
            return True
        return one.touch.accords(other.touch, self._unordered)

    def _declared(self, one: Transition, other: Transition) -> bool:
        """Does the model declare that these two are independent?"""
        strangers = self.system.program.strangers
        return bool(strangers and one.stands and other.stands) and all(
            (p.number, q.number) in strangers or (q.number, p.number) in strangers
            for p, _ in one.stands
            for q, _ in other.stands
        )

    def enablers(self, guard: Guard) -> int:
        """The transitions that may make a guard true."""
        if guard.template is not None:
            return self.starters(guard.template)
        if guard.enablers is None:
            found = 0
            wakes = guard.wakes & ~POPULATION_OF_ALL if self._blind else guard.wakes
            for other in self.all:
                if guard.wakes == ANYTHING or other.touch.may_wake(wakes):
                    values = other.stores.get(guard.cell)
                    if guard.test is None or not values or any(map(guard.test, values)):
                        found |= 1 << other.number
            guard.enablers = found
        return guard.enablers

    def starters(self, template: int) -> int:
        """The transitions that may start a process of a template."""
        known = self._starters.get(template)
        if known is None:
            known = 0
            for other in self.all:
                if template in other.starts:
                    known |= 1 << other.number
            self._starters[template] = known
        return known

    def own(self, process: Process) -> int:
        """The transitions of one process alone, wherever it stands."""
        known = self._own.get(process.slot)
        if known is None:
            known = 0
            for transition in self.all:
                if len(transition.stands) == 1 and transition.stands[0][0] is process:
                    known |= 1 << transition.number
            self._own[process.slot] = known
        return known

    def local_transitions(self, process: Process, here: int) -> int:
        """All transitions of a process at a point, if they are independent of all other processes; otherwise 0."""
        key = process.slot, here
        known = self._alone.get(key)
        if known is None:
            known = now = self.at.get(key, 0)
            own = self.own(process)
            for number in bits(now):
                touched = self.conflicts(number)
                for guard in self.all[number].guards:
                    touched |= self.enablers(guard)
                if touched & ~own or len(self.all[number].stands) > 1 or now & self.visible:
                    known = 0
            self._alone[key] = known
        return known

    def entering(self, process: Process, there: int) -> int:
        """The transitions after which a process may stand at a point."""
        key = process.slot, -1, there
        known = self._leading.get(key)
        if known is None:
            known = 0
            for transition in self.all:
                if transition.ends.get(process.slot, 0) >> there & 1:
                    known |= 1 << transition.number
            self._leading[key] = known
        return known

    def leading(self, process: Process, here: int, there: int) -> int:
        """The transitions of a process at one point after which another point can still be reached."""
        key = process.slot, here, there
        known = self._leading.get(key)
        if known is None:
            known = 0
            reach = self._reach[process.number]
            for number in bits(self.at.get((process.slot, here), 0)):
                if any(reach[end] >> there & 1 for end in bits(self.all[number].ends.get(process.slot, 0))):
                    known |= 1 << number
            self._leading[key] = known
        return known


def _forgets_numbers(system: PackedSystem, visible: int) -> bool:
    """Do neither the program nor what should be seen ask for the numbers of processes (`ir.packed.numbers`)?"""
    return system.is_number_blind and not visible & POPULATION_OF_ALL


def _leads_forward(stands: tuple[tuple[Process, int], ...], run: Course) -> bool:
    """Does a transition take all processes that it moves, and no others, to points with larger numbers? On a cycle
    of states the sum of these numbers comes back to what it was: some transition on it does not."""
    if run.starts or run.exits or set(run.ends) != {process for process, _ in stands}:
        return False
    return all(not run.ends[process] & (1 << point + 1) - 1 for process, point in stands)


def _tested(process: Process, code: EdgeCode) -> Touch:
    """What an edge reads of its channel when it is tried later in the same step. Sending and receiving accord
    where both are possible; but whether this one is possible by then may depend on what others do at the other
    end."""
    return NOTHING if code.edge.talk is None else process.toucher.tested(code.edge.talk.channel)
