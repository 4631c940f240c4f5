"""Programs that once broke something, each with what it broke."""

from __future__ import annotations

import pytest

import porcini
from porcini.api import compare
from porcini.cli import main
from porcini.ir.flat.frames import FrameRun


def permuted(source: str, **options) -> porcini.Report:
    return porcini.permute(porcini.loads(source), **options)


@pytest.mark.parametrize("conjuncts", [16, 60])
def test_guards_of_many_partial_conjuncts_are_simplified_in_no_time(conjuncts: int) -> None:
    """Negating nested junctions again and again took exponential time."""
    names = [f"i{k}" for k in range(conjuncts)]
    bindings = "a |-> [0, 0, 0], z |-> 0, " + " ".join(f"{name} |-> 0," for name in names)
    model = porcini.loads(f"{bindings} {' and '.join(f'a[{name}] == 0' for name in names)} |> z := 1")
    assert porcini.run(model).outcomes[0].state["z"] == 1
    assert porcini.permute(model).traces[0].kind == "terminated"


def test_deep_alternation_of_and_and_or() -> None:
    nested = "x40"
    for k in range(40):
        nested = f"x{k} {'or' if k % 2 else 'and'} ({nested})"
    bindings = " ".join(f"x{k} |-> {'true' if k % 2 else 'false'}," for k in range(41))
    assert porcini.run(porcini.loads(f"z |-> 0, {bindings} z := 1 <| {nested} |> z := 2")).verdict == "holds"


def test_a_simplified_guard_is_never_evaluated_strictly() -> None:
    """Factoring moved `y / x > 0` before the `x > 0` that protects it."""
    report = permuted(
        "x |-> 0, y |-> 1, b |-> true, z |-> 0, True |> spawn(True |> z := 1); True |> spawn(True |> z := 2);"
        "(x > 0 and y / x > 0 |> z := 1) <| b |> (x < 0 and y / x > 0 |> z := 2)"
    )
    assert {entry.kind for entry in report.traces} == {"deadlock"}


UNFINISHED = (
    "x |-> 0, True |> spawn(True |> x := x + 1); True |> spawn(True |> x := x * 3);"
    "x == 3 |> x := 1; x == 7 |> skip"
)


def test_an_unfinished_permutation_is_a_permutation_but_no_execution() -> None:
    """`permute` said that all permutations of this run end alike, above a table in which they did not."""
    assert porcini.explore(porcini.loads(UNFINISHED), property="deterministic").verdict == "holds"
    report = permuted(UNFINISHED, schedule="0x2 0.1 0.0")
    assert [entry.kind for entry in report.traces] == ["unfinished", "deadlock"]
    assert (report.verdict, report.counts.classes, len(report.outcomes)) == ("violated", 1, 1)
    assert str(report).startswith("This run has 1 executable permutation not equivalent to it: 2 classes (1 unfin")
    assert 'porcini run <text> --schedule "0x2 0.0 0.1"' in str(report).replace("'", "")


def test_permutations_that_end_alike_may_not_be_equivalent() -> None:
    report = permuted("x |-> 1, y |-> 0, True |> spawn(True |> x := 1); True |> y := x")
    assert (report.verdict, len(report.traces), len(report.outcomes)) == ("violated", 2, 1)
    assert report.counterexample.differs == () and len(report.counterexample.schedules) == 2
    assert permuted("x |-> 1, y |-> 0, True |> spawn(True |> x := 1); True |> y := 1").verdict == "holds"


def test_permute_shows_what_is_observed_only() -> None:
    report = permuted(UNFINISHED.replace("x |-> 0,", "x |-> 0, y |-> 0,"), schedule="0x2 0.1 0.0", observe=["y"])
    assert [dict(entry.state) for entry in report.traces] == [{"y": 0}] * 2
    assert report.counterexample.differs == ("kind",)


def test_the_last_line_counts_what_was_asked_for() -> None:
    """It said 1 class below a headline with 2."""
    assert ": 2 permutations, " in str(permuted(UNFINISHED, schedule="0x2 0.1 0.0")).splitlines()[-1]
    symbolic = porcini.symbolic(porcini.loads("x := a || x := 2", "par"))
    assert ": 2 executions, 2 classes, " in str(symbolic).splitlines()[-1]


def test_classes_mean_the_same_under_every_engine() -> None:
    """`fagiani` counted permutations that cannot be finished."""
    compare(porcini.loads(UNFINISHED))


def test_a_permutation_says_what_its_own_processes_wait_for() -> None:
    source = "x |-> 0, True |> spawn(True |> x := x + 1); True |> spawn(True |> x := x * 3); x > 100 |> skip"
    for outcome in permuted(source).outcomes:
        assert outcome.waiting[0].values == {"x": outcome.state["x"]}


@pytest.mark.parametrize(
    "source, limit",
    [
        ("proc p { True |> p() } True |> p()", "the limit of 500 generations of processes"),
        ("proc p { True |> skip } True |>* p()", "the limit of 1,000 processes"),
    ],
)
def test_processes_without_end_hit_a_limit(source: str, limit: str) -> None:
    for command in (porcini.run, porcini.explore):
        report = command(porcini.loads(source))
        assert (report.verdict, report.limit) == ("unknown", limit)


def test_numbers_that_square_themselves_stop_in_time() -> None:
    model = porcini.loads("x |-> 2, True |>* x := x * x")
    for command in (porcini.run, porcini.explore):
        assert command(model, limits=porcini.Limits(timeout=0.2)).verdict == "unknown"


def test_many_independent_processes_are_permuted_quickly() -> None:
    report = permuted("; ".join(["True |> spawn(True |> skip)"] * 300))
    assert len(report.traces) == 1 and report.counts.events == 600


def test_numbers_too_long_to_print() -> None:
    source = "y |-> 0, True |> y := 10; " + "True |> y := y * y; " * 14 + "y > 0 |> skip"
    for command in (porcini.run, porcini.explore, porcini.permute):
        assert command(porcini.loads(source)).outcomes[0].state["y"] == 10 ** (2**14)


def test_exactly_as_many_executions_as_allowed_is_no_limit() -> None:
    model = porcini.load("examples/gcl/toggle.gcl")
    assert porcini.explore(model, engine="exhaustive", limits=porcini.Limits(max_executions=4)).verdict == "holds"
    assert (
        porcini.explore(model, engine="exhaustive", limits=porcini.Limits(max_executions=3)).verdict == "unknown"
    )


@pytest.mark.parametrize(
    "source, line, column",
    [
        ("x |-> 0, // a\f comment\nTrue |> x := yy", "True |> x := yy", 13),
        ("x |-> 0, // a\u2028 comment\nTrue |> x := yy", "True |> x := yy", 13),
        ("x |-> 0,\r\nTrue |> x := yy", "True |> x := yy", 13),
        ("日本 |-> 0, True |> 日本 := yy", "日本 |-> 0, True |> 日本 := yy", 28),
    ],
)
def test_the_line_and_the_caret_are_right(source: str, line: str, column: int) -> None:
    with pytest.raises(porcini.InputError) as caught:
        porcini.loads(source)
    _, shown, caret = str(caught.value).splitlines()
    assert shown == "  " + line and caret == "  " + " " * column + "^"


def test_of_two_errors_the_first_is_reported() -> None:
    with pytest.raises(porcini.InputError, match="unknown name `q`"):
        porcini.loads("x |-> 0, True |> x := q; True |> x := r")


def test_what_is_printed_to_paste_can_be_pasted(tmp_path, capsys) -> None:
    model = tmp_path / "my file.gcl"
    model.write_text("n |-> ?, x |-> 0, True |> spawn(True |> x := n); True |> x := 2")
    main(["explore", str(model), "--input", "n=5"])
    assert f"porcini replay '{model}' --input n=5 \"" in capsys.readouterr().out


def test_a_bare_assignment_says_what_is_missing() -> None:
    with pytest.raises(porcini.InputError, match="a statement needs a guard"):
        porcini.loads("x |-> 0, x := 1")


def test_ctrl_c_while_running_tells_how_far_it_came(monkeypatch) -> None:
    steps = iter(range(1000))
    step = FrameRun.step

    def interrupted(self, action):
        if next(steps) == 500:
            raise KeyboardInterrupt
        return step(self, action)

    monkeypatch.setattr(FrameRun, "step", interrupted)
    report = porcini.run(porcini.loads("x |-> 0, True |>* x := x + 1"))
    assert (report.interrupted, report.verdict, report.counts.events) == (True, "unknown", 500)


@pytest.mark.parametrize(
    ("language", "source", "formula"),
    [
        ("gcl", "x |-> 0, True |> x := 0", "1 / x == 0"),
        ("gcl", "a |-> [0, 0], i |-> 9, True |> a[1] := 0", "a[i] == 0"),
        (
            "abs",
            "interface A { Unit m(); } class C implements A { Int x = 0; Unit m() { x = 0; } }"
            " { A a = new C(); a!m(); }",
            "1 % 0.0.x == 0",
        ),
        ("pml", "int x; active proctype P() { x = 0 }", "1 % x == 0"),
    ],
)
def test_a_proposition_without_a_value_does_not_hold(language: str, source: str, formula: str) -> None:
    """It was taken to be about 0, but for Promela."""
    model = porcini.loads(source, language)
    assert porcini.check(model, ltl=f"[] ({formula})").verdict == "violated"
    assert porcini.check(model, ltl=f"[] !({formula})").verdict == "holds"


def test_limits_are_at_least_one() -> None:
    with pytest.raises(porcini.InputError, match="`max_executions` must be at least 1, not 0"):
        porcini.Limits(max_executions=0)
