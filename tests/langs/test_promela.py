"""What Promela means, in small models; where SPIN 6.5.2 could be asked, it says the same."""

from __future__ import annotations

from pathlib import Path

import pytest

import porcini
from porcini import Report
from porcini.core.errors import InputError
from porcini.engines.catalogue import Options

PLAIN = Options(reduction="none", optimise=False)


def checked(source: str, **how: object) -> Report:
    return porcini.check(porcini.loads(source, "pml"), **how)


def only(source: str) -> dict[str, object]:
    """The final state of a model that has one way to end, which is a good one; by both kinds of search."""
    model = porcini.loads(source, "pml")
    (outcome,) = porcini.check(model).outcomes
    (explored,) = porcini.explore(model).outcomes
    assert outcome.kind == explored.kind == "terminated"
    assert dict(outcome.state) == dict(explored.state)
    return dict(outcome.state)


def ends(source: str, *names: str) -> set[tuple[object, ...]]:
    """How a model can end: the kind, then the values of some variables; by both kinds of search."""
    model = porcini.loads(source, "pml")
    found = [
        {(outcome.kind, *(outcome.state[name] for name in names)) for outcome in report.outcomes}
        for report in (porcini.check(model), porcini.explore(model))
    ]
    assert found[0] == found[1]
    return found[0]


def failure(source: str) -> str:
    """What the only run of a model fails with."""
    (outcome,) = checked(source).outcomes
    (event,) = [event for event in outcome.trace if event.failure]
    assert event.failure is not None and event.failure.kind == outcome.kind == "error"
    return event.failure.message


def holds(source: str, formula: str, **how: object) -> bool:
    report = checked(source, ltl=formula, **how)
    assert report.verdict in ("holds", "violated")
    return report.verdict == "holds"


def error(source: str) -> str:
    with pytest.raises(InputError) as caught:
        porcini.loads(source, "pml")
    return str(caught.value)


# Values


@pytest.mark.parametrize(
    "declared, value, wrapped",
    [
        ("byte x", "256", 0),
        ("byte x", "-1", 255),
        ("bit x", "2", 0),
        ("bool x", "3", True),
        ("short x", "32768", -32768),
        ("short x", "-32769", 32767),
        ("unsigned x : 3", "8", 0),
        ("unsigned x : 3", "-1", 7),
        ("int x", "2147483647 + 1", -2147483648),
        ("pid x", "300", 44),
        ("byte x[2]", "1", (0, 1)),
    ],
)
def test_values_wrap_around_and_it_is_said(declared: str, value: str, wrapped: object) -> None:
    cell = "x[1]" if "[" in declared else "x"
    report = checked(f"{declared}; init {{ {cell} = {value} }}")
    assert report.outcomes[0].state["x"] == wrapped
    said = ("a value did not fit `x` and was wrapped around",)
    assert report.notes == (() if "[" in declared else said)


def test_initial_values_and_messages_wrap_too() -> None:
    report = checked("byte x = 257, y; chan c = [1] of { byte }; init { c!258; c?y }")
    assert (report.outcomes[0].state["x"], report.outcomes[0].state["y"]) == (1, 2)
    assert any("`x`" in note for note in report.notes) and any("c" in note for note in report.notes)


def test_mtypes_are_printed_by_name_and_count_from_the_last() -> None:
    source = """mtype = { red, green, blue }; mtype m, n[2] = green, none
init { m = red; assert(red == 3 && blue == 1) }"""
    assert only(source) == {"m": "red", "n": ("green", "green"), "none": 0}


def test_mtypes_and_bools_in_channels_are_printed_by_name() -> None:
    source = "mtype = { red, green }; chan c = [2] of { mtype, bool }; init { c!red(true) }"
    assert only(source) == {"c": (("red", True),)}


def test_arithmetic_is_that_of_c() -> None:
    source = """int a, b, c, d, e; byte t = 1
init { a = -7 / 2; b = -7 % 3; c = 1 << 4 | 3 ^ 1 & 5; d = (t == 1 -> 7 : 9); e = ~5 + !0 - -2 }"""
    assert only(source) == {"a": -3, "b": -1, "c": 18, "d": 7, "e": -3, "t": 1}


def test_only_the_branch_that_is_taken_is_evaluated() -> None:
    assert only("byte x, y; init { y = (x == 0 -> 4 : 1 / x); x == 0 || 1 / x; !(x && 1 / x) }") == {
        "x": 0,
        "y": 4,
    }


def test_arrays_and_typedefs() -> None:
    source = """typedef Point { byte x; short y = 5; bool on[2] }
typedef Line { Point p[2]; byte colour }
Line a, b[2]; byte n[3] = 4
init { a.p[1].x = 9; a.p[0].on[1] = true; b[1].p[1].on[0] = true; n[2] = n[0] + a.p[1].y; b[1].colour = 3 }"""
    state = only(source)
    assert (state["n"], state["a.p.x"], state["a.p.y"]) == ((4, 4, 9), (0, 9), (5, 5))
    assert state["a.p.on"] == ((False, True), (False, False)) and state["b.colour"] == (0, 3)
    nothing = (False, False)
    assert state["b.p.on"] == ((nothing, nothing), (nothing, (True, False)))


@pytest.mark.parametrize(
    "source, message",
    [
        ("byte x, a[3]; init { a[x + 3] = 1 }", "array index 3 is out of range: the array has 3 cells"),
        ("byte x, a[3]; init { x = a[x - 1] }", "array index -1 is out of range: the array has 3 cells"),
        ("byte x; init { x = 1 / x }", "division by zero"),
        ("byte x; init { x = 1 % x }", "division by zero"),
        ("byte x; init { d_step { x = 1; x == 0; x = 2 } }", "blocked inside d_step"),
        ("chan c; init { c!1 }", "an uninitialised channel is used"),
    ],
)
def test_errors_stop_the_process(source: str, message: str) -> None:
    assert failure(source) == message


def test_others_run_on_after_a_failure() -> None:
    source = "byte x; active proctype P() { assert(false); x = 9 } active proctype Q() { x = x + 1 }"
    assert ends(source, "x") == {("assertion", 1)}


# Channels


def test_a_rendezvous_is_one_step_of_the_sender() -> None:
    source = (
        "chan c = [0] of { byte, byte }; byte x, y; active proctype S() { c!3, 4 } active proctype R() { c?x, y }"
    )
    assert only(source) == {"x": 3, "y": 4}
    (outcome,) = checked(source).outcomes
    first = outcome.trace[0]
    assert (str(first.pid), str(first.label)) == ("0", "c!3, 4 -> 1: c?x, y")


def test_a_rendezvous_has_one_choice_for_each_receiver() -> None:
    source = "chan c = [0] of { byte }; byte got[3]; active [2] proctype R() { c?got[_pid] } init { c!7 }"
    assert ends(source, "got") == {("deadlock", (7, 0, 0)), ("deadlock", (0, 7, 0))}


def test_a_rendezvous_waits_for_a_receiver_that_matches() -> None:
    source = "chan c = [0] of { byte }; active proctype S() { c!3 } active proctype R() { c?4 }"
    assert ends(source) == {("deadlock",)}


def test_sorted_send_and_random_receive() -> None:
    source = """chan c = [5] of { byte, byte }; byte x
init { c!!5,1; c!!2,2; c!!4,3; c!!2,1; c!!5,0; c??4,x }"""
    assert only(source) == {"c": ((2, 1), (2, 2), (5, 0), (5, 1)), "x": 3}


def test_receives_that_match_keep_and_throw_away() -> None:
    source = """chan c = [4] of { byte }; byte x, y, k = 2
init { c!1; c!2; c!3; c?<x>; c??<3>; c??eval(k); c?_; c?y }"""
    assert only(source) == {"c": (), "x": 1, "y": 3, "k": 2}


def test_polls_and_questions() -> None:
    source = """chan c = [2] of { byte }; bool a, b, d, e
init { assert(empty(c) && nfull(c)); c!1; c!2
  a = c?[1]; b = c?[2]; d = c??[2]; e = full(c) && len(c) == 2 && nempty(c); c?_; c?_ }"""
    assert only(source) == {"a": True, "b": False, "d": True, "e": True, "c": ()}


def test_eval_waits_for_the_value() -> None:
    source = "chan c = [1] of { byte }; byte x; active proctype P() { c!3 } active proctype Q() { c?eval(x) }"
    assert ends(source, "c") == {("deadlock", (3,))}


def test_channels_in_messages() -> None:
    source = """chan c = [1] of { byte }; chan d = [1] of { chan }; byte x
active proctype A() { chan r; d?r; r!7 }
active proctype B() { d!c; c?x }"""
    assert checked(source).outcomes[0].state["x"] == 7
    assert only(source)["x"] == 7


def test_channels_as_parameters() -> None:
    source = """byte got; proctype W(byte k; chan out) { out!k + 1 }
init { chan own = [1] of { byte }; run W(4, own); own?got }"""
    assert only(source) == {"got": 5}


def test_arrays_of_channels() -> None:
    source = "chan q[2] = [1] of { byte }; byte x; init { q[0]!1; q[1]!2; q[1]?x }"
    assert only(source) == {"q[0]": (1,), "q[1]": (), "x": 2}


# Control


def test_else_is_for_when_nothing_else_can_move() -> None:
    source = """byte x, y; active proctype B() { x = 1 }
active proctype A() { if :: x == 1 -> y = 1 :: else -> y = 2 fi }"""
    assert ends(source, "y") == {("terminated", 1), ("terminated", 2)}


def test_if_without_an_option_that_can_move_waits() -> None:
    source = "byte x; active proctype A() { if :: x == 1 -> x = 2 :: x == 3 fi } active proctype B() { x = 1 }"
    assert ends(source, "x") == {("terminated", 2)}


def test_all_options_that_can_move_are_tried() -> None:
    source = """byte x
init { do :: x < 2 -> x++ :: x == 1 -> x = 7; break :: x == 2 -> goto out od; x = x + 10; out: skip }"""
    assert ends(source, "x") == {("terminated", 17), ("terminated", 2)}


def test_timeout_is_for_when_nobody_else_can_move() -> None:
    source = "byte x; active proctype A() { x == 5; x = 6 } active proctype B() { timeout -> x = 5 }"
    assert ends(source, "x") == {("terminated", 6)}
    source = "byte x; active proctype A() { x = 1; x = 2 } active proctype B() { timeout -> assert(x == 2) }"
    assert ends(source) == {("terminated",)}


def test_atomic_is_not_interrupted() -> None:
    source = "byte x; active [2] proctype A() { byte t; atomic { t = x; x = t + 1 } }"
    assert ends(source, "x") == {("terminated", 2)}


def test_atomic_that_blocks_loses_the_turn_and_takes_it_again() -> None:
    source = """byte x; chan c = [1] of { byte }
active proctype A() { atomic { x = 1; c?_; x = 2; x = 3; assert(x == 3) } }
active proctype B() { assert(x <= 1 || x == 3); c!1; x = 9 }"""
    assert ends(source, "x") == {("terminated", 9), ("terminated", 3)}


def test_the_receiver_goes_on_after_a_send_in_atomic() -> None:
    source = """byte x, y; chan c = [0] of { byte }
active proctype P() { atomic { c!1; y = x } }
active proctype Q() { byte v; atomic { c?v; x = 5 } }"""
    assert ends(source, "y") == {("terminated", 5)}


def test_d_step_is_one_step_and_takes_the_first_option() -> None:
    report = checked("byte x; init { d_step { x = 1; if :: x = 2 :: x = 3 fi; x = x + 10 } }")
    assert [outcome.state["x"] for outcome in report.outcomes] == [12]
    assert report.counts.states == 3


def test_end_labels_are_good_places_to_stop() -> None:
    source = """chan c = [0] of {{ byte }}; byte n
active proctype Server() {{ {} do :: c?_ -> n++ od }}
active proctype Client() {{ c!1; c!2 }}"""
    assert ends(source.format("end:"), "n") == {("terminated", 2)}
    assert ends(source.format("end_of_day:"), "n") == {("terminated", 2)}
    assert ends(source.format("again:"), "n") == {("deadlock", 2)}


def test_goto_and_labels() -> None:
    assert only("byte x; init { x = 1; goto L; x = 2; L: x = x + 10; if :: x < 30 -> goto L :: else fi }") == {
        "x": 31
    }


def test_for_and_select() -> None:
    source = "byte s, i, a[4]; init { for (i : 1 .. 4) { s = s + i } for (i in a) { a[i] = i * i } }"
    assert only(source) == {"s": 10, "i": 4, "a": (0, 1, 4, 9)}
    assert ends("byte i; init { select (i : 2 .. 4) }", "i") == {("terminated", n) for n in (2, 3, 4)}
    assert ends("byte i, n = 3; init { select (i : 2 .. n) }", "i") == {("terminated", n) for n in (2, 3)}


def test_declarations_after_a_statement_are_steps() -> None:
    assert only("byte x; init { x = 3; byte y = x + 1; x = y }") == {"x": 4}
    assert checked("byte x; init { x = 3; byte y; x = y }", options=PLAIN).counts.states == 5


# Processes


def test_run_gives_a_number_and_parameters_are_copies() -> None:
    source = """byte me, kid, sum; proctype W(byte k; byte l) { k = k + l; sum = k + _pid }
init { me = _pid; kid = run W(4, 5) }"""
    assert only(source) == {"me": 0, "kid": 1, "sum": 10}


def test_active_processes_are_numbered_in_order_of_the_text() -> None:
    source = """byte who[4]; active [2] proctype A() { who[_pid] = 1 }
active proctype B() { who[_pid] = 2 } init { who[_pid] = 3 }"""
    assert only(source) == {"who": (1, 1, 2, 3)}


def test_nr_pr_counts_the_living() -> None:
    source = "byte n; proctype A() { skip } init { run A(); run A(); _nr_pr == 1; n = _nr_pr }"
    assert only(source) == {"n": 1}


def test_the_youngest_dies_first() -> None:
    model = "byte x; active proctype A() {{ {} }} active proctype B() {{ {} }}"
    assert ends(model.format("_nr_pr == 1; x = 1", "skip"), "x") == {("terminated", 1)}
    assert ends(model.format("skip", "_nr_pr == 1; x = 1"), "x") == {("deadlock", 0)}  # A ended, but B is younger


def test_a_number_is_used_again() -> None:
    source = "byte a, b; proctype W() { skip } init { a = run W(); _nr_pr == 1; b = run W() }"
    assert only(source) == {"a": 1, "b": 1}
    (outcome,) = checked(source).outcomes
    assert {str(event.pid) for event in outcome.trace} == {"0", "1", "1.1"}


# Text


def test_inlines_and_macros() -> None:
    source = """byte x
inline twice(v, e) { v = e; v = v + e }
#define INC(z) z = z + K
#ifndef K
#define K 3
#endif
init { twice(x, 5); INC(x) }"""
    assert only(source) == {"x": 13}
    model = porcini.loads(source, "pml", defines={"K": "7"})
    assert porcini.check(model).outcomes[0].state["x"] == 17


def test_files_below_the_folder_can_be_included(tmp_path: Path) -> None:
    (tmp_path / "model" / "parts").mkdir(parents=True)
    (tmp_path / "secret.h").write_text("byte s;")
    (tmp_path / "model" / "parts" / "x.h").write_text('#include "y.h"\nbyte x;')
    (tmp_path / "model" / "parts" / "y.h").write_text("#define N 5")
    file = tmp_path / "model" / "m.pml"
    file.write_text('#include "parts/x.h"\ninit { x = N }')
    assert porcini.check(file).outcomes[0].state["x"] == 5
    for name, message in [
        ("../secret.h", "outside the model's folder"),
        (str(tmp_path / "secret.h"), "absolute path"),
        ("parts/z.h", "no file `parts/z.h`"),
    ]:
        file.write_text(f'#include "{name}"\ninit {{ skip }}')
        with pytest.raises(InputError, match=r"m\.pml:1:10") as caught:
            porcini.load(file)
        assert message in str(caught.value)
    assert "cannot be included here" in error('#include "x.h"\ninit { skip }')


@pytest.mark.parametrize(
    "source, named",
    [
        ("init { c_code { x = 1; } }", "`c_code`"),
        ("float x; init { skip }", "`float`"),
    ],
)
def test_what_is_outside_is_named(source: str, named: str) -> None:
    message = error(source)
    assert named in message and "outside the subset" in message


# Formulas


PAIR = "byte x; active [2] proctype A() { byte mine; mine = _pid + 1; L: x = x + 1; mine = 7 }"


def test_formulas_look_at_locals_and_labels() -> None:
    assert holds(PAIR, "[] (A[1]:mine == 0 || A[1]:mine == 2 || A[1]:mine == 7)")
    assert not holds(PAIR, "[] (A[1]:mine == 0 || A[1]:mine == 2)")
    assert holds(PAIR, "<> A[0]@L && <> A[1]@L && <> (x == 2)")
    assert not holds(PAIR, "!A[0]@L U A[1]@L")
    assert not holds(PAIR, "<> (A[0]@L && x == 1)")


def test_who_is_not_there_stands_nowhere_and_has_0() -> None:
    assert holds(PAIR, "[] (A[5]:mine == 0 && !A[5]@L)")
    assert holds(PAIR, "<> [] (A[0]:mine == 0)")  # it has died


def test_an_ended_run_stays_as_it_is() -> None:
    assert holds("byte x; init { x = 1 }", "<> [] (x == 1)")
    assert not holds("byte x; init { x = 1 }", "[] <> (x == 0)")
    assert not holds("byte x; init { x == 1 }", "<> (x == 1)")  # deadlocked: that is not asked here


def test_weak_fairness() -> None:
    source = "byte x; active proctype A() { do :: x = 1 - x od } bool done; active proctype B() { done = true }"
    assert not holds(source, "<> done")
    assert holds(source, "<> done", options=Options(fair=True))


def test_next_counts_every_statement() -> None:
    source = "byte x; active proctype P() { byte a; a = 1; a = 2; x = 1 }"
    assert holds(source, "X X X (x == 1)")
    assert not holds(source, "X X (x == 1)")


def test_a_proposition_that_fails_is_false_with_a_note() -> None:
    report = checked("byte i, a[2]; init { i = 5 }", ltl="[] (a[i] == 0)")
    assert report.verdict == "violated"
    assert any("could not be evaluated" in note for note in report.notes)


# Trails


@pytest.mark.parametrize("how", [{}, {"search": "bfs"}, {"reduction": "none"}, {"optimise": False}])
def test_a_failure_inside_merged_steps_replays(how: dict[str, object]) -> None:
    model = porcini.loads("byte a[2]; init { byte i; do :: i < 3 -> a[i] = 1; i++ :: else -> break od }", "pml")
    (outcome,) = porcini.check(model, options=Options(**how)).outcomes
    assert porcini.replay(model, outcome.schedule).outcomes[0].kind == "error"


def test_end_states_are_counted_once() -> None:
    source = "byte i, a[2]; init { for (i in a) { a[i] = 1 } }"
    for search in ("dfs", "bfs"):
        assert checked(source, options=Options(search=search)).outcomes[0].executions == 1


def test_never_claims() -> None:
    claim = "byte x; init {{ x = 1; x = 2; x = 3 }} never {{ do :: x == {} -> break :: else od }}"
    assert checked(claim.format(4)).verdict == "holds"
    found = checked(claim.format(2))
    assert found.verdict == "violated" and found.trail is not None
    assert "a never claim may only test" in error("byte x; init { skip } never { x = 1 }")


def test_counts_without_optimisation_are_spins() -> None:
    for source, states in [
        ("active [3] proctype P() { skip }", 15),
        ("byte x; init { if :: x == 0 :: else -> skip fi }", 3),
        ("byte x; init { x = 1; goto L; x = 2; L: skip }", 4),
        ("byte x; init { do :: x < 3 -> x++ :: x == 3 -> break od }", 9),
        ("byte i; init { for (i : 1 .. 2) { skip } }", 10),
        ("byte x; init { atomic { x = 1; x = 2 } x = 3 }", 4),
    ]:
        assert checked(source, options=PLAIN).counts.states == states, source


def test_else_of_an_if_that_comes_first_in_an_option() -> None:
    """It looks at the options of its own `if`; one further out at all of them."""
    source = "byte y; init {{ do :: if :: y == 1 -> y = 5; break :: else -> y = {0}; break fi {1} od }}"
    assert only(source.format(2, "")) == {"y": 2}
    assert states(source.format(2, ":: y == 0 -> y = 3; break")) == [{"y": 2}, {"y": 3}]
    assert states("byte y; init { if :: if :: y == 1 -> y = 5 fi :: else -> y = 6 fi }") == [{"y": 6}]


def states(source: str) -> list[dict]:
    report = porcini.explore(porcini.loads(source, "pml"))
    return sorted((dict(outcome.state) for outcome in report.outcomes), key=str)


def test_a_loop_of_one_step_that_changes_nothing_is_a_loop() -> None:
    model = porcini.loads("byte x; active proctype P() { do :: x = 0 od }", "pml")
    trail = porcini.check(model, ltl="<> (x == 1)").trail
    assert trail is not None and len(trail.loop) == 1
    assert porcini.replay(model, trail.stem.schedule, loop=trail.loop.schedule).trail is not None
