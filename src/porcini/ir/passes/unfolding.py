"""A program that starts processes, as one whose processes are all there from the beginning.

Guarded commands and the parallel language start processes as they go. Where it is known before the program runs
which ones these can be, and no loop starts them again and again, the program can be packed: each process that may
ever exist is an initial process of the unfolded program, and waits until it has been started.

    unfold       the unfolded program, with the process that each of its processes stands for; None if a program
                 cannot be unfolded
    _Unfolding   instances, breadth first; each gets a template of its own
    _Rewriting   the edges of one instance, with the names and operations of the unfolded program

*Starting* a process is to set its flag, which guards the edges of its first point, and to assign the private
variables that it gets from its parent; these are shared in the unfolded program, and nobody else touches them.

*Why the states correspond.* An instance is a way down the tree of processes: its parent, and the operation in the
parent's text that starts it. A parent comes to an operation at most once (no point from which it can be reached
again starts anything), so an instance is started at most once. Its name is its parent's and the number of children
that the parent had before, which is the same however the parent came there (`_children_at`; otherwise there is no
unfolding). So a state of the program tells for each instance whether it was started, where it stands and what its
variables hold, and the other way round. Steps correspond because edges do: a block is carried out as a whole, its
first operation alone can fail, and a choice whose guards cannot be evaluated fails once, by its first edge.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from porcini.core.pids import Pid
from porcini.ir.evaluation import defined
from porcini.ir.expr import TRUE, ArrayType, Expr, Select, Type, Var, conj, const, not_, select, substitute, var
from porcini.ir.operations import Assert, Assign, Block, Forget, Op, Spawn, Target, defined_op
from porcini.ir.passes.constants import mark_constants
from porcini.ir.program import Bounds, Edge, Point, Program, Template, Variable
from porcini.ir.simplify import simplify

MOST_INSTANCES = 255
"""As many processes as a packed state can number."""
UNBOUNDED = Bounds(64, signed=True, exact=True)
"""What an integer without bounds is packed as. One that needs more bits ends the search of packed states."""
_BOOLEAN = Bounds(1, kind="bool")


@dataclass(frozen=True, slots=True)
class Instance:
    """A process that may exist: what it is in the program, and what tells its state in the unfolded one."""

    number: int
    pid: Pid
    template: int
    flag: Var | None
    """Whether it has been started; None if it is there from the beginning."""
    variables: tuple[Var, ...]
    """Its private variables in the unfolded program, in the order of its template."""


@dataclass(frozen=True, slots=True)
class Unfolded:
    """`instances` by number: the initial processes of the unfolded program."""

    program: Program
    instances: tuple[Instance, ...]


class _CannotBeUnfolded(Exception):
    pass


def unfold(program: Program) -> Unfolded | None:
    try:
        return _Unfolding(program).unfolded()
    except _CannotBeUnfolded:
        return None


@dataclass(slots=True)
class _Unfolding:
    program: Program
    instances: list[Instance] = field(default_factory=list)
    shared: list[Variable] = field(default_factory=list)
    templates: list[Template] = field(default_factory=list)
    counts: dict[int, list[int]] = field(default_factory=dict)
    """For each template, how many children a process has at each of its points."""

    def unfolded(self) -> Unfolded:
        self.shared += [_packed(each) for each in self.program.variables]
        todo: deque[Instance] = deque()
        for number, template in enumerate(self.program.initial):
            todo.append(self._add(Pid((number,)), template, starting=None))
        while todo:
            instance = todo.popleft()
            rewriting = _Rewriting(self, instance)
            self.templates.append(rewriting.template())
            todo += rewriting.children
        program = Program(self.shared, self.templates, list(range(len(self.templates))))
        mark_constants(program)
        return Unfolded(program, tuple(self.instances))

    def _add(self, pid: Pid, template: int, starting: Spawn | None) -> Instance:
        number = len(self.instances)
        if number == MOST_INSTANCES:
            raise _CannotBeUnfolded
        given = {target.name for target, _ in starting.copies} if starting is not None else set()
        flag = None
        if starting is not None:
            flag = var(f"#{number}", "bool")
            self.shared.append(Variable(flag.name, "bool", False, _BOOLEAN))
        variables: list[Var] = []
        for each in self.program.templates[template].variables:
            name = f"#{number}{each.name}" if each.name in given else f"{each.name}#{number}"
            variables.append(var(name, each.type))
            if each.name in given:
                self.shared.append(replace(_packed(each), name=name))
        self.instances.append(Instance(number, pid, template, flag, tuple(variables)))
        return self.instances[-1]

    def start(self, parent: Instance, spawn: Spawn, children: int) -> Instance:
        """The instance that an operation starts."""
        return self._add(parent.pid.child(children), spawn.template, spawn)

    def children_at(self, template: int) -> list[int]:
        if template not in self.counts:
            self.counts[template] = _children_at(self.program.templates[template])
        return self.counts[template]


def _packed(variable: Variable) -> Variable:
    cell = variable.type.cell if isinstance(variable.type, ArrayType) else variable.type
    bounds = _BOOLEAN if cell == "bool" else UNBOUNDED
    if any(not bounds.holds(value) for value in variable.initial):
        raise _CannotBeUnfolded
    return replace(variable, bounds=bounds)


def _children_at(template: Template) -> list[int]:
    """How many children a process of a template has at each of its points; -1 where it never comes."""
    found = [-1] * len(template.points)
    found[template.entry] = 0
    left = [template.entry]
    while left:
        number = left.pop()
        for edge in template.points[number].edges:
            children = found[number] + sum(isinstance(op, Spawn) for op in edge.block)
            if edge.target == template.end or found[edge.target] == children:
                continue
            if found[edge.target] >= 0:
                raise _CannotBeUnfolded
            found[edge.target] = children
            left.append(edge.target)
    return found


class _Rewriting:
    """The template of one instance; `children` are the instances that it may start."""

    def __init__(self, around: _Unfolding, instance: Instance) -> None:
        self.around, self.instance = around, instance
        self.old = around.program.templates[instance.template]
        self.names: Mapping[Var, Var] = {
            each.var: new for each, new in zip(self.old.variables, instance.variables, strict=True)
        }
        self.children: list[Instance] = []

    def template(self) -> Template:
        counts = self.around.children_at(self.instance.template)
        points = [self._point(number, counts[number]) for number in range(len(counts))]
        private = [
            replace(_packed(each), name=self.names[each.var].name)
            for each in self.old.variables
            if self.names[each.var].private
        ]
        return Template(self.old.name, self.old.place, points, self.old.entry, self.old.end, private)

    def _point(self, number: int, children: int) -> Point:
        point = self.old.points[number]
        if children < 0:
            return Point(point.place)
        edges = []
        for choice in point.choices:
            edges += [
                self._edge(edge, choice.edges[:place], number, children) for place, edge in enumerate(choice.edges)
            ]
        return Point(point.place, edges)

    def _edge(self, edge: Edge, before: Sequence[Edge], number: int, children: int) -> Edge:
        """An edge, given those of its choice that come before it: its guard is looked at where theirs have been
        and do not hold."""
        if edge.otherwise or edge.rank or edge.atomic or edge.d_step or edge.talk is not None:
            raise _CannotBeUnfolded
        if any(isinstance(op, Assert) or simplify(defined_op(op)) is not TRUE for op in edge.block[1:]):
            raise _CannotBeUnfolded
        guard = edge.guard
        if before and any(defined(each.guard) is not TRUE for each in (*before, edge)):
            guard = conj(*(part for each in before for part in (defined(each.guard), not_(each.guard))), guard)
        guard = self._expr(guard)
        if number == self.old.entry and self.instance.flag is not None:
            guard = conj(self.instance.flag, guard)
        return Edge(guard, tuple(self._block(edge.block, children)), edge.target, edge.place, edge.choice)

    def _block(self, block: Block, children: int) -> Iterator[Op]:
        for op in block:
            match op:
                case Assign(target=target, value=value):
                    yield from _assign(self._target(target), self._expr(value))
                case Assert(test=test):
                    yield replace(op, test=self._expr(test))
                case Forget(variables=variables):
                    yield Forget(tuple(self.names[each] for each in variables))
                case Spawn(copies=copies):
                    child = self.around.start(self.instance, op, children)
                    children += 1
                    self.children.append(child)
                    assert child.flag is not None
                    yield Assign(child.flag, TRUE, silent=True)
                    names = [each.var for each in self.around.program.templates[child.template].variables]
                    for target, value in copies:
                        yield from _assign(child.variables[names.index(target)], self._expr(value))
                case _:
                    raise _CannotBeUnfolded

    def _expr(self, expr: Expr) -> Expr:
        return substitute(expr, self.names)

    def _target(self, target: Target) -> Target:
        found = self._expr(target)
        assert isinstance(found, Var | Select)
        return found


def _assign(target: Target, value: Expr) -> Iterator[Assign]:
    """An assignment; that of a whole array cell by cell."""
    kind: Type = target.type
    if not isinstance(kind, ArrayType):
        yield Assign(target, value)
        return
    for number in range(kind.size):
        index = const(number)
        yield Assign(select(target, index), select(value, index))
