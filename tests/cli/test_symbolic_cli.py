"""`porcini symbolic` from the command line: all inputs at once, test cases, and what it does not know."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys

import pytest

from cli.test_cli import VINEYARD, gcl, porcini  # noqa: F401  (fixtures)

WITHDRAWALS = "examples/par/withdrawals.par"
PHASES = "examples/par/phases.par"
EXAMPLE_2_9 = "examples/par/example_2_9.par"
CONDITION = "balance >= 80 and balance <= 129"


@pytest.fixture
def par(gcl):  # noqa: F811
    return lambda text, name="model.par": gcl(text, name)


def found_by(porcini, *arguments) -> tuple[int, dict]:  # noqa: F811
    status, out, err = porcini("symbolic", *arguments, "--json")
    assert err == ""
    return status, json.loads(out)


# What it says


@pytest.mark.parametrize(
    "file, status, verdict, condition, classes",
    [
        (WITHDRAWALS, 1, "violated", CONDITION, 8),
        (PHASES, 0, "holds", None, 1),
        (EXAMPLE_2_9, 1, "violated", "True", 6),
        (VINEYARD, 1, "violated", "True", 5),
    ],
)
def test_examples(porcini, file, status, verdict, condition, classes) -> None:  # noqa: F811
    seen, found = found_by(porcini, file)
    assert (seen, found["verdict"], found["condition"]) == (status, verdict, condition)
    assert found["counts"]["classes"] == len(found["traces"]) == classes
    assert (found["command"], found["engine"], found["stopped"]) == ("symbolic", "symbolic", "exhausted")


def test_json_of_one_class(porcini) -> None:  # noqa: F811
    _, found = found_by(porcini, WITHDRAWALS)
    assert all(list(e) == ["schedule", "labels", "path", "state", "kind", "input"] for e in found["traces"])
    (entry,) = [entry for entry in found["traces"] if entry["schedule"] == "0x2 1"]
    assert 80 <= entry.pop("input")["balance"] <= 129
    assert entry == {
        "schedule": "0x2 1",
        "labels": ["balance >= 80 |> skip", "balance := balance - 80", "not balance >= 50 |> skip"],
        "path": CONDITION,
        "state": {"balance": "balance - 80"},
        "kind": "terminated",
    }
    example = found["counterexample"]
    assert 80 <= example["input"]["balance"] <= 129
    assert len(example["schedules"]) == 2 and example["differs"] == ["balance"]


@pytest.mark.parametrize("file", [WITHDRAWALS, EXAMPLE_2_9])
def test_the_printed_lines_replay(porcini, file) -> None:  # noqa: F811
    status, out, _ = porcini("symbolic", file)
    lines = [shlex.split(line)[1:] for line in out.splitlines() if line.startswith("  porcini replay")]
    assert status == 1 and len(lines) == 2
    ends = []
    for line in lines:
        status, shown, _ = porcini(*line, "--json")
        assert status == 0
        ends.append(json.loads(shown)["outcomes"][0]["state"])
    assert ends[0] != ends[1]
    assert out.startswith("The order matters ")


def test_every_class_replays_with_its_input(porcini) -> None:  # noqa: F811
    for entry in found_by(porcini, WITHDRAWALS)[1]["traces"]:
        balance = entry["input"]["balance"]
        assert eval(entry["path"], {}, {"balance": balance})
        call = ("replay", WITHDRAWALS, "--input", f"balance={balance}", entry["schedule"], "--json")
        state = json.loads(porcini(*call)[1])["outcomes"][0]["state"]
        assert state["balance"] == eval(str(entry["state"]["balance"]), {}, {"balance": balance})


def test_a_failure_for_some_inputs_only(porcini, gcl) -> None:  # noqa: F811
    model = gcl("x |-> ?, y |-> 0, True |> y := 10 / x; True |> assert y != 3")
    status, found = found_by(porcini, model)
    assert (status, found["property"], found["condition"]) == (1, "failure-free", None)
    kinds = {entry["kind"]: entry for entry in found["traces"]}
    assert kinds.keys() == {"terminated", "assertion", "error"}
    assert kinds["error"]["path"] == "x == 0" and kinds["error"]["input"] == {"x": 0}
    assert kinds["assertion"]["input"] == {"x": 3}


def test_what_is_observed(porcini, par) -> None:  # noqa: F811
    model = par("a := x || a := 2 || b := 1")
    assert found_by(porcini, model)[1]["condition"] == "x != 2"
    status, found = found_by(porcini, model, "--observe", "b")
    assert (status, found["verdict"], found["condition"]) == (0, "holds", None)
    assert [entry["state"] for entry in found["traces"]] == [{"b": 1}] * 2


# Options


def test_without_reduction(porcini) -> None:  # noqa: F811
    counts = {}
    for options in ((), ("--no-reduction",)):
        _, found = found_by(porcini, EXAMPLE_2_9, *options)
        assert found["condition"] == "True"
        counts[options] = found["counts"]["executions"]
    assert counts == {(): 6, ("--no-reduction",): 20}


def test_equivalences(porcini, par) -> None:  # noqa: F811
    model = par("x := x || if x < 3 {y := 1} {y := 2}")
    for equivalence, classes in (("syntactic", 4), ("semantic", 2), ("traces", 2)):
        status, found = found_by(porcini, model, "--equivalence", equivalence)
        assert (status, found["condition"], len(found["traces"])) == (0, None, classes)
        assert found["independence"] == equivalence
    # Three writes, of which the last counts: whole traces tell more than pairs of steps.
    writes = par("x := 1 || x := 2 || x := 3")
    for equivalence, classes in (("semantic", 6), ("traces", 3)):
        assert len(found_by(porcini, writes, "--equivalence", equivalence)[1]["traces"]) == classes


def test_quiet_is_one_line(porcini) -> None:  # noqa: F811
    status, out, _ = porcini("symbolic", WITHDRAWALS, "--quiet")
    assert (status, out) == (1, f"The order matters where {CONDITION}: 8 classes of paths.\n")


# Test cases


def test_cases_are_written_and_replayed(porcini, par, tmp_path) -> None:  # noqa: F811
    model, tests = par("if x < 3 {y := x} {y := 3} || y := 2"), str(tmp_path / "tests.json")
    assert porcini("symbolic", model, "--tests", tests, "--quiet")[0] == 1
    document = json.loads((tmp_path / "tests.json").read_text())
    assert document["schema"] == 1 and document["file"] == model
    assert all(set(case) == {"input", "schedule", "kind", "state"} for case in document["tests"])
    assert len(document["tests"]) == len(found_by(porcini, model)[1]["traces"])
    status, out, _ = porcini("replay", model, "--tests", tests)
    count = len(document["tests"])
    assert (status, out) == (0, f"{count} of {count} cases came out as expected.\n")
    document["tests"][0]["state"]["y"] += 1
    (tmp_path / "tests.json").write_text(json.dumps(document))
    status, out, _ = porcini("replay", model, "--tests", tests)
    assert status == 1 and out.startswith("case 1: ")
    assert f"{count - 1} of {count} cases" in out


def test_cases_as_a_test_module(porcini, par, tmp_path) -> None:  # noqa: F811
    model = par("if x < 3 {y := x} {y := 3} || y := 2")
    assert porcini("symbolic", model, "--pytest", str(tmp_path / "test_model.py"), "--quiet")[0] == 1
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_model.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    cases = len(found_by(porcini, model)[1]["traces"])
    assert done.returncode == 0 and f"{cases} passed" in done.stdout, done.stdout


def test_a_test_module_elsewhere_finds_its_model(porcini, par, tmp_path, monkeypatch) -> None:  # noqa: F811
    model, module = par("a := x || a := 2"), tmp_path / "elsewhere" / "test_model.py"
    module.parent.mkdir()
    porcini("symbolic", model, "--pytest", str(module), "--quiet")
    space = {"__file__": str(module)}
    exec(compile(module.read_text(), str(module), "exec"), space)
    assert space["MODEL"].exists()


@pytest.mark.parametrize(
    "text", ["[", "[]", '{"tests": 5}', '{"tests": [5]}', '{"tests": [{"input": {"balance": 1}}]}']
)
def test_what_is_no_file_of_cases(porcini, tmp_path, text) -> None:  # noqa: F811
    (tmp_path / "tests.json").write_text(text)
    status, out, err = porcini("replay", WITHDRAWALS, "--tests", str(tmp_path / "tests.json"))
    assert (status, out) == (2, "") and "error: " in err and "indices" not in err


@pytest.mark.parametrize("name, schedule", [("balance", "0x9"), ("nobody", "0 1")])
def test_a_case_that_does_not_fit_is_named(porcini, tmp_path, name, schedule) -> None:  # noqa: F811
    fits = {"input": {"balance": 1}, "schedule": "0 1", "kind": "terminated", "state": {"balance": 1}}
    document = {"tests": [fits, fits | {"input": {name: 1}, "schedule": schedule}]}
    (tmp_path / "tests.json").write_text(json.dumps(document))
    status, out, _ = porcini("replay", WITHDRAWALS, "--tests", str(tmp_path / "tests.json"))
    assert status == 1 and out.startswith("case 2: ") and "1 of 2 cases" in out


# What it does not know


def test_an_endless_loop_is_cut_and_named(porcini, par) -> None:  # noqa: F811
    model = par("while x > 0 {x := x + 1}")
    status, found = found_by(porcini, model, "--max-depth", "9")
    assert (status, found["verdict"], found["stopped"]) == (3, "unknown", "limit")
    assert found["limit"] == "the depth limit of 9 steps"
    assert any("--max-depth" in note for note in found["notes"])
    kinds = {entry["kind"]: entry["path"] for entry in found["traces"]}
    assert kinds == {"unfinished": "x >= 1", "terminated": "x <= 0"}
    status, out, _ = porcini("symbolic", model, "--max-depth", "9")
    assert status == 3 and out.startswith("Unknown: ") and "the depth limit of 9 steps" in out


def test_what_was_found_before_a_cut_counts(porcini, par) -> None:  # noqa: F811
    model = par("if x < 0 {while 0 < 1 {skip}} {skip}; (a := x || a := 2)")
    status, found = found_by(porcini, model, "--max-depth", "9")
    assert (status, found["verdict"], found["stopped"]) == (1, "violated", "limit")
    example = found["counterexample"]["input"]["x"]
    assert example >= 0 and example != 2
    for other in ("-1", "0", "2", "5"):  # every input of the condition is one
        outcome = porcini("explore", model, "--input", f"x={other}", "--quiet", "--max-depth", "50")[0]
        assert not eval(found["condition"], {}, {"x": int(other)}) or outcome == 1


CUBES = "x*x*x + y*y*y + z*z*z == 114"
"""Whether 114 is a sum of three cubes is not known to anybody."""


def test_what_the_solver_cannot_decide(porcini, par) -> None:  # noqa: F811
    model = par(f"if {CUBES} {{a := 1}} {{skip}} || a := 2")
    status, found = found_by(porcini, model, "--solver-timeout", "0.05")
    assert (status, found["verdict"], found["limit"]) == (3, "unknown", "the solver's time limit")
    assert any("gave up" in note and "0.05 s" in note for note in found["notes"])
    assert found["counterexample"] is None
    undecided = [entry for entry in found["traces"] if "==" in entry["path"]]
    assert undecided and not any("input" in entry for entry in undecided)


def test_what_it_decides_beside_that(porcini, par) -> None:  # noqa: F811
    """Violated, by an input that was run; the condition names what is open."""
    model = par(f"if {CUBES} {{a := 1}} {{skip}} || a := 2 || b := w || b := 2")
    status, found = found_by(porcini, model, "--solver-timeout", "0.5")
    assert (status, found["verdict"]) == (1, "violated")
    values = found["counterexample"]["input"]
    given = [part for name, value in values.items() for part in ("--input", f"{name}={value}")]
    ends = [
        json.loads(porcini("replay", model, *given, schedule, "--json")[1])["outcomes"][0]["state"]
        for schedule in found["counterexample"]["schedules"]
    ]
    assert ends[0] != ends[1]
    assert "w != 2" in found["condition"] and found["limit"] == "the solver's time limit"


# Actors

TICKETS = "examples/abs/tickets.abs"


def test_actors(porcini) -> None:  # noqa: F811
    status, found = found_by(porcini, TICKETS)
    assert (status, found["verdict"], found["condition"]) == (1, "violated", "left >= 3 and left <= 4")
    kinds = {entry["kind"]: entry for entry in found["traces"]}
    assert kinds.keys() == {"terminated", "assertion"}
    assert kinds["terminated"]["state"]["0.0.tickets"].startswith("left")
    assert any(entry["labels"][1] == "0.1.buy(office, count) until await, line 17" for entry in found["traces"])
    for entry in found["traces"]:
        left = entry["input"]["left"]
        assert eval(entry["path"], {}, {"left": left})
        call = ("replay", TICKETS, "--input", f"left={left}", entry["schedule"], "--json")
        outcome = json.loads(porcini(*call)[1])["outcomes"][0]
        assert outcome["kind"] == entry["kind"]
        assert outcome["state"]["0.0.tickets"] == eval(str(entry["state"]["0.0.tickets"]), {}, {"left": left})


def test_test_cases_of_actors(porcini, tmp_path) -> None:  # noqa: F811
    tests = tmp_path / "tickets.json"
    assert porcini("symbolic", TICKETS, "--tests", str(tests), "--quiet")[0] == 1
    status, out, _ = porcini("replay", TICKETS, "--tests", str(tests))
    assert (status, out) == (0, "10 of 10 cases came out as expected.\n")


def test_an_input_in_a_list_is_an_error_with_its_place(porcini) -> None:  # noqa: F811
    status, out, err = porcini("symbolic", "examples/abs/philosophers.abs")
    assert (status, out) == (2, "") and "philosophers.abs:41:11: error: `1 % n` depends on an input" in err
    assert "p!eat(nth(forks, i), nth(forks, (i + 1) % n()));" in err


# What it refuses


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["examples/maude/counter.maude"], "`symbolic` has no meaning for .maude programs"),
        (["examples/promela/race.pml", "--input", "counter=3"], "ranges over all values: --input counter=?"),
        (["examples/promela/race.pml", "--input", "seen=?"], "`seen` cannot be an input"),
        ([WITHDRAWALS, "--input", "balance=3"], "--input is for the other commands"),
        ([WITHDRAWALS, "--equivalence", "none"], "invalid choice: 'none'"),
        ([WITHDRAWALS, "--solver-timeout", "0"], "above 0"),
        ([WITHDRAWALS, "--solver-timeout", "soon"], "above 0"),
        ([WITHDRAWALS, "--max-depth", "0"], "at least 1"),
        ([WITHDRAWALS, "--observe", "nothing"], "no such variable"),
        ([WITHDRAWALS, "--tests", "/nowhere/tests.json", "--quiet"], "cannot be written"),
        (["examples/par/nothing.par"], "error: "),
    ],
)
def test_refusals(porcini, arguments, message) -> None:  # noqa: F811
    status, out, err = porcini("symbolic", *arguments)
    assert (status, out) == (2, "") and message in err and "Traceback" not in err


@pytest.mark.parametrize(
    "name, source, place",
    [
        ("model.gcl", "b |-> ?, y |-> 0, b |> y := 1; True |> y := b + 1", "1:19"),
        ("model.gcl", "b |-> ?bool, y |-> 0,\nb |> y := 1; True |> y := b + 1", "2:27"),
        ("model.par", "y := b + 1;\nif b {skip} {skip}", "2:4"),
    ],
)
def test_an_input_is_a_number_or_a_boolean(porcini, gcl, name, source, place) -> None:  # noqa: F811
    status, out, err = porcini("symbolic", gcl(source, name))
    assert (status, out) == (2, "") and f"{name}:{place}: error: expected a " in err
