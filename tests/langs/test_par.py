"""The parallel language: what parses, what is an event, how `||` starts and ends, what is an input."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import porcini
from helpers import all_runs, class_of, engines_agree
from porcini import InputError
from porcini.ir.analysis.numbering import Numbering
from porcini.ir.flat.interpreter import FlatSystem
from porcini.ir.program import Program
from porcini.ir.text import show
from porcini.langs import par
from porcini.langs.par import syntax as ast
from porcini.langs.par.parser import DEEPEST_EXPRESSION, parse

ENGINES = ("optimal", "source", "dpor", "sleep")
EXAMPLES = Path(__file__).parents[2] / "examples" / "par"
EXAMPLE_2_9 = (EXAMPLES / "example_2_9.par").read_text(encoding="utf-8")


def graph_of(source: str) -> Program:
    return par.load(source, "test.par")


def system_of(source: str, **inputs: int) -> FlatSystem:
    graph = graph_of(source)
    assert graph.inputs.keys() == inputs.keys(), graph.inputs
    return FlatSystem(graph.with_inputs(inputs))


def model_of(source: str) -> porcini.Model:
    return porcini.loads(source, "par", "test.par")


def seen(state) -> dict:
    """A state without the hidden flags."""
    return {name: value for name, value in state.items() if "#" not in name}


def runs_of(source: str, **inputs: int) -> list[tuple[list[str], dict]]:
    runs = all_runs(system_of(source, **inputs))
    assert runs is not None and all(final.kind == "terminated" for _, final, _ in runs)
    return [([str(event.pid) for event in trace], seen(final.state)) for trace, final, _ in runs]


def counts_of(source: str, **inputs: int) -> tuple[int, int]:
    """Interleavings and classes; the engines agree on the latter."""
    system = system_of(source, **inputs)
    agreed = engines_agree(system, ENGINES, 5000)
    assert agreed is not None
    return len(all_runs(system, 5000)), len(agreed[0])


# Parsing


def shape(statement: ast.Statement) -> object:
    match statement:
        case ast.Skip():
            return "skip"
        case ast.Assignment(target=target, value=value):
            return f"{show(target)} := {show(value)}"
        case ast.Conditional(guard=guard, then=then, other=other):
            return ("if", show(guard), shape(then), shape(other))
        case ast.Loop(guard=guard, body=body):
            return ("while", show(guard), shape(body))
        case ast.Sequence(parts=parts):
            return (";", *map(shape, parts))
        case ast.Parallel(parts=parts):
            return ("||", *map(shape, parts))


A, B, C, D = "a := 1", "b := 1", "c := 1", "d := 1"


@pytest.mark.parametrize(
    "source, expected",
    [
        (f"{A}; {B} || {C}; {D}", ("||", (";", A, B), (";", C, D))),
        (f"{A}; ({B} || {C}); {D}", (";", A, ("||", B, C), D)),
        (f"({A} || {B}) || {C}", ("||", A, B, C)),
        (f"{A} ∥ ({B} ‖ {C})", ("||", A, B, C)),
        (f"{A}; ({B}; {C}); {D}", (";", A, B, C, D)),
        (f"skip; {A}; skip || skip", A),
        ("skip || (skip; skip)", "skip"),
        (f"if a < 1 {{{A}}} {{skip}}", ("if", "a < 1", A, "skip")),
        (f"if a < 1 {{{A}}} else {{{B} || {C}}}", ("if", "a < 1", A, ("||", B, C))),
        (f"while (a) < 1 {{{A}; {B}}}; {C}", (";", ("while", "a < 1", (";", A, B)), C)),
        ("iffy := whiled + 1 // a comment\n", "iffy := whiled + 1"),
    ],
)
def test_statements(source: str, expected: object) -> None:
    assert shape(parse(source, "test.par")) == expected


@pytest.mark.parametrize(
    "text, expected",
    [
        ("x ≤ 1 ∧ y ≥ 2 ∨ ¬ z ≠ 3", "x <= 1 and y >= 2 or not z != 3"),
        ("x <= 1 && !y < 2 or z > 1 and true", "x <= 1 and not y < 2 or z > 1"),
        ("not x < 1 == y < 1", None),
        ("(x < 1) == (y < 1)", "(x < 1) == (y < 1)"),
        ("x - 1 - 2 * y + (3 - z) * -x == −4", "x - 1 - 2 * y + (3 - z) * -x == -4"),
        ("x != 1 or (x > 1 or false)", "x != 1 or x > 1"),
        ("True and False", "False"),
    ],
)
def test_expressions(text: str, expected: str | None) -> None:
    source = f"if {text} {{skip}} {{skip}}"
    if expected is None:  # comparisons do not chain
        with pytest.raises(InputError):
            parse(source, "test.par")
        return
    assert shape(parse(source, "test.par")) == ("if", expected, "skip", "skip")


@pytest.mark.parametrize(
    "source, place, message, hint",
    [
        ("", None, "the file is empty", "skip"),
        ("x := 1;", "1:8", "unexpected end of file", "skip"),
        ("x := 1;\n  y = 2", "2:5", "unexpected '='", ":="),
        ("if x {skip} {skip}", "1:4", "expected a boolean, found a number", "x != 0"),
        ("while not (x + 1) {skip}", "1:11", "expected a boolean, found a number", None),
        ("x := true", "1:6", "expected a number, found a boolean", None),
        ("x := 1 + (y < 2)", "1:10", "expected a number, found a boolean", None),
        ("x := 1; y := (2 < 1) * 3", "1:14", "expected a number, found a boolean", None),
        ("if x < 1 and y {skip} {skip}", "1:14", "expected a boolean, found a number", "x != 0"),
        ("if (x < 1) == y {skip} {skip}", "1:15", "expected a boolean, found a number", "x != 0"),
        ("if x < 1 {y := 2}", "1:18", "unexpected end of file", "two branches"),
        ("if x < 1 {y := 2}; y := 1", "1:18", "unexpected ';'", "two branches"),
        ("if x < 1 {} {skip}", "1:11", "unexpected '}'", "skip"),
        ("if x < 1 || y < 1 {skip} {skip}", "1:10", "unexpected '||'", "`or`"),
        ("if x < 1 | y < 1 {skip} {skip}", "1:10", "unexpected '|'", "`or`"),
        ("x := y / 2", "1:8", "unexpected '/'", "no division"),
        ("x := 1 || y", "1:12", "unexpected end of file", ":="),
        ("x := 1 y := 2", "1:8", "unexpected 'y'", None),
        ("(x := 1", "1:8", "unexpected end of file", None),
        ("skip := 1", "1:6", "unexpected ':='", None),
        ("x := 1 \x01", "1:8", "unexpected character U+0001", None),
        (f"x := {'9' * 5000}", "1:6", "number of 5000 digits", None),
        (f"x := {'-' * 95}y", "1:11", "expression nested more than 90 deep", None),
        ("while x < 1 {" * 110 + "x := 1" + "}" * 110, "1:131", "statement nested more than 100 deep", None),
    ],
)
def test_errors(source: str, place: str | None, message: str, hint: str | None) -> None:
    with pytest.raises(InputError) as caught:
        par.load(source, "test.par")
    problem = caught.value
    assert message in problem.message and problem.file == "test.par"
    assert (str(problem.place) if problem.place else None) == place
    assert hint is None or hint in (problem.hint or "")


def test_what_nests_deep_runs() -> None:
    x = "x := 1"
    for depth in range(24):
        x = f"if y < {depth} {{{x} || z := {depth}}} {{skip}}"
        x = f"(({x}) || x := {depth})"
    system = system_of(f"y := {0}; ({x}; {x}); z := 5; {x}")
    run = system.start()
    while actions := [action for action in run.actions() if action.enabled]:
        run.step(actions[0])
    assert run.final().kind == "terminated"
    plus = "-(" * (DEEPEST_EXPRESSION - 1) + "y" + ")" * (DEEPEST_EXPRESSION - 1)
    assert runs_of(f"x := {plus}", y=3) == [(["0"], {"x": -3, "y": 3})]
    assert runs_of(f"x := {'(' * 500}y{')' * 500}", y=3) == [(["0"], {"x": 3, "y": 3})]


# Inputs


@pytest.mark.parametrize(
    "source, inputs",
    [
        ("x := 1; y := x", ""),
        ("y := x; x := 1", "x"),
        ("x := x + 1", "x"),
        ("x := 1 || y := x", "x"),
        ("x := 1; (y := x || z := x)", ""),
        ("(x := 1 || y := 1); z := x + y", ""),
        ("(if a < 1 {x := 1; y := 1} {x := 2}); z := x + y", "a y"),
        ("while x < 1 {x := 1}", "x"),
        ("i := 0; while i < 1 {x := 1; i := i + x}; y := x", "x"),
        ("i := 0; while i < 1 {y := x; x := 1; i := 1}", "x"),
        ("(x := 1; (y := x || z := y)) || w := 1", "y"),
        ("((x := 1 || y := 1); z := x) || w := y", "y"),
    ],
)
def test_inputs(source: str, inputs: str) -> None:
    graph = graph_of(source)
    assert sorted(graph.inputs) == inputs.split() and set(graph.inputs.values()) <= {"int"}
    assert all(v.value in (None, 0) for v in graph.variables)


def test_variables_come_in_the_order_of_the_text() -> None:
    graph = graph_of("(c := b || a := 1); d := 2")
    assert [v.name for v in graph.variables if "#" not in v.name] == ["c", "b", "a", "d"]


# Events


def test_example_2_9() -> None:
    classes = set()
    for x in (0, 5):
        assert counts_of(EXAMPLE_2_9, x=x) == (12, 4)
        for trace, final, _ in all_runs(system_of(EXAMPLE_2_9, x=x)):
            assert len(trace) == 4 and final.state["x"] == 3
            classes.add(class_of(trace))
    # The guard before x := 3 with either outcome, or after it, when it fails; y := 1 before or after the other.
    assert len(classes) == 6


def test_the_papers_other_counts() -> None:
    assert counts_of("Y:=X || Z:=X || X:=2", X=0) == (6, 4)
    assert counts_of("(X:=1;Y:=1) || Y:=2 || X:=2") == (12, 4)


@pytest.mark.parametrize(
    "source, counts",
    [
        ("skip", (1, 1)),
        ("a := 1; skip; b := a", (1, 1)),
        ("(a := 1 || b := 1); c := 1", (2, 1)),
        ("(a := 1 || b := 1); (c := 1 || d := 1)", (4, 1)),
        ("(a := 1 || b := 1); (c := 1 || d := 1); e := 1", (4, 1)),
        ("a := 1; ((b := 1 || c := 1); d := 1 || e := 1); f := 1", (2 * 4, 1)),
        ("((a := 1 || b := 1) || c := 1); d := 1", (6, 1)),
        ("(skip || a := 1 || skip); (skip || skip); b := 1", (1, 1)),
        ("(if 0 < 1 {a := 1 || b := 1} {skip} || c := 1); d := 1", (2 * 4, 1)),
        ("(a := 1; b := 1) || (a := 2; b := 2)", (6, 4)),
        ("i := 0; while i < 2 {(a := i || b := i); i := i + 1}", (4, 1)),
        ("i := 0; while i < 2 {a := 1 || i := i + 1}", (4, 1)),
        ("i := 0; while i < 2 {(a := 1 || b := 1); (c := a || i := i + 1)}", (16, 1)),
    ],
)
def test_only_assignments_and_guards_are_events(source: str, counts: tuple[int, int]) -> None:
    assert counts_of(source) == counts


def test_flags_of_the_round_before_do_not_count() -> None:
    """The first branch ends in a `||` in the first round and in a step of its own in the second."""
    source = """i := 0; a := 0; b := 0;
        while i < 2 {
            ((if i == 0 {a := 1 || b := 1} {a := 2; b := 2}) || c := i);
            d := a * b; i := i + 1
        }"""
    assert {state["d"] for _, state in runs_of(source)} == {4}


def test_places_and_labels() -> None:
    source = "x := 1;\nif x <= 1\n  {y := 2}\n  {skip}"
    ((trace, _, _),) = all_runs(system_of(source))
    assert [str(event.label) for event in trace] == ["x := 1", "x <= 1 |> skip", "y := 2"]
    graph = Numbering(graph_of(source))
    assert [str(point.place) for point in graph.points[3:]] == ["1:1", "2:1", "3:4"]
    assert [[str(edge.place) for edge in point.edges] for point in graph.points[3:]] == [
        ["1:1"],
        ["2:1"] * 2,
        ["3:4"],
    ]
    assert all(len(point.choices) <= 1 for point in graph.points)


@pytest.mark.parametrize(
    "source, pids",
    [
        ("a := 1", "0"),
        ("a := 1 || b := 1 || c := 1", "0 1 2"),
        ("(a := 1 || b := 1); d := 1", "1 2 0"),
        ("(a := 1 || b := 1); (c := 1 || d := 1)", "0 1 2 3"),
        ("a := 1; (b := 1 || c := 1); d := 1", "0 0.0 0.1 0"),
        ("a := 1; (b := 1 || (c := 1; d := 1 || e := 1))", "0 0.0 0.1 0.1 0.2"),
        ("i := 0; while i < 2 {a := 1 || i := i + 1}", "0 0 0.0 0.1 0 0.2 0.3 0"),
    ],
)
def test_names_of_processes(source: str, pids: str) -> None:
    assert pids.split() in [order for order, _ in runs_of(source)]


def test_hidden_variables_cannot_clash() -> None:
    graph = graph_of("(done := 1 || done1 := 2); b := done")
    hidden = [variable for variable in graph.variables if "#" in variable.name]
    assert [(v.name, v.type, v.value) for v in hidden] == [("done#1", "bool", False), ("done#2", "bool", False)]


def test_no_flags_where_nobody_waits() -> None:
    for source in (EXAMPLE_2_9, "a := 1; (b := 1 || (c := 1 || d := 1; e := 1))", "(skip || a := 1); b := 1"):
        assert not any("#" in variable.name for variable in graph_of(source).variables)


def test_permuting_one_run_finds_all_classes() -> None:
    source = "a := 0; (a := a + 1 || a := a * 2); (b := a || c := a)"
    assert len(porcini.permute(model_of(source)).traces) == counts_of(source)[1] == 2


def test_examples() -> None:
    withdrawals = EXAMPLES / "withdrawals.par"
    for balance, outcomes in ((40, 1), (60, 1), (79, 1), (80, 3), (129, 3), (130, 1)):
        report = porcini.explore(model_of(withdrawals.read_text(encoding="utf-8")), inputs={"balance": balance})
        assert len(report.outcomes) == outcomes, balance
    phases = model_of((EXAMPLES / "phases.par").read_text(encoding="utf-8"))
    report = porcini.explore(phases, inputs={"a": 1, "b": 2})
    assert (report.verdict, report.counts.classes) == ("holds", 1)
    assert seen(report.outcomes[0].state) == {"a": 6, "b": 6, "left": 3, "right": 3, "round": 2}


# Against the paper's rules, written down once more


def rendered(s: tuple) -> str:
    match s:
        case ("skip",):
            return "skip"
        case (":=", x, e):
            return f"{x} := {e}"
        case (";" | "||" as op, one, two):
            return f"({rendered(one)} {op} {rendered(two)})"
        case ("if", b, one, two):
            return f"if {b} {{{rendered(one)}}} {{{rendered(two)}}}"
        case ("while", b, body):
            return f"while {b} {{{rendered(body)}}}"
    raise AssertionError(s)


# Each event has the path to its statement: `p` leads into a branch of `||`, other letters order what they lead to.
def placed(s: tuple, path: tuple = ()) -> tuple:
    match s:
        case (";" | "||" as op, one, two):
            kind = "p" if op == "||" else "s"
            return (op, placed(one, (*path, (kind, 0))), placed(two, (*path, (kind, 1))))
        case ("if", b, one, two):
            return ("if", b, placed(one, (*path, ("b", 1))), placed(two, (*path, ("b", 2))), (*path, ("b", 0)))
        case ("while", b, body):
            return ("while", b, body, path, 0)
        case (":=", x, e):
            return (":=", x, e, path)
    return s


def steps(s: tuple, store: dict) -> Iterator[tuple[tuple, dict, tuple]]:
    """Fig. 3, with what rules C-SEQ and C-PAR take away taken away at once: (rest, store, event)."""
    match s:
        case (":=", x, e, path):
            yield ("skip",), store | {x: eval(e, {}, store)}, (path, x, e)
        case ("if", b, one, two, path):
            holds = eval(b, {}, store)
            yield (one if holds else two), store, (path, holds, b)
        case ("while", b, body, path, n):
            holds = eval(b, {}, store)
            again = (";", placed(body, (*path, ("w", 2 * n + 1))), ("while", b, body, path, n + 1))
            yield (again if holds else ("skip",)), store, ((*path, ("w", 2 * n)), holds, b)
        case (";", one, two):
            for rest, after, event in steps(one, store):
                yield (";", rest, two), after, event
        case ("||", one, two):
            for rest, after, event in steps(one, store):
                yield ("||", rest, two), after, event
            for rest, after, event in steps(two, store):
                yield ("||", one, rest), after, event


def tidy(s: tuple) -> tuple:
    match s:
        case (";", one, two):
            one = tidy(one)
            return tidy(two) if one == ("skip",) else (";", one, two)
        case ("||", one, two):
            one, two = tidy(one), tidy(two)
            return ("skip",) if one == two == ("skip",) else ("||", one, two)
    return s


class TooMany(Exception):
    pass


def traces(program: tuple, store: dict, most: int, longest: int) -> list[tuple[tuple, dict]]:
    found: list[tuple[tuple, dict]] = []
    left = [(tidy(placed(program)), store, ())]
    while left:
        s, now, trace = left.pop()
        if s == ("skip",):
            found.append((trace, now))
        if len(found) > most or len(trace) > longest:
            raise TooMany
        for rest, after, event in steps(s, now):
            left.append((tidy(rest), after, (*trace, event)))
    return found


def dependent(one: tuple, two: tuple) -> bool:
    for a, b in zip(one[0], two[0], strict=False):
        if a != b:
            if a[0] != "p" or b[0] != "p":
                return True
            break
    writes = [{event[1]} - {True, False} for event in (one, two)]
    reads = [{name for name in NAMES if name in event[2]} for event in (one, two)]
    return bool(writes[0] & (writes[1] | reads[1]) or writes[1] & reads[0])


def reference_class(trace: tuple) -> tuple:
    pairs = {(a, b) for i, a in enumerate(trace) for b in trace[i + 1 :] if dependent(a, b)}
    return frozenset(trace), frozenset(pairs)


NAMES = ("x", "y", "z", "i", "j")
VALUES = st.sampled_from(["0", "1", "2", "x", "y", "x + 1", "y - x", "2 * z", "z"])
TESTS = st.sampled_from(
    ["x < 1", "y == x", "z != 0", "not (x <= y)", "x > 0 and y > 0", "z >= 1 or y < 0", "True"]
)


@st.composite
def programs(draw: st.DrawFn) -> tuple:
    left, loops = draw(st.integers(1, 7)), 0

    def statement(depth: int) -> tuple:
        nonlocal left, loops
        kinds = [":=", ":=", "skip"] + [";", "||", "||", ";", "if", "while", "loop"] * (depth < 5 and left > 0)
        kind = draw(st.sampled_from(kinds)) if depth else draw(st.sampled_from([";", "||", "while"]))
        match kind:
            case ":=":
                left -= 1
                return (":=", draw(st.sampled_from("xyz")), draw(VALUES))
            case ";" | "||":
                return (kind, statement(depth + 1), statement(depth + 1))
            case "if":
                left -= 1
                return ("if", draw(TESTS), statement(depth + 1), statement(depth + 1))
            case "loop":
                left -= 2
                return ("while", draw(TESTS), statement(depth + 1))
            case "while" if loops < 2:
                left -= 3
                name = "ij"[loops]
                loops += 1
                count = (":=", name, f"{name} + 1")
                parts = [statement(depth + 1), count]
                body = (draw(st.sampled_from([";", "||"])), *(parts if draw(st.booleans()) else reversed(parts)))
                loop = ("while", f"{name} < 2", body)
                return (";", (":=", name, "0"), loop) if draw(st.booleans()) else loop
        return ("skip",)

    return statement(0)


MOST, LONGEST = 400, 16


@settings(
    max_examples=400, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow]
)
@given(programs(), st.integers(-1, 2))
def test_as_the_paper_says(program: tuple, value: int) -> None:
    source = rendered(program)
    graph = graph_of(source)
    names = [variable.name for variable in graph.variables if "#" not in variable.name]
    start = {name: value if name in graph.inputs else 0 for name in names}
    try:
        expected = traces(program, start, MOST, LONGEST)
    except TooMany:
        assume(False)
    system = FlatSystem(graph.with_inputs(dict.fromkeys(graph.inputs, value)))
    agreed = engines_agree(system, ENGINES, MOST)
    assert agreed is not None
    runs = all_runs(system, MOST)
    assert len(runs) == len(expected)
    assert all(final.kind == "terminated" for _, final, _ in runs)
    outcomes = sorted((len(trace), sorted(seen(final.state).items())) for trace, final, _ in runs)
    assert outcomes == sorted((len(trace), sorted(final.items())) for trace, final in expected)
    assert len(agreed[0]) == len({reference_class(trace) for trace, _ in expected})
    # What is not an input does not matter: all runs do the same whatever it is before.
    other = traces(program, {name: value if name in graph.inputs else 77 for name in names}, MOST, LONGEST)
    assert [trace for trace, _ in other] == [trace for trace, _ in expected]
