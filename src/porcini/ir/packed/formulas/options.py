"""What a process can do at a point, and when: its options, each a way to take one of its edges.

The options of a point are all that can happen there, including failures: an edge whose guard cannot be evaluated
is an option too. Where several options have the same choice (another channel, another position in it), their
conditions exclude each other. A rendezvous is an option of the sender for each process, point and edge that could
answer. An `else` is an option when no other option of its family is possible.

Conditions do not say that the process stands at the point, nor that it has the turn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from porcini.core.events import Failure
from porcini.ir import expr as ir
from porcini.ir.expr import FALSE, TRUE, binary, conj, const, disj, not_
from porcini.ir.operations import Receive, Send
from porcini.ir.packed.formulas.lines import Line, Lines, Way
from porcini.ir.packed.formulas.operators import Term
from porcini.ir.packed.formulas.terms import Terms
from porcini.ir.packed.formulas.world import TURN, ChannelCells, Instance, World
from porcini.ir.packed.system import PER_ANSWER
from porcini.ir.program import Edge, rivals
from porcini.ir.simplify import simplify


@dataclass(frozen=True, slots=True, eq=False)
class Partner:
    """The process that answers a rendezvous, its point, and its edge."""

    me: Instance
    point: int
    edge: Edge


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """One way to take an edge; `line` is its communication. With `broken` it fails at once."""

    edge: Edge
    choice: int
    when: ir.Expr
    line: Line = ()
    partner: Partner | None = None
    broken: Failure | None = None


@dataclass(frozen=True, slots=True)
class _Receiver:
    """A receive that may be the other half of a rendezvous."""

    partner: Partner
    number: int
    talk: Receive
    here: ir.Expr
    channels: tuple[tuple[ChannelCells, ir.Expr], ...]
    named: ir.Expr
    """The channel has a value."""
    wanted: tuple[Term | None, ...]


class WorldOptions:
    """The options of all processes of a world."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._options: dict[tuple[Instance, int], tuple[Option, ...]] = {}
        self._lines: dict[Instance, Lines] = {}

    def lines(self, me: Instance) -> Lines:
        if me not in self._lines:
            self._lines[me] = Lines(self.world, me, Terms(self.world, me, lambda: self.quiet))
        return self._lines[me]

    def at(self, me: Instance, point: int) -> tuple[Option, ...]:
        """The options of a process at a point; a failed process has none."""
        key = me, point
        if key not in self._options:
            points = self.world.program.templates[me.template].points
            self._options[key] = tuple(self._find_options(me, point)) if point < len(points) else ()
        return self._options[key]

    def can_move(self, me: Instance, point: int) -> ir.Expr:
        """Can a process do anything at a point, including failing, without waiting for a `timeout`?"""
        found = self.patient.at(me, point)
        if any(option.edge.otherwise for option in found):
            return TRUE
        return simplify(disj(*(option.when for option in found)))

    @cached_property
    def patient(self) -> WorldOptions:
        return _Patient(self.world)

    @cached_property
    def quiet(self) -> ir.Expr:
        """`timeout`: nobody can do anything that is not itself a `timeout`."""
        parts = [binary("==", TURN, const(0))]
        for me in self.world.instances():
            for point in range(len(self.world.program.templates[me.template].points)):
                here = self.world.at(me.slot, me.template, point)
                parts.append(not_(conj(here, self.can_move(me, point))))
        return conj(*parts)

    def _find_options(self, me: Instance, point: int) -> Iterator[Option]:
        edges = self.world.program.templates[me.template].points[point].edges
        by_edge: dict[Edge, list[Option]] = {}
        for edge in edges:
            if not edge.otherwise:
                by_edge[edge] = list(self._of_edge(me, edge, len(edges)))
        waiting = sorted((edge for edge in edges if edge.otherwise), key=lambda edge: -len(edge.families))
        for edge in waiting:  # the innermost first
            others = [option.when for rival in rivals(edge, edges) for option in by_edge.get(rival, ())]
            when = simplify(not_(disj(*others)))
            by_edge[edge] = [Option(edge, edge.choice, when)] if when is not FALSE else []
        for edge in edges:
            yield from by_edge[edge]

    def _of_edge(self, me: Instance, edge: Edge, choices: int) -> Iterator[Option]:
        broken, ways = self.ways(me, edge)
        meetings: list[Option] = []
        if isinstance(edge.talk, Send) and not edge.talk.in_d_step:
            more, meetings = self._meetings(me, edge, edge.talk, choices)
            broken = simplify(disj(broken, more))
        unbroken = not_(broken)
        if broken is not FALSE:
            failure = Failure("error", "no value: an index, a division, a shift or a channel", edge.place)
            yield Option(edge, edge.choice, broken, broken=failure)
        for way in ways:
            when = simplify(conj(unbroken, way.when))
            if when is not FALSE:
                yield Option(edge, edge.choice, when, way.line)
        for meeting in meetings:
            when = simplify(conj(unbroken, meeting.when))
            if when is not FALSE:
                yield Option(edge, meeting.choice, when, meeting.line, meeting.partner)

    def ways(self, me: Instance, edge: Edge, *, inside: bool = False) -> tuple[ir.Expr, list[Way]]:
        """The ways to take an edge without a partner; and when it cannot even be tried. Inside a `d_step` a
        receive is tried whatever its channel is."""
        lines = self.lines(me)
        if edge.talk is None:
            when, broken = lines.guards(edge)
            return broken, [Way(when)]
        talk = edge.talk
        found, named = lines.terms.channels(talk.channel)
        buffered = [(channel, when) for channel, when in found if channel.capacity]
        broken = simplify(not_(named))
        made: list[Way] = []
        if isinstance(talk, Send):
            for channel, when in buffered:
                made += lines.send(talk, channel, when, edge.place)
            if talk.in_d_step:  # a rendezvous cannot be sent there
                broken = simplify(disj(broken, *(when for channel, when in found if not channel.capacity)))
            return broken, made
        wanted = conj(*(part.ok for part in lines.terms.pattern(talk.pattern) if part is not None))
        tried = named if inside else disj(*(when for _, when in buffered))
        broken = simplify(disj(broken, conj(tried, not_(wanted))))
        for channel, when in buffered:
            made += lines.receive(talk, channel, when, edge.place)
        return broken, made

    # Rendezvous

    @cached_property
    def _receivers(self) -> list[_Receiver]:
        found = []
        for me in self.world.instances():
            terms = self.lines(me).terms
            for number, point in enumerate(self.world.program.templates[me.template].points):
                here = self.world.at(me.slot, me.template, number)
                for place, edge in enumerate(point.edges):
                    if isinstance(edge.talk, Receive):
                        channels, named = terms.channels(edge.talk.channel)
                        wanted = tuple(terms.pattern(edge.talk.pattern))
                        partner = Partner(me, number, edge)
                        found.append(_Receiver(partner, place, edge.talk, here, tuple(channels), named, wanted))
        return found

    def _meetings(self, me: Instance, edge: Edge, talk: Send, choices: int) -> tuple[ir.Expr, list[Option]]:
        """The rendezvous of a sender, and the condition under which the search for a partner fails as a whole."""
        terms = self.lines(me).terms
        channels, _ = terms.channels(talk.channel)
        meeting = [(channel, when) for channel, when in channels if channel.capacity == 0]
        if not meeting:
            return FALSE, []
        values = [terms(value) for value in talk.values]
        fine = conj(*(value.ok for value in values))
        broken = [
            conj(when, not_(fine)) if len(values) <= len(channel.type.fields) else when
            for channel, when in meeting
        ]
        found: list[Option] = []
        some = disj(*(when for _, when in meeting))
        for other in self._receivers:
            if other.partner.me.slot == me.slot:
                continue
            broken.append(conj(some, other.here, not_(other.named)))
            for channel, when in meeting:
                theirs = disj(*(named for answer, named in other.channels if answer.id == channel.id))
                if theirs is FALSE:
                    continue
                both = conj(other.here, when, theirs)
                wanted = conj(*(part.ok for part in other.wanted if part is not None))
                broken.append(conj(both, not_(wanted)))
                message = terms_of(self.lines(me), channel, values)
                fits = [
                    binary("==", sent.value, part.value)
                    for sent, part in zip(message, other.wanted, strict=False)
                    if part is not None
                ]
                answer = other.partner.edge
                line = self.lines(other.partner.me).store_message(other.talk, message, answer.place)
                choice = edge.choice + choices * (1 + other.partner.me.slot + PER_ANSWER * other.number)
                found.append(Option(edge, choice, conj(both, *fits), line, other.partner))
        return simplify(disj(*broken)), found


class _Patient(WorldOptions):
    """Options without those that a `timeout` makes possible."""

    @cached_property
    def quiet(self) -> ir.Expr:
        return FALSE

    @cached_property
    def patient(self) -> WorldOptions:
        return self


def terms_of(lines: Lines, channel: ChannelCells, values: list[Term]) -> list[Term]:
    """A message as its receiver gets it."""
    held = zip(channel.type.fields, lines.message(channel, values), strict=True)
    return [Term(value, part.low, part.high) for part, value in held]
