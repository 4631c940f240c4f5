"""Promela from the command line: the examples, exit status, JSON, replays, and what bad input says."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)

MUTEX, BUFFER, RACE = (f"examples/promela/{name}.pml" for name in ("mutex", "bounded_buffer", "race"))
AGAIN = "[] <> Process[0]@inside"
COUNTER = "byte x; init { do :: x < 200 -> x++ :: else -> break od }"


@pytest.fixture
def pml(tmp_path):
    def write(text: str | bytes, name: str = "model.pml") -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


@pytest.fixture
def found(porcini):  # noqa: F811
    """Run a command with --json; give its exit status and what it printed."""

    def call(*arguments: str) -> tuple[int, dict]:
        status, out, err = porcini(*arguments, "--json")
        assert err == ""
        return status, json.loads(out)

    return call


# The examples


@pytest.mark.parametrize(
    "arguments, status, first",
    [
        ([MUTEX], 0, "No order deadlocks or fails, and its formulas hold (exclusive, gets_in): 0 outcomes in"),
        ([MUTEX, "--ltl", "exclusive"], 0, "The formula holds: exclusive; seen"),
        ([MUTEX, "--ltl", AGAIN], 1, f"The formula does not hold: {AGAIN}; seen"),
        ([MUTEX, "--ltl", AGAIN, "--fairness", "weak"], 0, f"The formula holds: {AGAIN}; seen"),
        ([BUFFER], 0, "No order deadlocks or fails, and its formulas hold (arrives): 1 outcome in"),
        ([BUFFER, "-D", "N=6", "-D", "SIZE=3"], 0, "No order deadlocks or fails, and its formulas hold (arrives)"),
        ([RACE], 1, "It can fail: 2 outcomes in"),
        ([MUTEX, "--max-states", "10"], 3, "Unknown: "),
    ],
)
def test_what_the_examples_say(porcini, arguments, status, first) -> None:  # noqa: F811
    got, out, err = porcini("check", *arguments)
    assert (got, err) == (status, "") and out.startswith(first)
    lines = out.splitlines()
    assert "\x1b" not in out and all(line == line.rstrip() for line in lines)
    assert porcini("check", *arguments, "--quiet")[1] == lines[0] + "\n"


@pytest.mark.parametrize("model", [MUTEX, BUFFER, RACE])
@pytest.mark.parametrize(
    "options",
    [
        ["--reduction", "none"],
        ["--reduction", "ample"],
        ["--reduction", "ample", "--ample", "single"],
        ["--search", "bfs"],
        ["--no-optimise"],
        ["--no-optimise", "--reduction", "none"],
    ],
)
def test_options_change_the_counts_only(found, model, options) -> None:
    status, with_options = found("check", model, *options)
    default_status, default = found("check", model)
    assert (status, with_options["verdict"]) == (default_status, default["verdict"])
    ends = [{(o["kind"], str(o["state"])) for o in report["outcomes"]} for report in (with_options, default)]
    assert ends[0] == ends[1]


@pytest.mark.parametrize("model, states", [(MUTEX, 38), (BUFFER, 100), (RACE, 27)])
def test_without_reduction_the_states_are_spins(found, pml, model, states) -> None:
    """For `race` SPIN has one more, as it goes on after the assertion."""
    plain = "".join(line for line in Path(model).read_text().splitlines(True) if not line.startswith("ltl"))
    report = found("check", pml(plain), "--no-optimise", "--reduction", "none")[1]
    assert report["counts"]["states"] == states


# JSON


def test_check_json_is_the_contract(found) -> None:
    status, holds = found("check", MUTEX)
    keys = [
        *("schema", "porcini", "command", "file", "language", "engine", "independence", "property"),
        *("verdict", "stopped", "counts", "outcomes", "counterexample"),
    ]
    assert list(holds) == [*keys, "formulas", "reduction", "machine"] and status == 0
    assert (holds["command"], holds["language"], holds["engine"]) == ("check", "pml", "graph")
    assert holds["property"] == "deadlock-free, failure-free, ltl exclusive, ltl gets_in"
    assert set(holds["counts"]) == {"executions", "blocked", "classes", "states", "events"}
    status, violated = found("check", MUTEX, "--ltl", AGAIN)
    assert [*keys, "trail", "reduction", "machine"] == list(violated) and status == 1
    assert holds["machine"] == violated["machine"] == "python"
    assert holds["reduction"] == violated["reduction"] == "stubborn"
    assert (violated["property"], violated["verdict"]) == (f"ltl {AGAIN}", "violated")
    assert (violated["stopped"], violated["trail"]) == ("first-violation", {"stem": "1", "loop": "1x7"})
    status, failed = found("check", RACE)
    assert (status, failed["property"], failed["verdict"]) == (1, "failure-free", "violated")
    assert {(o["kind"], o["state"]["counter"]) for o in failed["outcomes"]} == {
        ("assertion", 1),
        ("terminated", 2),
    }
    assert len(failed["counterexample"]["schedules"]) == 1


def test_a_limit_is_unknown_and_in_the_json(found, pml) -> None:
    status, report = found("check", pml(COUNTER), "--max-states", "10")
    assert (status, report["verdict"], report["stopped"]) == (3, "unknown", "limit")
    assert report["limit"] == "the limit of 10 states"
    assert found("check", pml(COUNTER), "--max-states", "10", "--ltl", "<> (x == 200)")[0] == 3
    assert found("run", pml("byte x; init { do :: x = 1 - x od }"), "--max-depth", "50")[0] == 3


def test_the_advice_fits_the_command(porcini, pml) -> None:  # noqa: F811
    out = porcini("check", pml(COUNTER), "--max-states", "10")[1]
    assert "porcini explore" in out or "--engine" not in out


# Replays


DEADLOCK = """chan a = [0] of { byte }; chan b = [0] of { byte }
active proctype P() { a!1; b?_ }
active proctype Q() { b!1; a?_ }"""
TOO_FAR = "byte a[2]; byte i; init { do :: i < 3 -> a[i] = 1; i++ :: else -> break od }"
MERGED = "byte a[2]; init { byte i; do :: i < 3 -> a[i] = 1; i++ :: else -> break od }"
ATOMIC = """byte x; chan c = [1] of { byte }
active proctype P() { atomic { x = 1; c?_; x = 2 } }
active proctype Q() { c!1; assert(x < 2) }"""
CHOICES = "byte x; active [2] proctype P() { if :: x = 1 :: x = x + 2 fi; select (x : 1 .. 3); assert(x != 3) }"
AGAIN_BORN = "byte n; proctype W() { n++ } init { run W(); (_nr_pr == 1); run W(); (_nr_pr == 1); assert(n < 2) }"


@pytest.mark.parametrize("options", [[], ["--search", "bfs"], ["--reduction", "none"], ["--no-optimise"]])
@pytest.mark.parametrize(
    "source, kind",
    [
        (DEADLOCK, "deadlock"),
        (TOO_FAR, "error"),
        pytest.param(MERGED, "error", id="merged"),
        (ATOMIC, "assertion"),
        (CHOICES, "assertion"),
        (AGAIN_BORN, "assertion"),
    ],
)
def test_every_schedule_of_a_bad_end_replays(porcini, found, pml, source, kind, options) -> None:  # noqa: F811
    model = pml(source)
    status, report = found("check", model, *options)
    assert (status, report["counterexample"] is not None) == (1, True)
    for schedule in report["counterexample"]["schedules"]:
        status, again = found("replay", model, schedule)
        assert (status, again["outcomes"][0]["kind"]) == (1, kind)
        line = f'porcini replay {model} "{schedule}"'
        assert line in porcini("check", model, *options)[1]


@pytest.mark.parametrize("model", [BUFFER, RACE])
def test_every_outcome_of_the_examples_replays(found, model) -> None:
    for command in ("check", "explore"):
        for outcome in found(command, model)[1]["outcomes"]:
            _, again = found("replay", model, outcome["schedule"])
            assert (again["outcomes"][0]["kind"], again["outcomes"][0]["state"]) == (
                outcome["kind"],
                outcome["state"],
            )


RING = "byte x; active proctype P() { do :: x == 0 -> x = 1 :: x == 1 -> x = 2 :: x == 2 -> x = 0 od }"
HANDS = """chan c = [0] of { byte }; bool on
active proctype S() { do :: c!1 :: c!2 od }
active proctype R() { byte v; do :: c?v; atomic { on = (v == 1); skip } od }"""


@pytest.mark.parametrize("options", [[], ["--reduction", "ample"], ["--fairness", "weak"], ["--no-optimise"]])
@pytest.mark.parametrize(
    "source, formula",
    [
        (RING, "<> [] (x == 1)"),
        (RING, "[] (x == 1 -> <> (x == 3))"),
        (HANDS, "[] <> on"),
        (HANDS, "<> [] !on"),
        ("byte x; init { x = 1 }", "[] <> (x == 0)"),
        ("byte x; active proctype P() { x = 1; x == 0 }", "<> (x == 2)"),
    ],
)
def test_every_trail_of_a_formula_replays(porcini, found, pml, source, formula, options) -> None:  # noqa: F811
    model = pml(source)
    status, report = found("check", model, "--ltl", formula, *options)
    assert (status, report["verdict"]) == (1, "violated")
    trail = report["trail"]
    assert set(trail) == {"stem", "loop"}
    printed = porcini("check", model, "--ltl", formula, *options)[1]
    if trail["loop"]:
        status, again = found("replay", model, trail["stem"], "--loop", trail["loop"])
        assert (status, again["property"], again["trail"]) == (1, "endless", trail)
        assert f'porcini replay {model} "{trail["stem"]}" --loop "{trail["loop"]}"' in printed
        assert "then for ever:" in printed
    else:
        assert found("replay", model, trail["stem"])[1]["outcomes"]
        assert f'porcini replay {model} "{trail["stem"]}"' in printed
        assert "then nothing more: it has ended" in printed


def test_a_loop_must_lead_back(porcini, pml) -> None:  # noqa: F811
    model = pml(RING)
    assert porcini("replay", model, "0/0 0", "--loop", "0/1 0 0/2 0 0 0")[0] == 1
    status, _, err = porcini("replay", model, "0/0 0", "--loop", "0/1 0")
    assert status == 2 and "does not lead back" in err
    status, _, err = porcini("replay", model, "0/0 0/1", "--loop", "0")
    assert status == 2 and "step 2: process 0 has no choice 1" in err
    status, _, err = porcini("replay", model, "0/0 0")
    assert status == 2 and "can still move" in err


def test_run_and_explore(porcini, found) -> None:  # noqa: F811
    status, out, _ = porcini("explore", RACE)
    assert status == 1 and out.startswith(
        "The order matters: 2 outcomes in 4 executions (4 classes); some runs fail"
    )
    status, run = found("run", RACE, "--schedule", "0x2 1 2x3 1x2")
    assert (status, run["outcomes"][0]["schedule"]) == (1, "0x2 1 2x3 1x2 0x2")
    status, out, _ = porcini("explore", RACE, "--engine", "all")
    assert status == 1 and len({tuple(line.split()[1:3]) for line in out.splitlines()[1:]}) == 1


# What goes wrong while it runs


@pytest.mark.parametrize(
    "source, message",
    [
        ("byte x, a[3]; init { a[x + 3] = 1 }", "1:22: array index 3 is out of range: the array has 3 cells"),
        ("byte a[3]; init { a[3] = 1 }", "1:19: array index 3 is out of range: the array has 3 cells"),
        ("byte x; init { x = 1 / x }", "1:16: division by zero"),
        ("byte x; init { x == 0; (1 % x) == 0 }", "1:24: division by zero"),
        ("byte x; init { d_step { x = 1; x == 2 } }", "1:32: blocked inside d_step"),
        ("byte x; init { d_step { x = 1; assert(x == 2) } }", "1:32: assertion `x == 2` failed"),
        ("chan c; init { c!1 }", "1:16: an uninitialised channel is used"),
    ],
)
def test_errors_are_outcomes(porcini, found, pml, source, message) -> None:  # noqa: F811
    model = pml(source)
    status, out, _ = porcini("check", model)
    assert status == 1 and f"Process 0 stopped at {model}:{message}\n" in out
    status, report = found("check", model)
    kind = "assertion" if "assertion" in message else "error"
    assert (status, report["property"]) == (1, "failure-free")
    assert [outcome["kind"] for outcome in report["outcomes"]] == [kind]


def test_there_are_255_processes_at_most(found, porcini, pml) -> None:  # noqa: F811
    model = pml("proctype P() { false } init { do :: run P() od }")
    status, report = found("run", model)
    assert (status, report["outcomes"][0]["kind"], report["outcomes"][0]["schedule"]) == (1, "error", "0x255")
    out = porcini("replay", model, "0x255")[1]
    assert out.startswith("Failed after 255 steps: too many processes: the limit is 255, as in SPIN.")
    status, out, _ = porcini("check", model, "--reduction", "none")
    message = "1:37: too many processes: the limit is 255, as in SPIN"
    assert status == 1 and f"Process 0 stopped at {model}:{message}\n" in out


def test_a_deadlock_is_explained(porcini, pml) -> None:  # noqa: F811
    model = pml("byte x; active proctype P() {\n  x = 1; if :: x == 2 -> skip :: x > 5 fi }")
    status, out, _ = porcini("check", model)
    assert status == 1
    assert f"  0 (P) waits at {model}:2:10 for `x == 2 or x > 5`, where x = 1" in out.splitlines()


def test_an_atomic_that_never_ends_is_unknown(found, pml) -> None:
    status, report = found("check", pml("byte x; init { atomic { do :: x = 1 - x od } }"))
    assert (status, report["verdict"]) == (3, "unknown")
    assert report["limit"] == "an atomic sequence that never ends"


def test_what_wraps_around_is_noted(porcini, pml) -> None:  # noqa: F811
    status, out, _ = porcini("check", pml("byte x = 255; init { x++ }"))
    assert status == 0 and "note: a value did not fit `x` and was wrapped around" in out.splitlines()


# Bad input


BAD_MODELS = [
    ("byte x\ninit { x = 1 }}", "2:15", "syntax error, saw '}'"),
    ("byte x; init { x = 5 + }", "1:24", "syntax error, saw '}'"),
    ("byte x; init { if x == 1 -> skip fi }", "1:19", "syntax error, saw 'x'"),
    ("byte x; init { x = 1", "1:21", "is a `}` missing?"),
    ("byte x; init { (x = 1) }", "1:19", "a comparison is `==`"),
    ("byte count; init { cuont = 1 }", "1:20", "undeclared variable: cuont (did you mean `count`?)"),
    ("init { f(3) }", "1:9", "no inline `f` is known here"),
    ("foo x; init { skip }", "1", "unknown type `foo`"),
    ("init { run Q(1) }", "1:8", "no proctype `Q`"),
    ("proctype P(byte b) { skip } init { run P() }", "1:36", "P takes 1 arguments, not 0"),
    ("chan c = [1] of { byte }; init { c!1,2 }", "1:34", "channel `c` takes 1 values, not 2"),
    ("init { c_code { x = 1 } }", "1:8", "`c_code` is outside the subset of Promela that Porcini runs"),
    ("c_decl { int x }; init { skip }", "1:1", "`c_decl` is outside the subset of Promela that Porcini runs"),
    ("byte c; init { STDIN?c }", "1:16", "`STDIN` is outside the subset of Promela that Porcini runs"),
    ("byte c; init { c!1 }", "1:16", "`c` is not a channel"),
    ("byte a[2]; init { a = 1 }", "1:19", "array `a` is used without an index"),
    ("byte a; init { a[1] = 1 }", "1:16", "`a` is not an array"),
    ("byte a[0]; init { skip }", "1:6", "array `a` of 0 cells"),
    ("typedef T { byte a }; T t; init { t.b = 1 }", "1:37", "typedef T has no field `b`"),
    ("init { goto L }", "1:8", "label `L` is not defined"),
    ("init { break }", "1:8", "`break` outside a loop"),
    ("byte x; byte x; init { skip }", "1:14", "variable x is declared twice"),
    ("proctype P() { skip } proctype P() { skip } init { skip }", "1:32", "proctype P is declared twice"),
    ("byte x;", "1:1", "no process"),
    ("init { STDIN?x }", "1:8", "`STDIN` is outside the subset of Promela that Porcini runs"),
    ("byte x; ltl p { [] y } init { skip }", "1:20", "undeclared variable: y"),
    ("byte x; ltl p { [] (x == 1 } init { skip }", "1", "'(' is never closed"),
    ("active proctype P() { skip } ltl p { <> P@L }", "1:41", "proctype P has no label `L`"),
    ("#include <stdio.h>\ninit { skip }", "1:1", "`#include` needs a file's name"),
    ("#if 1\ninit { skip }", "1:2", "`#if` without `#endif`"),
    ("x := 1", "1", "syntax error"),
    ("int main() { return 0; }", "1:9", "syntax error, saw '('"),
    ("#!/bin/sh\necho hello", "1:2", "unknown directive"),
    ("init { skip } €", "1:15", "saw the character '€'"),
]


@pytest.mark.parametrize("source, place, message", BAD_MODELS, ids=[message for *_, message in BAD_MODELS])
def test_bad_models(porcini, pml, source, place, message) -> None:  # noqa: F811
    model = pml(source)
    for command in ("check", "explore") if "ltl" not in source else ("check",):
        status, out, err = porcini(command, model)
        assert (status, out) == (2, "")
        lines = err.splitlines()
        assert lines[0].startswith(f"{model}:{place}") and message in lines[0]
        assert len(lines) == 3 and lines[2].strip() == "^"
        if ":" in place:
            line, column = map(int, place.split(":"))
            assert lines[0].startswith(f"{model}:{place}: error: ")
            assert lines[1] == "  " + source.splitlines()[line - 1] and lines[2] == " " * (column + 1) + "^"


@pytest.mark.parametrize(
    "block, place", [("ltl p { [] (y == 1) }", "1:13"), ("ltl p { [] (x == 1\n  -> <> y) }", "2:9")]
)
def test_places_in_ltl_blocks(porcini, pml, block, place) -> None:  # noqa: F811
    model = pml(f"{block}\nbyte x; init {{ skip }}")
    assert porcini("check", model)[2].startswith(f"{model}:{place}: error: undeclared variable: y")


def test_a_missing_operand_is_not_blamed_on_the_brace(porcini, pml) -> None:  # noqa: F811
    assert "a block needs a statement" not in porcini("check", pml("byte x; init { x = 5 +; }"))[2]


@pytest.mark.parametrize(
    "content, message",
    [(b"", "the file is empty"), (b" \n\n", "the file is empty"), (b"\xff\xfe\x00", "is not UTF-8 text (byte 0)")],
)
def test_files_that_are_no_models(porcini, pml, content, message) -> None:  # noqa: F811
    status, out, err = porcini("check", pml(content))
    assert (status, out) == (2, "") and message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "formula, column, message",
    [
        ("<> fuo", 4, "undeclared variable: fuo"),
        ("[] (count == 1 -> turm == 0)", 19, "undeclared variable: turm (did you mean `turn`?)"),
        ("[] <> Process[0]@insid", 7, "proctype Process has no label `insid` (known: waits, inside)"),
        ("[] Proces[0]@inside", 4, "no proctype `Proces`"),
        ("[] (Process[0]:what == 1)", 5, "proctype Process has no variable `what`"),
        ("[] (count == )", 14, "expected an operand after '=='"),
        ("([] count", 1, "'(' is never closed"),
        ("count <", 8, "expected an operand after '<', found the end"),
        ("<> timeout", 4, "`timeout` is not a proposition"),
    ],
)
def test_errors_in_a_formula_show_the_formula(porcini, formula, column, message) -> None:  # noqa: F811
    status, out, err = porcini("check", MUTEX, "--ltl", formula)
    lines = err.splitlines()
    assert (status, out) == (2, "") and lines[0].startswith(f"--ltl:1:{column}: error: ") and message in lines[0]
    assert lines[1:] == ["  " + formula, " " * (column + 1) + "^"]


def test_next_is_noted(porcini) -> None:  # noqa: F811
    status, out, _ = porcini("check", MUTEX, "--ltl", "X (wants[0] || wants[1])")
    assert status == 0 and any(line.startswith("note: X counts steps: no reduction") for line in out.splitlines())


@pytest.mark.parametrize(
    "options, message",
    [
        (["-D", "1=2"], "-D wants NAME or NAME=TEXT, not '1=2'"),
        (["-D", "=3"], "-D wants NAME or NAME=TEXT, not '=3'"),
        (["-D"], "expected one argument"),
        (["--ltl"], "expected one argument"),
        (["--max-states", "0"], "wants a whole number of at least 1"),
        (["--fairness", "strong"], "invalid choice: 'strong'"),
        (["--reduction", "all"], "invalid choice: 'all'"),
        (["--input", "x=3"], "`x` is not an input of examples/promela/race.pml (known: counter)"),
        (["--input", "counter=256"], "input `counter` wants a number from 0 to 255, not 256"),
        (["--input", "counter=true"], "input `counter` wants a number, not True"),
        (["--observe", "nothing"], "cannot observe `nothing`: no such variable"),
    ],
)
def test_options_that_do_not_fit(porcini, options, message) -> None:  # noqa: F811
    status, out, err = porcini("check", RACE, *options)
    assert (status, out) == (2, "") and message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize(
    "command",
    [
        ["explore", RACE, "--engine", "transdpor"],
        ["check", "examples/gcl/bank.gcl", "-D", "N=3"],
        ["check", "examples/promela/none.pml"],
        ["check", "examples/promela"],
        ["check", "README.md"],
    ],
)
def test_commands_that_do_not_fit(porcini, command) -> None:  # noqa: F811
    status, out, err = porcini(*command)
    assert (status, out) == (2, "") and "error: " in err and len(err.splitlines()) == 1


def test_macros_from_the_command_line(found, pml) -> None:
    model = pml("#ifndef N\n#define N 2\n#endif\n#ifdef BIG\n#define M 100\n#else\n#define M 1\n#endif\n"
                "byte x; init { x = N * M }")  # fmt: skip
    assert found("check", model)[1]["outcomes"][0]["state"] == {"x": 2}
    assert found("check", model, "-D", "N=1 + 2", "-D", "BIG")[1]["outcomes"][0]["state"] == {"x": 201}


def test_a_macro_can_be_nothing(found, pml) -> None:
    model = pml("byte x; init { x = 5 N }")
    assert found("check", model, "-D", "N=")[1]["outcomes"][0]["state"] == {"x": 5}


# The page


PAGE = Path("docs/promela.md").read_text(encoding="utf-8")
SHOWN = [
    part.split("\n", 1)
    for block in re.findall(r"^```\n\$ (.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)
]


@pytest.mark.parametrize("command, shown", SHOWN, ids=[command for command, _ in SHOWN])
def test_the_page_shows_what_is_printed(porcini, command, shown) -> None:  # noqa: F811
    _, out, err = porcini(*shlex.split(command)[1:])
    out, shown = (re.sub(r"\d+\.\d\d s$", "a while", text, flags=re.MULTILINE) for text in (out, shown))
    pattern = ".*".join(map(re.escape, re.split(r"^\.\.\.\n", shown, flags=re.MULTILINE)))
    assert err == "" and re.fullmatch(pattern, out, re.DOTALL), out


def test_the_pages_rendezvous(porcini, pml) -> None:  # noqa: F811
    model = pml(re.search(r"^chan c = .*?(?=^```)", PAGE, re.MULTILINE | re.DOTALL).group())
    assert "1  0  c!2 -> 1: c?_\n" in porcini("replay", model, "0/5")[1]


# Formulas


def test_an_input_is_another_first_value(found, pml) -> None:
    model = pml("byte x = 1; bool f; byte y; init { if :: f -> y = x :: else -> y = 2 * x fi }")
    state = found("run", model, "--input", "x=5", "--input", "f=true")[1]["outcomes"][0]["state"]
    assert state == {"f": True, "x": 5, "y": 5}
    for command in ("explore", "check"):
        assert found(command, model, "--input", "x=7")[1]["outcomes"][0]["state"]["y"] == 14


def test_formulas_and_claims_see_inputs(found, pml) -> None:
    model = pml("byte x; byte a[3]; init { a[x] = 1 } never { do :: x == 2 -> break :: else od }")
    assert found("check", model)[0] == 0 and found("check", model, "--input", "x=2")[0] == 1
    plain = pml("byte x; byte a[3]; init { a[x] = 1 }")
    assert found("check", plain, "--ltl", "<> a[2] == 1")[0] == 1
    assert found("check", plain, "--ltl", "<> a[2] == 1", "--input", "x=2")[0] == 0


def test_what_declarations_use_is_no_input(porcini, pml) -> None:  # noqa: F811
    model = pml("byte n = 2; byte a[n]; byte x; init { x = n }")
    status, _, err = porcini("run", model, "--input", "n=3")
    assert status == 2 and "`n` is not an input" in err and "(known: x)" in err


def test_symbolic_with_cases_that_come_back(found, pml, tmp_path) -> None:
    model = pml("byte x; byte y; active proctype P() { x > 3; y = x } active proctype Q() { x = x + 1 }")
    tests = str(tmp_path / "cases.json")
    status, report = found("symbolic", model, "--input", "x=?", "--tests", tests)
    assert status == 1 and report["condition"] == "x >= 4"
    assert {entry["kind"] for entry in report["traces"]} == {"terminated", "deadlock"}
    assert found("replay", model, "--tests", tests)[0] == 0
    status, report = found("symbolic", model)  # on the one input that there is
    assert status == 1 and [entry["kind"] for entry in report["traces"]] == ["deadlock"]


def test_permute_lists_what_can_be_replayed(found, pml) -> None:
    model = pml("chan r = [0] of { byte }; byte x; active proctype P() { r!x; x = 1 } active proctype Q() "
                "{ byte i; r?i; x = i + 2 }")  # fmt: skip
    _, report = found("permute", model)
    assert len(report["traces"]) == 2
    for entry in report["traces"]:
        assert found("replay", model, entry["schedule"])[1]["outcomes"][0]["state"] == entry["state"]
