"""Several choices of one process, as Promela's `do` has them, on program graphs made by Hypothesis."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import helpers
from helpers import Collecting, all_runs
from porcini.core.traces import independent
from porcini.engines.catalogue import ENGINES, Options
from porcini.ir.expr import TRUE, ArrayType, Expr, binary, const, disj, not_, select, var
from porcini.ir.frames import ENDED, FIRST_POINT
from porcini.ir.graph import Assert, Assign, Edge, Graph, Op, Point, Template, Variable
from porcini.ir.interpreter import GraphSystem
from strategies import PROGRAMS

X, Y, B, A = var("x", "int"), var("y", "int"), var("b", "bool"), var("a", ArrayType("int", 2))
GUARDS: list[Expr] = [
    TRUE,
    B,
    not_(B),
    binary("==", X, const(0)),
    binary("<", X, const(2)),
    binary("==", X, Y),
    binary(">", select(A, binary("%", X, const(2))), const(0)),
]
OPS: list[Op] = [
    Assign(X, binary("+", X, const(1))),
    Assign(X, const(0)),
    Assign(Y, X),
    Assign(B, not_(B)),
    Assign(B, binary("==", X, const(1))),
    Assign(select(A, binary("%", Y, const(2))), X),
    Assert(binary("<", X, const(2))),
]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    """Two or three processes of one to three points; each point offers up to three choices, or an `else`."""
    points = [Point(0, ()) for _ in range(FIRST_POINT)]
    templates: list[Template] = []
    for number in range(draw(st.integers(2, 3))):
        length = draw(st.integers(1, 3))
        first = len(points)
        templates.append(Template(f"p{number}", first))
        for k in range(length):
            after = [*range(first + k + 1, first + length), ENDED]
            edges: list[Edge] = []
            count = draw(st.sampled_from([1, 2, 2, 3]))
            for choice in range(count):
                guard = draw(st.sampled_from(GUARDS))
                if choice and choice == count - 1 and draw(st.booleans()):
                    guard = not_(disj(*(edge.guard for edge in edges)))  # else
                target = draw(st.sampled_from(after))
                edges.append(Edge(guard, (draw(st.sampled_from(OPS)),), target, choice=choice))
            points.append(Point(number, tuple(edges)))
    variables = (
        Variable("a", A.type, (0, 1)),
        Variable("b", "bool", draw(st.booleans())),
        Variable("x", "int", 0),
        Variable("y", "int", draw(st.integers(0, 1))),
    )
    return Graph(variables, tuple(templates), tuple(points), tuple(range(len(templates))))


@settings(max_examples=PROGRAMS // 3, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs())
def test_engines_agree_where_processes_choose(graph: Graph) -> None:
    engines_agree(graph)


def test_old_choices_are_looked_at_again() -> None:
    """Three classes were lost when choices of old events were looked at only if something new conflicts."""

    def edge(guard: Expr, op: Op, target: int, choice: int = 0) -> Edge:
        return Edge(guard, (op,), target, choice=choice)

    increment, copy, negate, claim = OPS[0], OPS[2], OPS[3], OPS[6]
    points = [
        *(Point(0, ()) for _ in range(FIRST_POINT)),
        Point(0, (edge(TRUE, increment, 4), edge(TRUE, claim, 4, 1))),
        Point(0, (edge(B, increment, 5),)),
        Point(0, (edge(TRUE, increment, ENDED),)),
        Point(1, tuple(edge(TRUE, increment, 7, choice) for choice in range(3))),
        Point(1, (edge(TRUE, copy, ENDED), edge(TRUE, negate, ENDED, 1))),
    ]
    variables = (
        Variable("a", A.type, (0, 1)),
        Variable("b", "bool", False),
        Variable("x", "int", 0),
        Variable("y", "int", 0),
    )
    engines_agree(Graph(variables, (Template("p", 3), Template("q", 6)), tuple(points), (0, 1)))


def engines_agree(graph: Graph) -> None:
    system = GraphSystem(graph)
    found = helpers.engines_agree(system, ("optimal", "source", "dpor", "sleep"), 300)
    if found is None:
        return
    outcomes = found[1]
    for ample in ("closure", "single"):
        stats = Collecting()
        ENGINES["graph"](system, stats, Options(ample=ample))
        assert {(final.kind, str(final.state)) for _, final, _ in stats.runs} == outcomes


@settings(max_examples=PROGRAMS // 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(graphs())
def test_independent_neighbours_commute_where_processes_choose(graph: Graph) -> None:
    """A swapped pair is still enabled, by the same choices, and ends in the same state."""
    system = GraphSystem(graph)
    for trace, _, _ in all_runs(system, 30) or ():
        state = system.initial()
        for k in range(len(trace) - 1):
            if independent(trace[k], trace[k + 1]):
                ends = []
                for pair in ((trace[k], trace[k + 1]), (trace[k + 1], trace[k])):
                    now = state
                    for event in pair:
                        (action,) = [a for a in system.actions(now) if a.move == event.move]
                        assert action.enabled
                        now, _ = system.fire(now, action)
                    ends.append(now)
                assert ends[0] == ends[1]
            (action,) = [a for a in system.actions(state) if a.move == trace[k].move]
            state, _ = system.fire(state, action)
