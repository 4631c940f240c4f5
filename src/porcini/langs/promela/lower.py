"""Promela to packed programs: names, templates, what is constant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from porcini.core.errors import InputError, Place
from porcini.ir.expr import OWN_NUMBER, TRUE, ZERO, Expr, Timeout, Var, free, nodes, select
from porcini.ir.operations import Assign
from porcini.ir.passes.constants import mark_constants
from porcini.ir.program import ChannelType, Program, Template, Variable, nodes_of
from porcini.langs.promela import syntax as ast
from porcini.langs.promela.events import EventEffects, Watcher
from porcini.langs.promela.expressions import Expressions, World
from porcini.langs.promela.flow import Flow
from porcini.langs.promela.names import Scalar, Scope, Symbol, Types, mtype_sets, problem, scalars
from porcini.langs.promela.parser import parse, parse_expression, preprocessed
from porcini.langs.promela.text import show
from porcini.langs.promela.words import Word

MOST_ACTIVE = 255
_OF_PRIORITIES = frozenset({"priority", "_priority", "set_priority", "get_priority"})


class Lowered:
    """A Promela model that was read: its program, its formulas and claims, and how to read more expressions."""

    def __init__(
        self,
        source: str,
        file: str = "<text>",
        include: Callable[[str], str] | None = None,
        defines: Mapping[str, str] | None = None,
    ) -> None:
        self.source, self.file = source, file
        self._include, self._defines = include, defines
        self.syntax = parse(source, file, include, defines)
        try:
            self._lower()
        except InputError as error:
            if error.file is None:
                error.file, error.source = file, source
            raise

    def with_claim(self, text: str, file: str) -> Lowered:
        """The same model with a never claim from another file, which may use the names of this one."""
        lines = self.source.count("\n") + 1
        try:
            found = Lowered(f"{self.source}\n{text}", self.file, self._include, self._defines)
        except InputError as error:
            if error.place is not None and error.place.line > lines:
                error.place = replace(error.place, line=error.place.line - lines)
                error.file, error.source = file, text
            raise
        if len(found.nevers) == len(self.nevers):
            raise InputError("there is no never claim in it", file=file, hint="never { ... }")
        for label in found.syntax.asked_labels - self.syntax.asked_labels:
            if any(label == passed for _, passed in self.world.passed_labels):
                raise InputError(_passed_over(label), file=file, hint=_PASSED_OVER)
        found.nevers = found.nevers[-1:]
        return found

    def words(self) -> list[Word]:
        """The words of the program, with its macros and includes expanded."""
        return preprocessed(self.source, self._include, self._defines).out

    def _lower(self) -> None:
        tree = self.syntax
        self.types = Types(tree, lambda expr: self._constant(expr, self.scope))
        mtypes = mtype_sets(tree.mtypes)
        self.world = World(
            {name: len(names) - at for names in mtypes.values() for at, name in enumerate(names)},
            {proctype.name: number for number, proctype in enumerate(tree.proctypes)},
            self.types,
            kinds={name: kind for kind, names in mtypes.items() for name in names},
            asked_labels=tree.asked_labels,
        )
        self.scope = Scope()
        self.program = Program([], [], [], mtypes=mtypes)
        self._declared: dict[int, Symbol] = {}
        self._first_priorities: list[int] = []
        self.settled: set[Var] = set()
        """Variables whose first values are used in declarations."""
        self._unique(tree)
        self._predefined(tree)
        for variable in tree.variables:
            self._global(variable)
        for proctype in tree.proctypes:
            self._prepare(proctype)
        parameters = {template.name: template.parameters for template in self.program.templates}
        for proctype, template in zip(tree.proctypes, self.program.templates, strict=True):
            scope = Scope(self.scope)
            for parameter in proctype.parameters:
                scope.names[parameter.name] = self._declared[id(parameter)]
            if proctype.provided is not None:
                template.provided = Expressions(self.world, scope).condition(proctype.provided)
                if any(isinstance(node, Timeout) for node in nodes(template.provided)):
                    raise problem("a process cannot be provided with `timeout`", proctype.provided.place)
            Flow(self.world, template, self._declared, parameters).lower(proctype.body, proctype.end, scope)
        self.nevers: list[Template] = []
        for never in tree.nevers:
            self._never(never, parameters)
        self._independent(tree)
        self._activate(tree)
        own = (channel for template in self.program.templates for channel in template.channels)
        if self.world.priorities is not None and not all(c.capacity for c in (*self.program.channels, *own)):
            raise problem("use of priorities cannot be combined with rendezvous", Place(1, 1))
        started = {number for template in self.program.templates for number in template.starts}
        initial = self.program.initial
        self.world.several = {number for number in initial if initial.count(number) > 1} | started
        self.world.alone = {n: initial.index(n) for n in initial if initial.count(n) == 1 and n not in started}
        mark_constants(self.program)
        for trace in tree.traces:
            self._watch_events(trace, parameters)
        self._keep_predefined()
        mark_constants(self.program)
        self._check_labels()
        self.program.notes += [*self.types.notes, *self.world.notes]
        labels = (label for template in self.program.templates for label in template.labels)
        if tree.formulas and any(label.startswith("accept") for label in labels):
            self.program.notes.append(
                "`accept` labels of proctypes are no part of a formula: --acceptance asks for them"
            )

    def _unique(self, tree: ast.Program) -> None:
        seen: dict[str, Place] = {}
        for proctype in tree.proctypes:
            if proctype.name in seen:
                raise problem(f"proctype {proctype.name} is declared twice", proctype.place)
            seen[proctype.name] = proctype.place
        if not tree.proctypes:
            raise problem("no process: a model wants an `active proctype` or an `init`", Place(1, 1))

    def _predefined(self, tree: ast.Program) -> None:
        """Variables that nobody declares: who did the last step, and the priority of each process."""
        if "_last" in tree.words:
            self.world.last = self._predefined_variable("_last", None)
        if tree.words & _OF_PRIORITIES:
            active = sum(self._constant(p.active, self.scope) for p in tree.proctypes if p.active is not None)
            size = MOST_ACTIVE if "run" in tree.words else max(1, min(active, MOST_ACTIVE))
            self.world.priorities = self.program.priorities = self._predefined_variable("_priority", size)

    def _predefined_variable(self, name: str, size: int | None, type_: str = "byte") -> Variable:
        number = None if size is None else ast.Number(Place(1, 1), size)
        symbol, made = self.types.declare(ast.Variable(Place(1, 1), type_, name, number), local=False)
        assert isinstance(symbol, Scalar)
        self.program.variables += made
        symbol.variable.observed = False
        return symbol.variable

    def _keep_predefined(self) -> None:
        """Every step records who took it, a `d_step` when it ends; a process that ends gives up its priority."""
        last, priorities = self.world.last, self.world.priorities
        for edge in (edge for template in self.program.templates for edge in template.edges):
            if priorities is not None and edge.exits:
                edge.block = (Assign(select(priorities.var, OWN_NUMBER), ZERO, silent=True), *edge.block)
            if last is not None and not edge.d_step:
                edge.block = (*edge.block, Assign(last.var, OWN_NUMBER, silent=True))

    def _constant(self, expr: ast.Expr, scope: Scope) -> int:
        found = Expressions(self.world, scope, process=False)(expr)
        self.settled |= free(found)
        value = self.world.constant(found)
        if value is None:
            raise problem("a constant is wanted here", expr.place)
        return value

    # Variables

    def _global(self, variable: ast.Variable) -> None:
        if variable.name in self.scope.names:
            raise problem(f"variable {variable.name} is declared twice", variable.place)
        symbol, made = self.types.declare(variable, local=False)
        if isinstance(symbol, Scalar):
            if symbol.channel is not None:
                self._shared_channels(symbol.channel, symbol.variable)
            elif variable.initial is not None:
                assert not isinstance(variable.initial, ast.ChannelInit)
                _set(symbol.variable, self._cells(symbol.variable, variable.initial))
        self._fields(symbol, self._shared_channels)
        self.scope.names[variable.name] = symbol
        self.program.variables += made

    def _shared_channels(self, type_: ChannelType, variable: Variable) -> None:
        """Channels that are there from the start, each named by a cell of a variable."""
        first = len(self.program.channels) + 1
        self.program.channels += list(_named(type_, variable))
        _set(variable, range(first, first + variable.size))

    def _fields(self, symbol: Symbol, make_channels: Callable[[ChannelType, Variable], None]) -> None:
        """Fields of a typedef have the initial values that are declared there."""
        if isinstance(symbol, Scalar):
            return
        fields = {part.name: part for part in self.types.typedefs[symbol.type].fields}
        for name, member in symbol.members.items():
            initial = fields[name].initial
            if isinstance(member, Scalar):
                if member.channel is not None:
                    make_channels(member.channel, member.variable)
                elif initial is not None and not isinstance(initial, ast.ChannelInit):
                    _set(member.variable, self._cells(member.variable, initial))
            else:
                self._fields(member, make_channels)

    def _cells(self, variable: Variable, initial: ast.Expr | ast.Values) -> list[int]:
        """The initial values of all cells. Those that a list leaves out have its last value, as in SPIN."""
        given = initial.values if isinstance(initial, ast.Values) else (initial,)
        values = [self._fitting(variable, self._constant(value, self.scope)) for value in given]
        size = variable.sizes[-1] if variable.sizes else 1
        if isinstance(initial, ast.Values) and len(values) != size:
            what = "the last one is repeated" if len(values) < size else "the rest is left out"
            self.program.notes.append(f"`{variable.title}` has {size} cells for {len(values)} values: {what}")
        row = (values + values[-1:] * size)[:size]
        return row * (variable.size // size)

    def _fitting(self, variable: Variable, value: int) -> int:
        if not variable.bounded.holds(value):
            self.program.notes.append(f"a value did not fit `{variable.title}` and was wrapped around")
        return variable.bounded.wrap(value)

    def _prepare(self, proctype: ast.Proctype) -> None:
        """The variables of a process, before its body is looked at: others may refer to them."""
        template = Template(proctype.name, proctype.place)
        everything = Scope(self.scope)
        for parameter in proctype.parameters:
            if parameter.name in everything.names:
                raise problem(f"parameter {parameter.name} is there twice", parameter.place)
            symbol, made = self.types.declare(parameter, local=True)
            if any(part.sizes for part in scalars(symbol)):
                raise problem(f"parameter `{parameter.name}` is an array, or has one in it", parameter.place)
            template.parameters += made
            for part in made:
                part.set_up = True
            everything.names[parameter.name] = self._declared[id(parameter)] = symbol
        template.variables += template.parameters
        for statement, names, head in _declarations(proctype.body):
            for variable in statement.variables:
                if variable.name in names:
                    raise problem(f"variable {variable.name} is declared twice", variable.place)
                names.add(variable.name)
                symbol, made = self.types.declare(variable, local=True)
                template.variables += made
                self._declared[id(variable)] = symbol
                everything.names.setdefault(variable.name, symbol)
                if head or not isinstance(symbol, Scalar):
                    self._initialise(template, variable, symbol, everything)
        self.program.templates.append(template)
        self.world.locals.append(everything)

    def _initialise(self, template: Template, variable: ast.Variable, symbol: Symbol, scope: Scope) -> None:
        """A declaration before the first statement: its value is there when the process starts. So are those of
        a record's fields, wherever it is declared."""

        def own_channels(type_: ChannelType, of: Variable) -> None:
            for cell, each in enumerate(_named(type_, of)):
                template.channels.append(each)
                template.channel_cells.append((of, cell))
            of.set_up = True

        if not isinstance(symbol, Scalar):
            self._fields(symbol, own_channels)
            return
        if symbol.channel is not None:
            own_channels(symbol.channel, symbol.variable)
        elif variable.initial is not None:
            assert not isinstance(variable.initial, ast.ChannelInit)
            if isinstance(variable.initial, ast.Values):
                _set(symbol.variable, self._cells(symbol.variable, variable.initial))
                return
            if isinstance(variable.initial, ast.Run):
                raise problem("a variable cannot be initialised by `run`", variable.place)
            value = Expressions(self.world, scope)(variable.initial)
            known = None if free(value) else self.world.constant(value)
            if known is None:
                symbol.variable.set_up = True
                template.setup.append((symbol.variable, value))
            else:
                _set(symbol.variable, [self._fitting(symbol.variable, known)] * symbol.variable.size)

    # The whole

    def _never(self, never: ast.Never, parameters: Mapping[str, list[Variable]]) -> None:
        template = Template(never.name or "never", never.place)
        scope = Scope(self.scope)
        for statement, _, _ in _declarations(never.body):
            raise problem("a never claim has no variables of its own here", statement.place)
        Flow(self.world, template, self._declared, parameters, never=True).lower(never.body, never.place, scope)
        if any(isinstance(node, Timeout) for edge in template.edges for node in nodes_of(edge)):
            raise problem("`timeout` in a never claim: it is not about a state", never.place)
        self.nevers.append(template)

    def _watch_events(self, trace: ast.EventTrace, parameters: Mapping[str, list[Variable]]) -> None:
        if self.program.settled is not TRUE:
            raise problem("there is a second event trace", trace.place)
        template, effects = Template("trace", trace.place), EventEffects(self.world)
        for statement, _, _ in _declarations(trace.body):
            raise problem("an event trace has no variables", statement.place)
        flow = Flow(self.world, template, self._declared, parameters, never=True, effects=effects)
        flow.lower(trace.body, trace.place, Scope(self.scope))
        at = self._predefined_variable("_event", None, "short")
        at.value = template.entry
        Watcher(self.world, self.program, template, effects, at).watch(trace.negated)

    def _independent(self, tree: ast.Program) -> None:
        """`//@ independent a b`: the model's own word on what need not be ordered."""
        for one, two, place in tree.independent:
            if one in self.world.templates and two in self.world.templates:
                self.program.strangers.append((self.world.templates[one], self.world.templates[two]))
            else:
                symbol = self.scope.find(one)
                if symbol is None or one != two:
                    hint = "two proctypes, or twice the same shared variable or channel"
                    raise problem(f"cannot take `{one}` and `{two}` for independent", place, hint)
                for scalar in scalars(symbol):
                    self.program.unordered.append(scalar.variable)
                    if scalar.channel is not None:
                        self.program.unordered += scalar.variable.initial
            self.program.notes.append(
                f"the result rests on the model's word that {one} and {two} are independent (line {place.line})"
            )

    def _activate(self, tree: ast.Program) -> None:
        for number, proctype in enumerate(tree.proctypes):
            if proctype.active is None:
                continue
            count = self._constant(proctype.active, self.scope)
            if count and proctype.parameters:
                self.program.notes.append(f"parameters of active proctype {proctype.name} are 0")
            self.program.initial += [number] * count
            self._first_priorities += [proctype.priority or 1] * count
            if len(self.program.initial) > MOST_ACTIVE:
                raise problem(f"more than {MOST_ACTIVE} processes", proctype.place)
        if not self.program.initial:
            raise problem("no process: a model wants an `active proctype` or an `init`", Place(1, 1))
        if self.world.priorities is not None:
            cells = self._first_priorities + [0] * (self.world.priorities.size - len(self._first_priorities))
            _set(self.world.priorities, cells)

    def _check_labels(self) -> None:
        for template, label, place in self.world.labels_wanted:
            name, known = self.program.templates[template].name, self.program.templates[template].labels
            if (name, label) in self.world.passed_labels:
                raise problem(_passed_over(label), place, _PASSED_OVER)
            if label not in known:
                hint = f"known: {', '.join(known)}" if known else None
                raise problem(f"proctype {name} has no label `{label}`", place, hint)

    def proposition(self, text: str, place: Place) -> Expr:
        """An expression over the state as a whole, for formulas."""
        self.world.labels_wanted.clear()
        tree = parse_expression(text, place, self.world.mtypes, self.world.templates)
        expr = Expressions(self.world, self.scope, process=False).condition(tree)
        if any(isinstance(node, Timeout) for node in nodes(expr)):
            raise problem("`timeout` is not a proposition: it is not about a state", place)
        self._check_labels()
        self.program.notes += [note for note in self.world.notes if note not in self.program.notes]
        return expr

    def show_proposition(self, text: str) -> str:
        """A proposition as a person would write it."""
        return show(parse_expression(text, Place(1, 1), (), self.world.templates))


_PASSED_OVER = "put what asks for it into the model: then the jump is a step"


def _passed_over(label: str) -> str:
    """SPIN makes such a jump a step where it finds the label asked for; then runs have other steps."""
    return f"nobody stands at `{label}`: it is on a jump, which is not a step"


def _set(variable: Variable, cells: Sequence[int]) -> None:
    """Give the cells of a variable their initial values."""
    variable.value = tuple(cells) if variable.array else cells[0]


def _named(type_: ChannelType, variable: Variable) -> Iterator[ChannelType]:
    """One channel for each cell of an array of them."""
    for cell in range(variable.size):
        name = f"{type_.name}[{cell}]" if variable.array else type_.name
        yield ChannelType(name, type_.capacity, type_.fields)


_Declaration = tuple[ast.Declare, set[str], bool]
"""A declaration, the names of its block, and whether it is at the head of the body, before any statement."""


def _declarations(body: ast.Block) -> Iterator[_Declaration]:
    """All declarations of a body in order."""
    names: set[str] = set()
    head = True
    for statement in body.statements:
        head = head and isinstance(statement, ast.Declare | ast.Exclusive)
        yield from _within(statement, names, head)


def _within(statement: ast.Statement, names: set[str], head: bool = False) -> Iterator[_Declaration]:
    """Only braces make a block: what an option of an `if` declares is known after it, too."""
    match statement:
        case ast.Declare():
            yield statement, names, head
        case ast.Block(statements=statements) | ast.For(body=ast.Block(statements=statements)):
            inner: set[str] = set()
            for part in statements:
                yield from _within(part, inner)
        case ast.Labelled(body=body):
            yield from _within(body, names)
        case ast.Unless(main=main, escape=escape):
            yield from _within(main, names)
            yield from _within(escape, names)
        case ast.Choose(options=options):
            for option in options:
                for part in option.statements:
                    yield from _within(part, names)
