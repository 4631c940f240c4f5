"""Several choices of one process, as Promela's `do` has them, on program graphs made by Hypothesis."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import helpers
from helpers import Collecting, all_runs
from porcini.core.traces import independent
from porcini.engines.catalogue import ENGINES, Options
from porcini.ir.expr import TRUE, ArrayType, Expr, binary, const, disj, not_, select, var
from porcini.ir.flat.interpreter import FlatSystem
from porcini.ir.operations import Assert, Assign, Op
from porcini.ir.program import Edge, Point, Program, Template, Variable
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
def programs(draw: st.DrawFn) -> Program:
    """Two or three processes of one to three points; each point offers up to three choices, or an `else`."""
    templates: list[Template] = []
    for number in range(draw(st.integers(2, 3))):
        length = draw(st.integers(1, 3))
        points = [Point() for _ in range(length + 1)]
        templates.append(Template(f"p{number}", None, points, 0, length))
        for k in range(length):
            after = range(k + 1, length + 1)
            edges: list[Edge] = []
            count = draw(st.sampled_from([1, 2, 2, 3]))
            for choice in range(count):
                guard = draw(st.sampled_from(GUARDS))
                if choice and choice == count - 1 and draw(st.booleans()):
                    guard = not_(disj(*(edge.guard for edge in edges)))  # else
                target = draw(st.sampled_from(after))
                edges.append(Edge(guard, (draw(st.sampled_from(OPS)),), target, choice=choice))
            points[k].edges = edges
    variables = [
        Variable("a", A.type, (0, 1)),
        Variable("b", "bool", draw(st.booleans())),
        Variable("x", "int", 0),
        Variable("y", "int", draw(st.integers(0, 1))),
    ]
    return Program(variables, templates, list(range(len(templates))))


@settings(max_examples=PROGRAMS // 3, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_engines_agree_where_processes_choose(program: Program) -> None:
    engines_agree(program)


def test_old_choices_are_looked_at_again() -> None:
    """Three classes were lost when choices of old events were looked at only if something new conflicts."""

    def edge(guard: Expr, op: Op, target: int, choice: int = 0) -> Edge:
        return Edge(guard, (op,), target, choice=choice)

    increment, copy, negate, claim = OPS[0], OPS[2], OPS[3], OPS[6]
    one = [
        Point(None, [edge(TRUE, increment, 1), edge(TRUE, claim, 1, 1)]),
        Point(None, [edge(B, increment, 2)]),
        Point(None, [edge(TRUE, increment, 3)]),
        Point(),
    ]
    two = [
        Point(None, [edge(TRUE, increment, 1, choice) for choice in range(3)]),
        Point(None, [edge(TRUE, copy, 2), edge(TRUE, negate, 2, 1)]),
        Point(),
    ]
    variables = [
        Variable("a", A.type, (0, 1)),
        Variable("b", "bool", False),
        Variable("x", "int", 0),
        Variable("y", "int", 0),
    ]
    templates = [Template("p", None, one, 0, 3), Template("q", None, two, 0, 2)]
    engines_agree(Program(variables, templates, [0, 1]))


def engines_agree(program: Program) -> None:
    system = FlatSystem(program)
    found = helpers.engines_agree(system, ("optimal", "source", "dpor", "sleep"), 300)
    if found is None:
        return
    outcomes = found[1]
    for ample in ("closure", "single"):
        stats = Collecting()
        ENGINES["graph"](system, stats, Options(ample=ample))
        assert {(final.kind, str(final.state)) for _, final, _ in stats.runs} == outcomes


@settings(max_examples=PROGRAMS // 4, deadline=None, suppress_health_check=list(HealthCheck))
@given(programs())
def test_independent_neighbours_commute_where_processes_choose(program: Program) -> None:
    """A swapped pair is still enabled, by the same choices, and ends in the same state."""
    system = FlatSystem(program)
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
