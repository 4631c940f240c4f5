"""What a choice or an edge reads and writes, as far as that is known before it runs.

Reads are syntactic: every variable of the guard and of what the block evaluates, whether evaluation stops
early or not. A cell `a[e]` is the cell at the current value of `e`; where `e` may change within the block,
it is the whole array. Private variables are not locations: no other process can access them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from porcini.core.footprints import Footprint, Location
from porcini.ir.expr import ArrayType, Const, Expr, Select, Var, free, nodes
from porcini.ir.operations import Assign, reads_of, variable_of
from porcini.ir.program import Choice, Edge


@dataclass(frozen=True, slots=True)
class Touched:
    """The locations known at compile time, and the cells whose index is known only in a state."""

    fixed: Footprint
    read_cells: tuple[Select, ...]
    written_cells: tuple[Select, ...]

    def __or__(self, other: Touched) -> Touched:
        return Touched(
            self.fixed | other.fixed,
            tuple(dict.fromkeys(self.read_cells + other.read_cells)),
            tuple(dict.fromkeys(self.written_cells + other.written_cells)),
        )


def cell(array: str, i: int) -> Location:
    return Location(f"{array}[{i}]")


def locations(variable: Var) -> list[Location]:
    """A variable's location, or those of all cells of an array."""
    if isinstance(variable.type, ArrayType):
        return [cell(variable.name, i) for i in range(variable.type.size)]
    return [Location(variable.name)]


def of_edge(edge: Edge) -> Touched:
    """What taking an edge touches."""
    read = [edge.guard]
    targets: list[Var | Select] = []
    changed: set[Var] = set()  # by earlier operations of the block
    unstable: set[Expr] = set()  # cells whose index these operations may change
    for op in edge.block:
        exprs = reads_of(op)
        read += exprs
        here = [node for expr in exprs for node in nodes(expr)]
        if isinstance(op, Assign):
            targets.append(op.target)
            here.append(op.target)
        unstable.update(n for n in here if isinstance(n, Select) and free(n.index) & changed)
        if isinstance(op, Assign):
            changed.add(variable_of(op.target))
    return _touched(read, targets, unstable)


def of_guards(choice: Choice) -> Touched:
    """What deciding a choice reads."""
    return _touched([edge.guard for edge in choice.edges], [], set())


def of_decision(choice: Choice) -> Touched:
    """What determines whether a process can move, by which edge, and which cells that edge accesses."""
    guards = [edge.guard for edge in choice.edges]
    indices = [
        node.index
        for edge in choice.edges
        for op in edge.block
        for expr in (*reads_of(op), *((op.target,) if isinstance(op, Assign) else ()))
        for node in nodes(expr)
        if isinstance(node, Select) and not variable_of(node).private
    ]
    shared: set[Expr] = {
        node
        for expr in (*guards, *indices)
        for node in nodes(expr)
        if isinstance(node, Select) and not all(v.private for v in free(node.index))
    }
    return _touched([*guards, *indices], [], shared)


def static(touched: Touched) -> Footprint:
    """A footprint for every state: a cell whose index is not known counts as its whole array."""
    reads = touched.fixed.reads.union(*(locations(variable_of(c)) for c in touched.read_cells))
    writes = touched.fixed.writes.union(*(locations(variable_of(c)) for c in touched.written_cells))
    return Footprint(reads, writes)


def _touched(read: Sequence[Expr], targets: Iterable[Var | Select], unstable: set[Expr]) -> Touched:
    reads: set[Location] = set()
    writes: set[Location] = set()
    read_cells: dict[Select, None] = {}
    written_cells: dict[Select, None] = {}
    for expr in read:
        _place(expr, reads, read_cells, unstable)
    for target in targets:
        if isinstance(target, Var):
            if not target.private:
                writes.update(locations(target))
        else:
            _place_cell(target, writes, written_cells, unstable)
    return Touched(Footprint(frozenset(reads), frozenset(writes)), tuple(read_cells), tuple(written_cells))


def _place(expr: Expr, into: set[Location], cells: dict[Select, None], unstable: set[Expr]) -> None:
    for node in nodes(expr):
        if isinstance(node, Select):
            _place_cell(node, into, cells, unstable)
        elif isinstance(node, Var) and not isinstance(node.type, ArrayType) and not node.private:
            into.add(Location(node.name))


def _place_cell(node: Select, into: set[Location], cells: dict[Select, None], unstable: set[Expr]) -> None:
    array = variable_of(node)
    if array.private:
        return
    if node in unstable:
        into.update(locations(array))
    elif isinstance(node.index, Const):
        assert isinstance(array.type, ArrayType)
        if 0 <= node.index.value < array.type.size:
            into.add(cell(array.name, int(node.index.value)))
    else:
        cells[node] = None
