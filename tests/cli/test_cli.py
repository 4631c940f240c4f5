"""The outside contract: commands, exit status, JSON, and what bad input says."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from porcini.cli import main

VINEYARD = "examples/gcl/vineyard.gcl"


@pytest.fixture
def porcini(capsys):
    """Run a command; give its exit status, standard output and standard error."""

    def call(*arguments: str) -> tuple[int, str, str]:
        try:
            status = main([str(a) for a in arguments])
        except SystemExit as exit_:
            status = exit_.code
        out, err = capsys.readouterr()
        return status, out, err

    return call


@pytest.fixture
def gcl(tmp_path):
    def write(text: str | bytes, name: str = "model.gcl") -> str:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return str(path)

    return write


def test_explore_json_is_the_contract(porcini) -> None:
    status, out, err = porcini("explore", VINEYARD, "--json")
    found = json.loads(out)
    assert (status, err) == (1, "")
    assert list(found) == [
        *("schema", "porcini", "command", "file", "language", "engine", "independence", "property"),
        *("verdict", "stopped", "counts", "outcomes", "counterexample"),
    ]
    assert (found["schema"], found["command"], found["language"]) == (1, "explore", "gcl")
    assert (found["verdict"], found["stopped"], found["property"]) == ("violated", "exhausted", "deterministic")
    assert found["counts"]["classes"] == 5 and len(found["outcomes"]) == 4
    assert set(found["counts"]) == {"executions", "blocked", "classes", "states", "events"}
    assert {
        "kind": "terminated",
        "state": {"flag": True, "x": 4, "y": 1},
        "executions": 2,
        "schedule": "0x2 0.1x9 0.0",
    } in found["outcomes"]
    assert found["counterexample"]["differs"] == ["x"]


def test_exhaustive_counts_interleavings(porcini) -> None:
    _, out, _ = porcini("explore", VINEYARD, "--json", "--engine", "exhaustive")
    assert json.loads(out)["counts"]["executions"] == 7


def test_permute_json(porcini) -> None:
    status, out, _ = porcini("permute", VINEYARD, "--json", "--seeds")
    found = json.loads(out)
    assert status == 1 and len(found["traces"]) == 5 and found["seeds"] == []
    assert set(found["traces"][0]) == {"schedule", "labels", "path", "state", "kind"}
    assert found["engine"] == "fagiani"


def test_every_counterexample_replays(porcini) -> None:
    _, out, _ = porcini("explore", VINEYARD, "--json")
    states = []
    for schedule in json.loads(out)["counterexample"]["schedules"]:
        status, out, _ = porcini("replay", VINEYARD, schedule, "--json")
        assert status == 0
        states.append(json.loads(out)["outcomes"][0]["state"])
    assert states[0]["x"] != states[1]["x"]


def test_the_verdict_comes_first_and_the_parting_step_is_marked(porcini) -> None:
    _, out, _ = porcini("explore", VINEYARD)
    lines = out.splitlines()
    assert lines[0] == "The order matters: 4 outcomes in 5 executions (5 classes)."
    assert any(line.startswith(">  0.0  x == 0 or flag |> x := 2 * x  0.1  flag |> x := x + 2") for line in lines)
    assert "\x1b" not in out and all(line == line.rstrip() for line in lines)


def test_quiet(porcini) -> None:
    assert (
        porcini("explore", VINEYARD, "--quiet")[1]
        == "The order matters: 4 outcomes in 5 executions (5 classes).\n"
    )


@pytest.mark.parametrize(
    "source, options, status, verdict",
    [
        ("x |-> 0, True |> x := 1", [], 0, "holds"),
        ("x |-> 0, x == 1 |> skip", [], 1, "violated"),
        ("x |-> 0, x == 1 |> skip", ["--property", "deterministic"], 0, "holds"),
        ("x |-> 0, x == 1 |> skip", ["--property", "failure-free"], 0, "holds"),
        ("x |-> 0, True |> assert x == 1", ["--property", "failure-free"], 1, "violated"),
        ("x |-> 0, True |> assert x == 1", ["--property", "deadlock-free"], 0, "holds"),
        ("x |-> 0, True |>* x := x + 1", [], 3, "unknown"),
        ("x |-> 0, True |>* x := x + 1", ["--max-depth", "10"], 3, "unknown"),
        ("x |-> 0, True |> spawn(True |> x := 1); True |> x := 1", ["--max-executions", "1"], 3, "unknown"),
        ("x |-> 0, y |-> 0, True |> spawn(True |> x := 1); True |> x := 2", ["--observe", "y"], 0, "holds"),
        ("x |-> 0, True |> spawn(True |> x := 1); True |> x := 2", ["--max-executions", "2"], 1, "violated"),
    ],
)
def test_verdicts_and_exit_status(porcini, gcl, source, options, status, verdict) -> None:
    got, out, _ = porcini("explore", gcl(source), "--json", *options)
    assert (got, json.loads(out)["verdict"]) == (status, verdict)


def test_two_processes_that_never_end_are_unknown_soon(porcini, gcl) -> None:
    source = "x |-> 0, True |> spawn(True |>* x := 1 - x); True |>* x := 1 - x"
    status, out, _ = porcini("explore", gcl(source), "--json")
    found = json.loads(out)
    assert (status, found["verdict"], found["stopped"]) == (3, "unknown", "limit")
    for command in ("run", "permute"):
        assert porcini(command, gcl(source), "--json")[0] == 3


def test_the_first_violation_ends_the_search(porcini) -> None:
    found = json.loads(porcini("explore", VINEYARD, "--first", "--json")[1])
    assert (found["stopped"], found["verdict"], len(found["outcomes"])) == ("first-violation", "violated", 2)


def test_run_and_its_schedules(porcini, gcl) -> None:
    status, out, _ = porcini("run", VINEYARD, "--schedule", "0x2 0.1x5 0.0", "--json")
    assert status == 0
    assert json.loads(out)["outcomes"][0]["schedule"] == "0x2 0.1x5 0.0 0.1x4"
    first = porcini("run", VINEYARD, "--seed", "7", "--json")[1]
    assert first == porcini("run", VINEYARD, "--seed", "7", "--json")[1]
    assert porcini("run", gcl("x |-> 0, x == 1 |> skip"))[0] == 1
    assert porcini("run", gcl("x |-> 0, True |> assert x == 1"))[0] == 1


def test_a_deadlock_is_explained(porcini, gcl) -> None:
    model = gcl("x |-> 0,\nTrue |> spawn(x > 1 |> x := 0);\nx > 2 |> skip")
    status, out, _ = porcini("explore", model)
    assert status == 1
    assert f"  0.0 waits at {model}:2:15 for `x > 1`, where x = 0" in out.splitlines()
    found = json.loads(porcini("explore", model, "--json")[1])["outcomes"][0]
    assert found["waiting"][0] == {"pid": "0", "guard": "x > 2", "at": "3:1", "values": {"x": 0}}


def test_inputs(porcini, gcl) -> None:
    model = gcl("x |-> ?, b |-> ?bool, b |> x := x + 1")
    status, out, _ = porcini("run", model, "--input", "x=3", "--input", "b=true", "--json")
    assert (status, json.loads(out)["outcomes"][0]["state"]) == (0, {"b": True, "x": 4})
    for inputs in (["x=3"], ["x=3", "b=3"], ["x=z"], ["x"], ["q=1", "x=1", "b=true"]):
        status, _, err = porcini("run", model, *(part for item in inputs for part in ("--input", item)))
        assert status == 2 and len(err.splitlines()) == 1 and "error: " in err


BAD_MODELS = [
    ("x |-> 0, x = 1", "1:12", "unexpected '='"),
    ("x |-> 0, True |> y := 1", "1:18", "unknown name `y`"),
    ("count |-> 0, cuont == 1 |> skip", "1:14", "did you mean `count`?"),
    ("x |-> 0, True |> x := y + 1", "1:23", "unknown name `y`"),
    ("b |-> true, True |> b := 1", "1:26", "expected a boolean, found a number"),
    ("b |-> true, b + 1 == 2 |> skip", "1:13", "expected a number, found a boolean"),
    ("x |-> 0, x |> skip", "1:10", "expected a boolean, found a number"),
    ("x |-> 0, b |-> true, x == b |> skip", "1:27", "expected a number, found a boolean"),
    ("x |-> 0,\nx |-> 1,\nskip", "2:1", "`x` is bound twice"),
    ("{i |-> 0, i |-> 1, skip}", "1:11", "`i` is bound twice in one scope"),
    ("True |> p()", "1:9", "unknown procedure `p`"),
    ("proc go { skip } True |> goo()", "1:26", "did you mean `go`?"),
    ("proc p { skip } proc p { skip } skip", "1:22", "procedure `p` is defined twice"),
    ("{i |-> ?, skip}", "1:2", "an input must be bound at the start"),
    ("a |-> [1, 2], a == 1 |> skip", "1:15", "`a` is an array"),
    ("x |-> 1, x[0] == 1 |> skip", "1:10", "`x` is not an array"),
    ("a |-> [1, true], skip", "1:7", "numbers or booleans, not both"),
    ("a |-> [], skip", "1:7", "at least one cell"),
    ("x |-> 0, True |> x := 1 <", "1:26", "unexpected end of file"),
    ("x |-> 0, 1 < x < 3 |> skip", "1:16", "unexpected '<'"),
    ("x |-> 0, True |> x := " + "9" * 5000, "1:23", "number of 5000 digits"),
    ("x |-> 0, True |> x := " + "-" * 10_000 + "x", f"1:{22 + 10_000 - 90 + 1}", "nested more than 90 deep"),
    ("x |-> 0, " + "{" * 10_000 + "skip" + "}" * 10_000, f"1:{9 + 10_000 - 100 + 1}", "nested more than 100 deep"),
    ("x |-> 0, True |> x := " + "1 + " * 10_000 + "1", f"1:{22 + 90 * 4 - 1}", "nested more than 90 deep"),
    ("x |-> 0, skip\x00", "1:14", "unexpected character U+0000"),
    ("x |-> 0, skip €", "1:15", "unexpected '€'"),
]


@pytest.mark.parametrize("source, place, message", BAD_MODELS, ids=[message for *_, message in BAD_MODELS])
def test_bad_models(porcini, gcl, source, place, message) -> None:
    model = gcl(source)
    for command in ("run", "explore", "permute"):
        status, out, err = porcini(command, model)
        assert (status, out) == (2, "")
        first, line, caret = err.splitlines()
        assert first.startswith(f"{model}:{place}: error: ") and message in first
        assert (caret.strip() == "^" and line[caret.index("^") :]) or "end of file" in first


def test_the_caret_points_at_the_place(porcini, gcl) -> None:
    _, _, err = porcini("run", gcl("x |-> 0,\nTrue |> spawn(True |> zzz := 1)"))
    _, line, caret = err.splitlines()
    assert line[caret.index("^") :].startswith("zzz")


def test_bad_files(porcini, gcl, tmp_path) -> None:
    cases = {
        str(tmp_path / "missing.gcl"): "no such file",
        str(tmp_path): "is a directory",
        gcl(b"\xff\xfe\x00garbage\x80", "garbage.gcl"): "is not UTF-8 text",
        gcl("", "empty.gcl"): "the file is empty",
        gcl("  \n// nothing\n", "comment.gcl"): "unexpected end of file",
        gcl("skip", "model.xyz"): "unknown language",
        gcl("skip", "model"): "unknown language",
        "a\0b": "",
    }
    for file, message in cases.items():
        status, out, err = porcini("explore", file)
        assert (status, out) == (2, "") and message in err, (file, err)
        assert err.splitlines()[0].startswith(file) and len(err.splitlines()) in (1, 3)


BAD_SCHEDULES = [
    ("0x2 0.1x9", "1:10", "ends after step 11, but 0.0 can still move"),
    ("0x2 0.1x7 0.0 0.1x2", "1:11", "step 10: process 0.0 is blocked at `x == 0 or flag |> ...`"),
    ("0 0.1", "1:3", "step 2: process 0.1 cannot move here (0, 0.0 can)"),
    ("0x2 7", "1:5", "step 3: process 7 cannot move here"),
    ("0/1", "1:1", "step 1: process 0 has no choice 1"),
    ("0x2 huh", "1:5", "not a step of a schedule: 'huh'"),
    ("0x99999999999", "1:1", "not a step of a schedule"),
    ("0x99999999", "1:1", "a schedule of more than"),
    ("0x2 0.1x9 0.0 0", "1:15", "step 13: process 0 cannot move here (nothing can)"),
]


@pytest.mark.parametrize("schedule, place, message", BAD_SCHEDULES, ids=[s for s, _, _ in BAD_SCHEDULES])
def test_bad_schedules(porcini, schedule, place, message) -> None:
    status, out, err = porcini("replay", VINEYARD, schedule)
    assert (status, out) == (2, "")
    assert err.splitlines()[0].startswith(f"<schedule>:{place}: error: ") and message in err.splitlines()[0]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["explore", VINEYARD, "--engine", "warp"], "unknown engine `warp`"),
        (["explore", VINEYARD, "--independence", "vague"], "unknown independence `vague`"),
        (["explore", VINEYARD, "--property", "nice"], "invalid choice"),
        (["explore", VINEYARD, "--max-executions", "0"], "at least 1"),
        (["explore", VINEYARD, "--max-depth", "-1"], "at least 1"),
        (["explore", VINEYARD, "--timeout", "soon"], "number of seconds"),
        (["explore", VINEYARD, "--observe", "z"], "cannot observe `z`"),
        (["explore", VINEYARD, "--nonsense"], "unrecognized arguments"),
        (["explore"], "required: FILE"),
        (["frobnicate"], "invalid choice"),
        ([], "required: COMMAND"),
    ],
)
def test_bad_usage_is_one_line(porcini, arguments, message) -> None:
    status, out, err = porcini(*arguments)
    assert (status, out) == (2, "") and message in err and len(err.splitlines()) == 1


BUSY = "; ".join(f"True |> spawn({'; '.join(['True |> x := x + 1'] * 6)})" for _ in range(4))


def test_timeout(porcini, gcl) -> None:
    status, out, _ = porcini("explore", gcl(f"x |-> 0, {BUSY}"), "--timeout", "0.3", "--json")
    assert (status, json.loads(out)["limit"]) == (3, "the time limit of 0.3 s")


@pytest.mark.parametrize("command", ["run", "explore", "check", "symbolic", "permute"])
def test_a_program_that_cannot_be_read_in_time(porcini, gcl, monkeypatch, command) -> None:
    def never(*_: object, **__: object) -> None:
        while True:
            pass

    monkeypatch.setattr("porcini.cli.commands.load", never)
    file = gcl("x |-> 0, True |> x := 1")
    status, out, err = porcini(command, file, "--timeout", "0.1", "--json")
    found = json.loads(out)
    assert (status, err, found["command"], found["file"], found["language"]) == (3, "", command, file, "gcl")
    assert (found["verdict"], found["stopped"], found["limit"]) == ("unknown", "limit", "the time limit of 0.1 s")
    status, out, err = porcini(command, file, "--timeout", "0.1")
    assert (status, err) == (3, "") and "by the time limit of 0.1 s." in out.splitlines()[0]


def test_a_comparison_gives_each_engine_its_time(porcini, gcl) -> None:
    status, out, err = porcini("explore", gcl(f"x |-> 0, {BUSY}"), "--engine", "all", "--timeout", "0.3", "--json")
    assert (status, err) == (3, "")
    assert all(found["limit"] == "the time limit of 0.3 s" for found in json.loads(out))
    assert all(found["seconds"] > 0.25 for found in json.loads(out))


def test_interrupt_prints_what_is_known(gcl) -> None:
    command = [sys.executable, "-m", "porcini", "explore", gcl(f"x |-> 0, {BUSY}"), "--json"]
    began = time.monotonic()
    subprocess.run([sys.executable, "-m", "porcini", "--version"], check=True, capture_output=True)
    to_start = time.monotonic() - began  # on a busy machine that takes a while
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # behind `nohup` too
    )
    time.sleep(1.5 + 3 * to_start)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, err) == (130, "")
    found = json.loads(out)
    assert (found["verdict"], found["stopped"]) == ("unknown", "limit") and found["counts"]["executions"] > 0


def test_a_reader_that_goes_away_is_no_error(gcl) -> None:
    script = f"{sys.executable} -m porcini explore {VINEYARD} | head -1"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=dict(os.environ))
    assert done.stderr == "" and done.stdout.startswith("The order matters")


def test_what_readme_says_is_what_the_demo_prints(porcini) -> None:
    _, out, _ = porcini("explore", VINEYARD)
    readme = Path("README.md").read_text(encoding="utf-8")
    timeless = out.rsplit(",", 1)[0]
    assert timeless in readme
