"""`check FILE.maude --search PATTERN`: what users of Maude's `search` know, from the command line."""

from __future__ import annotations

import json
import shlex

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)
from cli.test_maude_cli import COUNTER, DEADLOCK, INFINITE, LOCKED, PHILOSOPHERS, TABLE, found, theory  # noqa: F401

# Solutions are counted by hand: two threads that each load a cell and store it again make 13 states, and the cell
# is not 0 any more in 9 of them.
SEARCHES = [
    ("['x = I] S such that I > 0", 1, 9, 9, "Reachable: ['x = I] S such that I > 0; 9 solutions, seen 13 states."),
    ("['x = I] S s.t. I > 1", 1, 2, 2, "Reachable: ['x = I] S s.t. I > 1; 2 solutions, seen 13 states."),
    ("=>! ['x = I] S", 1, 3, 3, "Reachable: =>! ['x = I] S; 3 solutions, seen 13 states."),
    ("=>! x(1)", 1, 1, 1, "Reachable: =>! x(1); 1 solution, seen 13 states."),
    ("=>1 S", 1, 2, 2, "Reachable: =>1 S; 2 solutions, seen 3 states."),
    ("=>+ S", 1, 12, 12, "Reachable: =>+ S; 12 solutions, seen 13 states."),
    ("S", 1, 13, 13, "Reachable: S; 13 solutions, seen 13 states."),
    ("< T | K:Code | V > S", 1, 26, 13, "Reachable: < T | K:Code | V > S; 26 solutions in 13 states, seen 13"),
    ("['x = 7] S", 0, 0, 0, "No state matches ['x = 7] S; seen 13 states."),
    ("x(7)", 0, 0, 0, "No state matches x(7); seen 13 states."),
    ("S such that S |= x(2) = true", 1, 2, 2, "Reachable: S such that S |= x(2) = true; 2 solutions"),
]


@pytest.mark.parametrize(("pattern", "status", "solutions", "states", "first"), SEARCHES)
def test_what_a_search_finds(porcini, found, pattern, status, solutions, states, first) -> None:  # noqa: F811
    arguments = ("check", COUNTER, "--search", pattern, "--no-reduction")
    got, out, err = porcini(*arguments)
    assert (got, err) == (status, "") and out.startswith(first), out + err
    _, report = found(*arguments)
    assert report["property"] == f"search {pattern}" and report["engine"] == "maude"
    assert report["reduction"] == "none" and report["stopped"] == "exhausted"
    search = report["search"]
    assert (search["solutions"], search["states"], search["exact"]) == (solutions, states, True)
    assert len(search["first"]) == min(solutions, 20)


def test_bindings_and_the_ways_there(found) -> None:  # noqa: F811
    _, report = found("check", COUNTER, "--search", "['x = I] S such that I > 1 /\\ J:Int := I + 1")
    first = report["search"]["first"][0]
    assert {name: first["binding"][name] for name in ("I", "J")} == {"I": "2", "J": "3"}
    assert first["schedule"] == "0x2 1x2" and first["state"] == {"x": 2}


@pytest.mark.parametrize("pattern", ["['x = 1] S", "x(1)", "=>! x(2)"])
def test_the_line_to_paste_leads_there(porcini, pattern) -> None:  # noqa: F811
    _, out, _ = porcini("check", COUNTER, "--search", pattern)
    (line,) = [line for line in out.splitlines() if line.strip().startswith("porcini replay")]
    _, again, err = porcini(*shlex.split(line)[1:], "--json")
    replayed = json.loads(again)
    assert err == "" and replayed["steps"][-1]["changed"]["x"][1] == (2 if "2" in pattern else 1)


def test_a_proposition_is_searched_for_on_a_reduced_graph(found) -> None:  # noqa: F811
    whole = found("check", TABLE, "--search", "eats(0)", "--no-reduction")[1]
    status, reduced = found("check", TABLE, "--search", "eats(0)")
    assert (status, reduced["reduction"], whole["reduction"]) == (1, "ample", "none")
    assert reduced["counts"]["states"] < whole["counts"]["states"] / 3
    assert not reduced["search"]["exact"] and whole["search"]["exact"]
    assert 0 < reduced["search"]["solutions"] < whole["search"]["solutions"]


def test_ends_are_counted_exactly_on_a_reduced_graph(found) -> None:  # noqa: F811
    whole = found("check", TABLE, "--search", "=>! gone(0)", "--no-reduction")[1]
    reduced = found("check", TABLE, "--search", "=>! gone(0)")[1]
    assert (reduced["reduction"], reduced["search"]["exact"]) == ("ample", True)
    assert reduced["counts"]["states"] < whole["counts"]["states"]
    assert reduced["search"]["solutions"] == whole["search"]["solutions"]


def test_a_pattern_is_not_reduced_and_the_report_says_so(porcini) -> None:  # noqa: F811
    _, out, _ = porcini("check", COUNTER, "--por", LOCKED, "--search", "['x = 1] S:Conf")
    assert (
        "note: no reduction: a pattern may look at all of a state" in out and "engine maude, no reduction" in out
    )
    _, out, _ = porcini("check", COUNTER, "--search", "=>+ x(1)")
    assert "note: no reduction: `=>+` counts steps" in out


def test_limits_are_unknown_unless_something_was_found(found, theory) -> None:  # noqa: F811
    endless = theory(INFINITE)
    for limit in (["--max-states", "20"], ["--max-depth", "5"], ["--timeout", "0.5"]):
        status, report = found("check", endless, "--search", "c(V) S such that V > 100000000", *limit)
        assert (status, report["verdict"], report["stopped"]) == (3, "unknown", "limit"), limit
        assert report["search"]["solutions"] == 0 and not report["search"]["exact"]
    status, report = found("check", endless, "--search", "c(V) S such that V > 2", "--max-states", "20")
    assert (status, report["stopped"], report["search"]["exact"]) == (1, "limit", False)


def test_the_first_solution_is_enough(found, theory) -> None:  # noqa: F811
    status, report = found("check", theory(INFINITE), "--search", "c(V) S such that V > 2", "--first")
    assert (status, report["stopped"]) == (1, "first-violation")
    assert (report["search"]["solutions"], report["search"]["exact"]) == (1, False)
    assert report["search"]["first"][0]["schedule"] in ("0x3", "1x3", "0x2 1", "0 1x2")


def test_a_deadlock_is_found(found) -> None:  # noqa: F811
    _, checked = found("check", PHILOSOPHERS, "--por", DEADLOCK)
    status, report = found("check", PHILOSOPHERS, "--por", DEADLOCK, "--search", "=>! S")
    assert status == 1 and report["search"]["states"] == len(checked["outcomes"]) == 1


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("['x = ] S", "is not a pattern of states"),
        ("7", "is not a pattern of states"),
        ("Q", "is not a pattern of states"),
        ("x(1) /\\ x(2)", "is not a pattern of states"),
        ("x(I:Int)", "has variables, and a proposition must say all"),
        ("x(1) such that 1 > 0", "a proposition holds or not"),
        ("=>!", "wants a pattern"),
        ("=>! ", "wants a pattern"),
        ("=>! such that true", "is not a pattern of states"),
        ("S *** and no more", "is not a pattern of states"),
        (" ", "wants a pattern"),
        ("S such that I > 0", "is not a pattern of states"),
        ("S such that S => S", "is not a pattern of states"),
        ("S)) = true . eq init = none . eq Sought((S", "is not one pattern"),
        ("S such that true . rl [x] : S => none", "is not one pattern"),
        ("S such that true [owise]", "is not one pattern"),
        ("S endm ls", "is not one pattern"),
        ("S \n endm \n ls ; touch gone", "is not one pattern"),
    ],
)
def test_what_is_no_pattern(porcini, pattern, message) -> None:  # noqa: F811
    status, out, err = porcini("check", COUNTER, "--search", pattern)
    assert (status, out) == (2, "") and message in err and len(err.splitlines()) == 1, (status, out, err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--ltl", "<> x(1)"], "are two questions"),
        (["--engine", "graph"], "patterns are searched for by Maude"),
        (["--verify-reduction"], "does not go with a pattern"),
        (["--check-annotations"], "does not go with a pattern"),
        (["--fairness", "weak"], "fairness is about runs for ever"),
    ],
)
def test_what_does_not_go_together(porcini, options, message) -> None:  # noqa: F811
    status, out, err = porcini("check", COUNTER, "--search", "x(1)", *options)
    assert (status, out) == (2, "") and message in err


NAMES = """
  protecting STRING .
  op x : Nat -> Cell [ctor] .  op said : String -> Cell [ctor] .  op Sought : Nat -> Nat .
  rl [add] : t(I, s K) x(V) => t(I, K) x(s V) .
  op begin : -> Conf .  eq begin = t(0, 1) t(1, 2) x(0) said(" such that ") .
"""
NAMES_PROPS = """fmod BAD-PARAMETERS{X :: TRIV}is  var E : X$Elt .  op pair : X$Elt -> X$Elt .  endfm
mod BAD-PROPS is
  protecting BAD .  including BAD-PARAMETERS{Nat} .  including SATISFACTION .  subsort Conf < State .
  op x : Nat -> Prop [ctor] .  op is : String -> Prop [ctor] .  var V : Nat .  var S : Conf .  var W : String .
  eq x(V) S |= x(V) = true .  eq said(W) S |= is(W) = true .
endm
"""


@pytest.mark.parametrize(
    ("pattern", "status", "said"),
    [
        ('said(" such that ") S', 1, "6 solutions"),
        ('said(W) S such that W == " such that "', 1, "6 solutions"),
        ('is(" such that ")', 1, "at least"),
        ("x(2) S", 1, "2 solutions"),
        ("x(2)", 2, "can be read in several ways"),
        ("E S", 2, "bad token E"),
        ('said(") S', 2, "its quotes do not close"),
        ("S such that true [nonexec]", 2, "is not one pattern"),
        ("S such that true [label here]", 2, "is not one pattern"),
    ],
)
def test_names_and_strings_of_the_users_own(porcini, theory, pattern, status, said) -> None:  # noqa: F811
    file = theory(NAMES, NAMES_PROPS, initial="begin", propositions="BAD-PROPS")
    got, out, err = porcini("check", file, "--search", pattern)
    assert got == status and said in out + err, out + err


def test_solutions_are_counted_one_by_one(found, theory) -> None:  # noqa: F811
    """Each of eight parts goes into one of four variables: 4 to the power of 8, and no list of them."""
    file = theory(initial="t(0, 1) t(1, 0) t(2, 0) t(3, 0) t(4, 0) t(5, 0) t(6, 0) c(0)")
    _, report = found("check", file, "--search", "S A:Conf B:Conf C:Conf")
    assert report["search"]["solutions"] == 2 * 4**8 and report["search"]["states"] == 2
    assert len(report["search"]["first"]) == 20


def test_orders_of_a_search_are_still_to_be_had(porcini) -> None:  # noqa: F811
    for order in ("dfs", "bfs"):
        assert porcini("check", COUNTER, "--search", order)[0] == 0
    status, _, err = porcini("check", "examples/gcl/vineyard.gcl", "--search", "x")
    assert status == 2 and "it is not a rewrite theory" in err
