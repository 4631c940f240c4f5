"""Processes that may still be started: only their template is known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from porcini.ir.operations import Receive, Send
from porcini.ir.packed.code import Constants, EdgeCode
from porcini.ir.packed.layout import Channel
from porcini.ir.packed.processes import Process
from porcini.ir.packed.system import PackedSystem
from porcini.ir.packed.touch import NOTHING, Touch, Toucher
from porcini.ir.program import Edge, Template, rivals


@dataclass(eq=False, slots=True)
class Later:
    """Anything that processes of a template that do not exist yet might do: with all that may follow while the
    turn is held, including steps of others that they meet."""

    number: int
    template: Template
    toucher: Toucher
    touch: Touch
    starts: frozenset[int]
    ends: dict[Process, int] = field(default_factory=dict)
    """The processes that it may move while it holds the turn: where they may come to, and where they are met."""
    met: dict[Process, int] = field(default_factory=dict)
    meets: frozenset[int] = frozenset()
    """The same for processes that do not exist yet: their templates."""

    @property
    def known(self) -> tuple[object, ...]:
        """What becomes more as more is found out."""
        return self.touch, self.starts, self.meets, dict(self.ends), dict(self.met)

    def may_meet(self, code: EdgeCode) -> bool:
        """May one of these be the other half of a rendezvous?"""
        return any(may_talk(self.toucher.among(talk.channel), code.among) for talk in self.answers(code.edge))

    def answers(self, edge: Edge) -> Iterator[Send | Receive]:
        """Its communications of the other kind."""
        wanted = Receive if isinstance(edge.talk, Send) else Send
        for other in self.template.edges:
            if isinstance(other.talk, wanted):
                yield other.talk

    def receives(self) -> Iterator[Receive]:
        return (edge.talk for edge in self.template.edges if isinstance(edge.talk, Receive))

    def sends_beside_others(self) -> Iterator[Send]:
        """The sends that keep other edges of their point from being taken, if somebody answers."""
        for point in self.template.points:
            for edge in point.edges:
                for other in rivals(edge, point.edges):
                    if isinstance(other.talk, Send):
                        yield other.talk

    def met_while_holding(self) -> Iterator[Edge]:
        """The sends that it may reach while it holds the turn."""
        held = {edge.target for edge in self.template.edges if edge.atomic}
        for point in held:
            yield from (edge for edge in self.template.points[point].edges if isinstance(edge.talk, Send))


def may_talk(one: tuple[Channel, ...] | None, other: tuple[Channel, ...] | None) -> bool:
    """May two be over the same rendezvous channel? None stands for any channel."""
    if one is None or other is None:
        return True
    return any(channel.capacity == 0 and channel.id == same.id for channel in one for same in other)


def any_of(system: PackedSystem, number: int) -> Later:
    """All that a process of a template might do by itself."""
    template = system.program.templates[number]
    constants = Constants(None, system.inputs, system.layout.declared)
    channels = {channel.id: channel for channel in system.layout.shared_channels}
    toucher = Toucher(system.layout, number, constants, channels, system.resources, lambda number: None)
    touch = NOTHING
    for edge in template.edges:
        touch |= toucher.edge(edge)
        if edge.talk is not None:
            touch |= toucher.tested(edge.talk.channel)
    touch = Touch(0, touch.reads, touch.writes, touch.effects, touch.wide)
    return Later(number, template, toucher, touch, frozenset(template.starts))
