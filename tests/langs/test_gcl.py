"""GCL piece by piece: what each construct does, and what is an event."""

from __future__ import annotations

import pytest

import porcini
from helpers import all_runs, system_of


def explored(source: str, **options) -> porcini.Report:
    return porcini.explore(porcini.loads(source), engine="exhaustive", **options)


def only(source: str) -> tuple[str, dict, list[str]]:
    """Kind, state and labels of a program with one interleaving."""
    ((trace, final, _),) = all_runs(system_of(source))
    return final.kind, dict(final.state), [f"{e.pid} {e.label}" for e in trace]


def test_silent_steps_are_no_events() -> None:
    kind, state, labels = only("x |-> 0, skip; {i |-> 3, skip; True |> x := i; skip}; skip")
    assert (kind, state, labels) == ("terminated", {"x": 3}, ["0 x := i"])


def test_a_guarded_skip_is_an_event() -> None:
    assert only("x |-> 1, x == 1 |> skip; x == 1 |> (skip; skip)")[2] == ["0 x == 1 |> skip"] * 2


def test_nothing_at_all_terminates() -> None:
    assert only("skip") == ("terminated", {}, [])


def test_a_nested_guard_belongs_to_the_first_event_only() -> None:
    source = "x |-> 0, y |-> 0, x == 0 |> (True |> x := 1; True |> y := 1)"
    assert only(source) == ("terminated", {"x": 1, "y": 1}, ["0 x == 0 |> x := 1", "0 y := 1"])


def test_loops() -> None:
    kind, state, labels = only("x |-> 0, x < 2 |>* x := x + 1")
    assert (kind, state["x"]) == ("terminated", 2)
    assert labels == ["0 x < 2 |> x := x + 1"] * 2 + ["0 not x < 2 |> skip"]


def test_a_loop_with_a_body_of_several_events() -> None:
    source = "x |-> 0, y |-> 0, x < 2 |>* (True |> x := x + 1; True |> y := y + x)"
    assert only(source)[1] == {"x": 2, "y": 3}


def test_locals_start_anew_in_each_round_and_shadow() -> None:
    source = "i |-> 5, x |-> 0, x < 2 |>* ({i |-> 0, True |> i := i + 1; True |> x := x + i}); True |> x := x + i"
    assert only(source)[1] == {"i": 5, "x": 7}


def test_a_spawned_statement_gets_a_copy_of_the_locals() -> None:
    source = """x |-> 0, y |-> 0, done |-> false,
        {i |-> 1, True |> i := 2;
         True |> spawn(True |> spawn(True |> x := i; True |> i := 9; True |> done := true));
         done |> y := i}"""
    assert only(source)[:2] == ("terminated", {"done": True, "x": 2, "y": 2})


def test_a_spawned_copy_of_a_local_array() -> None:
    source = "x |-> 0, {a |-> [1, 2], True |> a[0] := 7; True |> spawn(True |> x := a[0] + a[1])}"
    assert only(source)[1] == {"x": 9}
    assert {e.state["x"] for e in porcini.permute(porcini.loads(source)).traces} == {9}


def test_procedures_see_globals_and_recurse() -> None:
    source = "n |-> 3, x |-> 0, proc p { n > 0 |> n := n - 1; p() <| n > 0 |> x := 1 } True |> p()"
    assert only(source)[:2] == ("terminated", {"n": 0, "x": 1})


def test_choice_decides_by_the_state_and_is_no_choice_of_the_scheduler() -> None:
    report = porcini.run(porcini.loads("x |-> 0, x := 1 <| x == 1 |> x := 2"))
    assert porcini.show_schedule(report.outcomes[0].schedule) == "0"
    assert report.outcomes[0].state["x"] == 2


def test_deadlock_names_guard_and_values() -> None:
    report = explored("x |-> 3, a |-> [4, 5], {i |-> 1, x > 5 and a[i] > 0 |> skip}")
    (outcome,) = report.outcomes
    assert (report.verdict, report.property, outcome.kind) == ("violated", "deadlock-free", "deadlock")
    (waiting,) = outcome.waiting
    assert waiting.guard == "x > 5 and a[i] > 0"
    assert dict(waiting.values) == {"x": 3, "a": (4, 5), "i": 1}
    assert str(waiting.place) == "1:34"


def test_a_failed_assertion_stops_its_process_and_the_others_run_on() -> None:
    report = explored("x |-> 0, True |> spawn(True |> assert x > 0; True |> x := 5); True |> x := 2")
    assert {(o.kind, o.state["x"]) for o in report.outcomes} == {
        ("assertion", 2),
        ("terminated", 5),
    }


@pytest.mark.parametrize(
    "statement, message",
    [
        ("True |> x := 1 / (x - 3)", "division by zero"),
        ("x % 0 == 1 |> x := 1", "division by zero"),
        ("True |> x := a[x]", "index out of range"),
        ("True |> a[0 - 1] := 2", "index out of range"),
        ("a[x] == 0 |>* skip", "index out of range"),
        ("True |> assert a[5] == 0", "index out of range"),
        ("skip <| 1 / 0 == 1 |> skip", "division by zero"),
    ],
)
def test_run_time_errors_are_outcomes(statement: str, message: str) -> None:
    report = explored(f"x |-> 3, a |-> [0, 0], {statement}")
    (outcome,) = report.outcomes
    assert (outcome.kind, report.property) == ("error", "failure-free")
    (event,) = outcome.trace
    assert event.failure.message == message and event.failure.place is not None


def test_evaluation_stops_early() -> None:
    source = "x |-> 0, y |-> 1, x != 0 and y / x > 0 or y == 1 |> y := 2"
    assert only(source)[1]["y"] == 2


def test_reads_are_syntactic_and_cells_are_at_their_index() -> None:
    source = "x |-> 1, b |-> true, a |-> [0, 0, 0], b or a[x] == 0 |> a[x + 1] := a[0]"
    ((trace, _, _),) = all_runs(system_of(source))
    assert trace[0].footprint.reads == {"x", "b", "a[1]", "a[0]"}
    assert trace[0].footprint.writes == {"a[2]"}


def test_different_cells_do_not_interfere() -> None:
    source = "i |-> 0, j |-> 1, a |-> [0, 0], True |> spawn(True |> a[i] := 1); True |> a[j] := 2"
    report = explored(source)
    assert (report.counts.executions, report.counts.classes) == (2, 1)


def test_floor_division_and_modulo() -> None:
    assert only("x |-> 0, y |-> 0, True |> x := -7 / 2; True |> y := -7 % 3")[1] == {"x": -4, "y": 2}


def test_precedence_is_python_s() -> None:
    source = "x |-> 0, b |-> false, True |> x := 2 + 3 * -4 % 5 - 1; True |> b := not 1 + 1 == 2 or True and x < 9"
    assert only(source)[1] == {"x": 2 + 3 * -4 % 5 - 1, "b": True}


def test_unicode_and_ascii_are_one_language() -> None:
    ascii_ = (
        "x |-> 0, f |-> true, f and !(x < 1) || not f |>* x := x + 1; skip <| f && x <= 0 |> x := 1; f |> f := !f"
    )
    unicode = "x ↦ 0, f ↦ True, f ∧ ¬(x < 1) ∨ ¬f ▷* x := x + 1; skip ◁ f ∧ x ≤ 0 ▷ x := 1; f ▷ f := ¬f"
    assert only(ascii_) == only(unicode)


def test_integers_are_unbounded() -> None:
    doubled = "; ".join(["True |> x := x * x"] * 8)
    assert only(f"x |-> 10, {doubled}")[1]["x"] == 10 ** (2**8)


def test_inputs() -> None:
    model = porcini.loads("x |-> ?, b |-> ?bool, b |> x := x + 1")
    assert porcini.run(model, inputs={"x": 4, "b": True}).outcomes[0].state["x"] == 5
    for inputs, complaint in [
        ({}, "no value for input b, x"),
        ({"x": 1}, "no value for input b"),
        ({"x": True, "b": True}, "wants a number"),
        ({"x": 1, "b": 1}, "wants a boolean"),
        ({"x": 1, "b": True, "z": 1}, "not an input"),
    ]:
        with pytest.raises(porcini.InputError, match=complaint):
            porcini.run(model, inputs=inputs)


def test_ten_thousand_statements() -> None:
    model = porcini.loads("x |-> 0, " + ";\n".join(["True |> x := x + 1"] * 10_000))
    assert porcini.run(model).outcomes[0].state["x"] == 10_000


def test_ten_thousand_parentheses() -> None:
    assert only("x |-> 0, True |> x := " + "(" * 10_000 + "1" + ")" * 10_000)[1]["x"] == 1


def test_the_deepest_expression_that_is_allowed_runs() -> None:
    nested = "0"
    for _ in range(40):
        nested = f"a[{nested} + a[0]]"
    assert only(f"x |-> 1, a |-> [0, 1], True |> x := {nested}")[1]["x"] == 0


def test_a_state_is_the_same_however_it_was_reached() -> None:
    """Processes and locals that are done leave no trace in the state."""
    source = """x |-> 0, y |-> 0,
        True |> spawn({i |-> 0, True |> i := x; True |> skip});
        True |> spawn({k |-> 0, True |> k := y; True |> spawn(k == k |> skip)});
        True |> spawn(True |> skip)"""
    system = system_of(source)
    ends = set()
    for trace, _, _ in all_runs(system, 5000):
        state = system.initial()
        for event in trace:
            action = next(a for a in system.actions(state) if a.move == event.move)
            state, _ = system.fire(state, action)
        ends.add(state)
    assert len(ends) == 1
