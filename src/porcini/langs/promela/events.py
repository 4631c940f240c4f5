"""Event traces: `trace` and `notrace` watch what is sent and received.

They are lowered like the body of a process. Where that stands is a variable that nobody declares, and every send
and receive on a channel that is watched moves it on, in the same step:

    trace      an event that it does not have next is a failure
    notrace    it is a failure to come to its end; with the first event that it does not have next it is done

Sends on a channel are watched if the trace has a send on it, receives if it has a receive on it. A run must not
end while the trace stands neither at its end nor at an `end` label.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from porcini.core.errors import Place
from porcini.ir import expr as ir
from porcini.ir.expr import TRUE, Expr
from porcini.ir.operations import Assert, Assign, Op, Receive, Send
from porcini.ir.program import Edge, Program, Template, Variable
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.effects import Effect
from porcini.langs.promela.expressions import Expressions, World
from porcini.langs.promela.names import Scope, problem


@dataclass(frozen=True, slots=True)
class TraceTransition:
    """A transition of a trace: what is sent or received there, None for any value."""

    sent: bool
    channel: int
    pattern: tuple[Expr | None, ...]
    source: int
    target: int


@dataclass(eq=False, slots=True)
class EventEffects:
    """Lowers the statements of a trace, which are all sends and receives."""

    world: World
    sends: list[Receive] = field(default_factory=list)
    """Those that are sends: all are kept as what would have to be received."""

    def of(self, statement: ast.Statement, scope: Scope, in_d_step: bool) -> Effect:
        if not isinstance(statement, ast.Send | ast.Receive):
            raise problem("an event trace has sends and receives only", statement.place)
        lower = Expressions(self.world, scope, process=False)
        pattern = tuple(self._wanted(lower, arg) for arg in lower.message(statement.args))
        talk = Receive(lower.channel(statement.channel), pattern, (None,) * len(pattern))
        if isinstance(statement, ast.Send):
            self.sends.append(talk)
        return TRUE, (), talk

    @staticmethod
    def _wanted(lower: Expressions, arg: ast.Expr) -> Expr | None:
        return None if isinstance(arg, ast.Ref) and arg.name == "_" else lower.pattern(arg)[0]


class Watcher:
    """Makes the steps of a program move a trace."""

    def __init__(
        self, world: World, program: Program, trace: Template, effects: EventEffects, at: Variable
    ) -> None:
        self.world, self.program, self.trace, self.effects, self.at = world, program, trace, effects, at
        self.events = [event for number in range(len(trace.points)) for event in self._events_of(number)]

    def _events_of(self, source: int) -> Iterator[TraceTransition]:
        """What may come next, past jumps."""
        seen, left = {source}, [source]
        while left:
            for edge in self.trace.points[left.pop()].edges:
                if isinstance(edge.talk, Receive):
                    channel = self.world.constant(edge.talk.channel)
                    if channel is None:
                        message = "an event trace names channels that are there from the start"
                        raise problem(message, edge.place or Place(1, 1))
                    sent = any(edge.talk is talk for talk in self.effects.sends)
                    yield TraceTransition(sent, channel, edge.talk.pattern, source, edge.target)
                elif edge.otherwise:
                    raise problem("an event trace has no `else` here", edge.place or Place(1, 1))
                elif edge.target not in seen:
                    seen.add(edge.target)
                    left.append(edge.target)

    def watch(self, negated: bool) -> None:
        for template in self.program.templates:
            for edge in list(template.edges):
                if isinstance(edge.talk, Send):
                    edge.block = (*self._moved(edge, True, edge.talk.values, negated), *edge.block)
                elif isinstance(edge.talk, Receive) and not edge.talk.keep:
                    self._watch_receive(template, edge, edge.talk, negated)
        stops = [
            number
            for number, point in enumerate(self.trace.points)
            if number == self.trace.end or any(label.startswith("end") for label in point.labels)
        ]
        self.program.settled = ir.disj(*(ir.binary("==", self.at.var, ir.const(number)) for number in stops))

    def _watch_receive(self, template: Template, edge: Edge, talk: Receive, negated: bool) -> None:
        """What is received into nothing, and looked at, is kept in a variable for the time of the step."""
        into, forgotten = list(talk.into), list[Op]()
        looked_at = {
            number
            for event in self._relevant(talk.channel, False)
            for number, part in enumerate(event.pattern)
            if part is not None
        }
        for number, (part, target) in enumerate(zip(talk.pattern, talk.into, strict=True)):
            if part is None and target is None and number in looked_at:
                kept = ast.Variable(edge.place or Place(1, 1), "int", f"received#{number}")
                _, made = self.world.types.declare(kept, local=True)
                template.variables += made
                into[number] = made[0].var
                forgotten.append(Assign(made[0].var, ir.ZERO, silent=True))
        edge.talk = replace(talk, into=tuple(into))
        values = [part if part is not None else target for part, target in zip(talk.pattern, into, strict=True)]
        edge.block = (*self._moved(edge, False, values, negated), *forgotten, *edge.block)

    def _relevant(self, channel: Expr, sent: bool) -> list[TraceTransition]:
        known = self.world.constant(channel)
        return [event for event in self.events if event.sent == sent and known in (None, event.channel)]

    def _moved(self, edge: Edge, sent: bool, values: Sequence[Expr | None], negated: bool) -> tuple[Op, ...]:
        assert edge.talk is not None
        channel, events = edge.talk.channel, self._relevant(edge.talk.channel, sent)
        if not events:
            return ()
        here = ir.disj(*(ir.binary("==", channel, ir.const(number)) for number in {e.channel for e in events}))
        after: Expr = ir.const(self.trace.end) if negated else self.at.var
        matched: list[Expr] = []
        completed: list[Expr] = []
        for event in events:
            wanted = [
                ir.binary("==", value, part)
                for value, part in zip(values, event.pattern, strict=False)
                if part is not None and value is not None
            ]
            stands = ir.binary("==", self.at.var, ir.const(event.source))
            match = ir.conj(ir.binary("==", channel, ir.const(event.channel)), stands, *wanted)
            after = ir.ite(match, ir.const(event.target), after)
            matched.append(match)
            if event.target == self.trace.end:
                completed.append(match)
        if negated:
            allowed, text = ir.conj(*map(ir.not_, completed)), "the notrace does not come to its end"
        else:
            allowed, text = ir.disj(ir.not_(here), *matched), "the trace has this event next"
        move = Assign(self.at.var, ir.ite(here, after, self.at.var), silent=True)
        return Assert(allowed, text, edge.place), move
