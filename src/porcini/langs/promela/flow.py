"""Statements to points and edges, step for step as SPIN has them.

A body is a chain of nodes, one for each statement, each of which knows what comes after it. A node gets a point
when a process can stand before it. `goto` and `break` after a statement take no step: that statement leads to
their target; as the first statement of an option they are a step. The options of an `if` or `do` are edges of
one point, and so are those of an `if` that comes first in an option.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from porcini.core.errors import InternalError, Place
from porcini.ir import expr as ir
from porcini.ir.expr import TRUE, Expr
from porcini.ir.operations import Exit, Op, Receive, Send
from porcini.ir.program import Edge, Point, Template, Variable
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.effects import Effects
from porcini.langs.promela.events import EventEffects
from porcini.langs.promela.expressions import Expressions, World
from porcini.langs.promela.loops import Loops, expand_select
from porcini.langs.promela.names import Scalar, Scope, Symbol, problem
from porcini.langs.promela.text import show_statement

_JUMPS = (ast.Goto, ast.Break, ast.Fi)
_TELLING = ("end", "accept", "progress")


@dataclass(frozen=True, slots=True)
class Context:
    """The `atomic` and the `d_step` that a statement is in, by number, and where `break` leads."""

    atomic: int | None = None
    d_step: int | None = None
    loop: Node | None = None
    escapes: tuple[Escape, ...] = ()
    """What goes first if it can begin (`unless`); the outermost before the others, as in SPIN."""


@dataclass(eq=False, slots=True)
class Escape:
    """The statements after an `unless`."""

    first: Node | None = None


@dataclass(eq=False, slots=True)
class Node:
    """A statement in its place; without one, the end of the body."""

    statement: ast.Statement | None
    scope: Scope
    context: Context
    next: Node | None = None
    point: int | None = None
    options: list[Node] = field(default_factory=list)
    inner: Node | None = None
    """The statement that a label is on."""
    outside: tuple[Escape, ...] | None = None
    """At the head of a block: the escapes of all that is around it."""
    begins_atomic: bool = False
    begins_block: bool = False
    """It is the first statement between braces: there, `goto` and `break` are steps in SPIN."""
    ends_atomic: bool = False
    """It is the last statement of an atomic sequence."""
    follows_talk: bool = False
    """It is a jump after a statement at which an atomic sequence may be interrupted."""


class Flow:
    """Lowers the body of one process."""

    def __init__(
        self,
        world: World,
        template: Template,
        declared: dict[int, Symbol],
        parameters: Mapping[str, Sequence[Variable]],
        never: bool = False,
        effects: Effects | EventEffects | None = None,
    ) -> None:
        self.world, self.template, self.declared, self.parameters = world, template, declared, parameters
        self.never = never
        self._effects = effects or Effects(world, parameters, never)
        self.labels: dict[str, Node] = {}
        self._numbers = count(1)
        self._loops = Loops(world, template)
        self._escapes: dict[Edge, tuple[Escape, ...]] = {}
        self._d_steps: dict[Edge, int] = {}
        """The edges inside a `d_step`, and which one."""
        self._ends: dict[Node, Node] = {}
        """By where they lead to: ends of options that are steps."""
        self._begun = False
        self._waiting: deque[tuple[Node, int]] = deque()
        """Points whose edges are still to be made: one after another, since a body can be long."""

    def lower(self, body: ast.Block, end: Place, scope: Scope) -> None:
        self._last = last = Node(None, scope, Context())
        first = self._chain(body.statements, scope, Context(), last)
        self.template.end = last.point = self._new_point(end)
        if not self.never:
            self._edge(last.point, self._leaving(end))
        self.template.entry = self._point(first)
        for name, node in self.labels.items():  # also those that nobody goes to
            label = name.partition("#")[0]  # `#` is from inlines
            self.template.labels[label] = self._point(node)
            if self._landing(node) is not node:
                self.world.passed_labels.add((self.template.name, label))
        while self._waiting:
            node, source = self._waiting.popleft()
            self._emit(node, source, ())
            around = node.context.escapes if node.outside is None else node.outside
            self._emit_escapes(source, around)
        self._make_d_steps_deterministic()

    def _make_d_steps_deterministic(self) -> None:
        """A `d_step` that begins with a choice takes the first option that it can, as it does further on."""
        entered = {edge.target for edge in self.template.edges if not edge.d_step} | {self.template.entry}
        for number in entered:
            before: dict[int, list[Expr]] = {}
            for edge in self.template.points[number].edges:
                d_step = self._d_steps.get(edge)
                if d_step is not None and not edge.otherwise:
                    possible = ir.conj(edge.guard, _can_talk(edge.talk))
                    edge.guard = ir.conj(*map(ir.not_, before.get(d_step, ())), edge.guard)
                    before.setdefault(d_step, []).append(possible)

    def _leaving(self, place: Place) -> Edge:
        """The last step of a process, which is gone then: the youngest goes first."""
        youngest = ir.binary("==", ir.POPULATION, ir.binary("+", ir.OWN_NUMBER, ir.ONE))
        return Edge(youngest, (Exit(),), self.template.end, place, text="-end-")

    # Chains

    @staticmethod
    def _may_be_interrupted(node: Node) -> bool:
        """May a rendezvous be here, inside an `atomic`? Then whoever receives goes on."""
        node = _innermost(node)
        is_atomic = node.context.atomic is not None and node.context.d_step is None
        return is_atomic and isinstance(node.statement, ast.Send)

    def _stop_at_jump(self, node: Node, following: Node, *, of_choice: bool) -> Node:
        """What comes after a statement at which an `atomic` may be interrupted. If that is a jump, or the end of
        an option, it may be a step of its own, as in SPIN (`_landing`); all options that lead to one place share
        one such end."""
        inside = following.context.atomic == node.context.atomic
        if isinstance(following.statement, ast.Goto) and inside:
            following.follows_talk = True
            return following
        if isinstance(following.statement, ast.Break) and following.context.loop is not None and inside:
            following, of_choice = following.context.loop, True
        if of_choice and not isinstance(following.statement, ast.Fi):
            if following not in self._ends:
                assert node.statement is not None
                context = replace(node.context, loop=following)
                end = Node(ast.Fi(node.statement.place), node.scope, context, follows_talk=True)
                self._ends[following] = end
            return self._ends[following]
        return following

    def _chain(
        self,
        statements: Sequence[ast.Statement],
        scope: Scope,
        context: Context,
        after: Node,
        head: Node | None = None,
        *,
        of_choice: bool = False,
    ) -> Node:
        """Statements one after another; where they begin, the process stands at the `head`, if there is one. They
        may be an option `of_choice`."""
        nodes: list[Node] = []
        for statement in statements:
            nodes += self._nodes(statement, scope, context)
        if not nodes:
            return after
        if head is not None:
            nodes[0].begins_atomic |= head.begins_atomic
            nodes[0].outside = nodes[0].outside if head.outside is None else head.outside
        if context.d_step is not None:  # it is one step: nothing goes before what comes later
            for node in nodes[1:]:
                node.context = replace(node.context, escapes=())
        for node, following in zip(nodes, [*nodes[1:], after], strict=True):
            if self._may_be_interrupted(node):
                is_end = of_choice and following is after and context.atomic == node.context.atomic
                following = self._stop_at_jump(node, following, of_choice=is_end)
            tail = node
            while tail.next is not None:
                tail = tail.next
            tail.next = following
            if node.inner is not None:
                node.inner.next = following
        for node in nodes:
            self._fill(node)
        return nodes[0]

    def _nodes(self, statement: ast.Statement, scope: Scope, context: Context) -> list[Node]:
        """The nodes of a statement; those of a block are the ones of its statements."""
        match statement:
            case ast.Declare(variables=variables):
                return self._declared(variables, scope, context)
            case ast.Exclusive():
                return []
            case ast.Block(statements=statements, kind=kind):
                inside = context
                if kind == "atomic" and context.atomic is None:
                    inside = replace(context, atomic=next(self._numbers))
                elif kind == "d_step" and context.d_step is None:
                    inside = replace(context, d_step=next(self._numbers))
                block = Scope(scope)
                self._begun = True
                begins_atomic = inside.atomic != context.atomic
                if kind != "d_step":
                    statements = _with_head(statements)
                nodes = [node for part in statements for node in self._nodes(part, block, inside)]
                if nodes:
                    if begins_atomic and not isinstance(statements[-1], ast.Block):
                        _innermost(nodes[-1]).ends_atomic = True
                    nodes[0].begins_block = True
                    if kind == "plain":
                        nodes[0].outside = context.escapes
                    nodes[0].begins_atomic |= begins_atomic
                return nodes
            case ast.For():
                return self._nodes(self._loops.expand_for(statement, scope), scope, context)
            case ast.Select():
                return self._nodes(expand_select(statement), scope, context)
            case ast.Labelled() if (begun := self._loops.move_label(statement, scope)) is not None:
                return self._nodes(begun, scope, context)
            case ast.Labelled(label=label, body=body, place=place):
                if label in self.labels:
                    raise problem(f"label {label} is there twice", place)
                nodes = self._nodes(body, scope, context)
                if not nodes:
                    nodes = self._nodes(ast.Condition(place, ast.Number(place, 1)), scope, context)
                node = Node(
                    statement, scope, context, inner=nodes[0]
                )  # to go back to it leaves an `atomic` after it
                self.labels[label] = node
                if not isinstance(statement.body, ast.Declare):
                    self._begun = True
                return [node, *nodes[1:]]
            case _:
                self._begun = True
                return [Node(statement, scope, context)]

    def _declared(self, variables: Sequence[ast.Variable], scope: Scope, context: Context) -> list[Node]:
        """Declarations after a statement are steps that assign; SPIN has them so."""
        nodes: list[Node] = []
        for variable in variables:
            scope.names[variable.name] = self.declared[id(variable)]
            if not self._begun or self.never:
                continue
            if isinstance(variable.initial, ast.ChannelInit):
                raise problem("a channel must be declared before the first statement", variable.place)
            if isinstance(variable.initial, ast.Values):
                raise problem("a list of values must come before the first statement", variable.place)
            nodes.append(Node(self._beginning(variable, variable.initial), scope, context))
        return nodes

    def _beginning(self, variable: ast.Variable, initial: ast.Expr | None) -> ast.Statement:
        """What SPIN does where a declaration stands: it sets the first cell of an array alone, and no record."""
        at, symbol = variable.place, self.declared[id(variable)]
        if not isinstance(symbol, Scalar):
            return ast.Condition(at, ast.Number(at, 1))
        if symbol.sizes and initial is not None:
            self.world.notes[f"line {at.line}: only the first cell of `{variable.name}` gets its value"] = None
        target = ast.Ref(at, variable.name, ast.Number(at, 0) if symbol.sizes else None)
        return ast.Assign(at, target, initial or ast.Number(at, 0))

    def _fill(self, node: Node) -> None:
        """Chains for the options of a choice, now that it is known what comes after it."""
        statement = node.statement
        if node.inner is not None:
            node.inner.next = node.next
            self._fill(node.inner)
        if isinstance(statement, ast.Choose):
            assert node.next is not None
            context = replace(node.context, loop=node.next) if statement.loops else node.context
            after = node if statement.loops else self._end_of_choice(node, node.next)
            for option in statement.options:
                made = statement.made_of_for
                statements = option.statements if made else _without_idle_steps(option.statements)
                node.options.append(self._chain(statements, node.scope, context, after, of_choice=True))
        elif isinstance(statement, ast.Unless):
            assert node.next is not None
            escape = Escape()
            inside = replace(node.context, escapes=(*node.context.escapes, escape))
            after = self._end_of_choice(node, node.next)
            node.options.append(self._part_of_unless(statement.main, node.scope, inside, after, node))
            escape.first = self._part_of_unless(statement.escape, node.scope, node.context, after)

    def _part_of_unless(
        self, part: ast.Statement, scope: Scope, context: Context, after: Node, head: Node | None = None
    ) -> Node:
        """Braces around a part make no block of their own: a jump that comes first in it is not a step."""
        if isinstance(part, ast.Block) and part.kind == "plain":
            return self._chain(part.statements, Scope(scope), context, after, head, of_choice=True)
        return self._chain([part], scope, context, after, head, of_choice=True)

    def _end_of_choice(self, node: Node, following: Node) -> Node:
        """What comes after the options of an `if`, or the parts of an `unless`: an atomic sequence may end there,
        and then its end is a step, the last one of the sequence."""
        context = node.context
        if context.atomic is None or context.d_step is not None or following.context.atomic is not None:
            return following
        assert node.statement is not None
        return Node(ast.Fi(node.statement.place), node.scope, replace(context, loop=following, escapes=()))

    # Points

    def _point(self, node: Node) -> int:
        """Where a process stands that is about to do this."""
        if node.point is not None:
            return node.point
        landing = self._landing(node)
        if landing is not node:
            node.point = self._point(landing)
            return node.point
        assert node.statement is not None
        node.point = self._new_point(node.statement.place)
        inner = node
        while inner.inner is not None:
            assert isinstance(inner.statement, ast.Labelled)
            self.template.points[node.point].labels.add(inner.statement.label.partition("#")[0])
            inner = inner.inner
            inner.point = node.point
        self._waiting.append((inner, node.point))
        return node.point

    def _landing(self, node: Node) -> Node:
        """The node that is really next: `goto` and `break` are followed, but for those that are steps."""
        seen: set[int] = set()
        while True:
            inner = node
            while inner.inner is not None:
                assert isinstance(inner.statement, ast.Labelled)
                if self._tells(inner.statement.label):
                    return node
                inner = inner.inner
            if id(inner) in seen:
                return node  # `L: goto L`
            seen.add(id(inner))
            if isinstance(inner.statement, ast.Unless):
                node = inner.options[0]
                continue
            if inner.begins_block or not isinstance(inner.statement, _JUMPS):
                return node
            target = self._jump(inner)
            if inner.context.atomic is not None and target.context.atomic is None:
                return node  # a step, the last of the atomic sequence
            if inner.follows_talk and not self._is_within(target, inner.context.atomic):
                return node
            node = target

    @staticmethod
    def _is_within(node: Node, atomic: int | None) -> bool:
        """Is it inside an atomic sequence, and not the last statement of it, unless that is a choice? SPIN goes on
        to it without a step."""
        node = _innermost(node)
        return node.context.atomic == atomic and (isinstance(node.statement, ast.Choose) or not node.ends_atomic)

    def _tells(self, label: str) -> bool:
        """Is something said of whoever stands at a label, so that there must be a place to stand?"""
        return label.startswith(_TELLING) or label in self.world.asked_labels

    def _jump(self, node: Node) -> Node:
        """Where a `goto` or a `break` leads."""
        if isinstance(node.statement, ast.Goto):
            return self._target(node)
        assert isinstance(node.statement, ast.Break | ast.Fi)
        if node.context.loop is None:
            raise problem("`break` outside a loop", node.statement.place)
        return node.context.loop

    def _target(self, node: Node) -> Node:
        assert isinstance(node.statement, ast.Goto)
        label = node.statement.label
        if label not in self.labels:
            raise problem(f"label `{label}` is not defined", node.statement.place)
        return self.labels[label]

    def _new_point(self, place: Place) -> int:
        self.template.points.append(Point(place))
        return len(self.template.points) - 1

    # Edges

    def _emit(self, node: Node, source: int, families: tuple[int, ...]) -> None:
        """Edges from a point for what a node does."""
        statement = node.statement
        if node.inner is not None:  # a label on the first statement of an option: it can be gone to as well
            self._point(node)
            self._emit(node.inner, source, families)
            return
        match statement:
            case None:
                raise InternalError("a step after the end")
            case ast.Choose(loops=loops):
                if loops:
                    self._point(node)
                # The options of an `if` that comes first in an option are edges of this point, too; its `else`
                # looks at its own options only, one further out at all of them.
                inside = (*families, next(self._numbers))
                for option in node.options:
                    self._emit(option, source, inside)
            case ast.Unless():
                self._emit(node.options[0], source, families)
            case ast.Goto() | ast.Break() | ast.Fi():
                self._add(node, source, families, TRUE, (), target=self._landing(self._jump(node)))
            case ast.Else():  # where it is not the first statement of an option, it can always be taken
                self._add(node, source, families, TRUE, (), otherwise=bool(families))
            case ast.Assert(test=test) if self.never:  # a claim whose assertion fails has seen what must not be
                held = Expressions(self.world, node.scope, process=False).condition(test)
                self._add(node, source, families, held, ())
                self._add(node, source, families, ir.not_(held), (), target=self._last)
            case _:
                assert statement is not None
                in_d_step = node.context.d_step is not None
                guard, block, talk = self._effects.of(statement, node.scope, in_d_step)
                self._add(node, source, families, guard, block, talk=talk)

    def _emit_escapes(self, source: int, around: tuple[Escape, ...]) -> None:
        """Edges from a point for what goes first there, as SPIN has it. If one option of a choice has an escape,
        it goes before the other options, too; and together with what can be escaped to from the escape itself,
        which for those `around` the whole point, or block, comes only after their first step."""
        edges = self.template.points[source].edges
        if self.never and any(edge in self._escapes for edge in edges):
            raise problem("a never claim has no `unless` here", edges[0].place or Place(1, 1))
        ranks: list[list[Escape]] = []
        seen: set[Escape] = set()
        for edge in edges:
            for escape in reversed(self._escapes.get(edge, ())):
                together = [escape, *(() if escape in around else self._escapes_of(escape))]
                found = [each for each in together if each not in seen]
                if found:
                    ranks.insert(0, found)
                    seen.update(found)
        for edge in edges:
            edge.rank = len(ranks)
        for rank, escapes in enumerate(ranks):
            before = len(edges)
            for escape in escapes:
                first = self._start_of(escape)
                if first is self._last:
                    place = self.template.points[self.template.end].place
                    assert place is not None
                    self._edge(source, replace(self._leaving(place), choice=len(edges)))
                else:
                    self._emit(first, source, ())
            for edge in edges[before:]:
                edge.rank = rank

    def _escapes_of(self, escape: Escape) -> tuple[Escape, ...]:
        """Those that go before the first statement of an escape, or before that of an option it begins with."""
        return tuple(dict.fromkeys(self._first_escapes(self._start_of(escape))))

    def _first_escapes(self, node: Node) -> Iterator[Escape]:
        node = _innermost(node)
        yield from node.context.escapes
        if isinstance(node.statement, ast.Choose):
            for option in node.options:
                yield from self._first_escapes(self._landing(option))

    def _start_of(self, escape: Escape) -> Node:
        assert escape.first is not None
        return self._landing(escape.first)

    def _add(
        self,
        node: Node,
        source: int,
        families: tuple[int, ...],
        guard: Expr,
        block: tuple[Op, ...],
        *,
        talk: Send | Receive | None = None,
        otherwise: bool = False,
        target: Node | None = None,
    ) -> None:
        assert node.statement is not None
        if target is None:
            assert node.next is not None
            target = self._landing(node.next)
        context, after = node.context, target.context
        edge = Edge(
            guard,
            block,
            -1,
            node.statement.place,
            len(self.template.points[source].edges),
            show_statement(node.statement),
            talk,
            otherwise,
            families,
            atomic=context.atomic is not None and self._stays_atomic(context, target),
            d_step=context.d_step is not None and context.d_step == after.d_step,
        )
        if context.d_step is not None:
            self._d_steps[edge] = context.d_step
        if context.escapes:
            self._escapes[edge] = context.escapes
        self._edge(source, edge)
        edge.target = self._point(target)

    @staticmethod
    def _stays_atomic(context: Context, target: Node) -> bool:
        """A jump into another atomic sequence does not interrupt, unless it is to where that begins."""
        if target.context.atomic is None or target.context.atomic == context.atomic:
            return target.context.atomic is not None
        return not target.begins_atomic

    def _edge(self, source: int, edge: Edge) -> None:
        self.template.points[source].edges.append(edge)


def _innermost(node: Node) -> Node:
    """The statement that labels are on."""
    while node.inner is not None:
        node = node.inner
    return node


def _can_talk(talk: Send | Receive | None) -> Expr:
    """When a communication is possible over a buffered channel; never by a rendezvous."""
    match talk:
        case Send(channel=channel):
            return ir.conj(ir.of_channel("buffered", channel), ir.of_channel("nfull", channel))
        case Receive(channel=channel, pattern=pattern, anywhere=anywhere):
            return ir.conj(ir.of_channel("buffered", channel), ir.poll(channel, pattern, anywhere))
        case None:
            return TRUE


def _with_head(statements: tuple[ast.Statement, ...]) -> tuple[ast.Statement, ...]:
    """The statements between braces. Where they begin is another place than a loop that comes first in them, with
    its labels, and to which a process comes back: as if the loop were the only option of a choice."""
    inner = statements[0] if statements else None
    while isinstance(inner, ast.Labelled):
        inner = inner.body
    if not isinstance(inner, ast.Choose) or not inner.loops:
        return statements
    first = statements[0]
    head = ast.Choose(first.place, (ast.Block(first.place, (first,), "plain"),), loops=False)
    return (head, *statements[1:])


def _without_idle_steps(statements: Sequence[ast.Statement]) -> list[ast.Statement]:
    """The statements of an option, less each `skip` after another one that is not the last: SPIN leaves it out."""
    kept: list[ast.Statement] = []
    idle = False
    for number, statement in enumerate(statements):
        skips = isinstance(statement, ast.Condition) and statement.test == ast.Number(statement.test.place, 1)
        if not (skips and idle and number < len(statements) - 1):
            kept.append(statement)
        idle = skips or isinstance(statement, ast.Print)
    return kept
