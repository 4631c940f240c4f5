"""Rewrite theories from the command line: the examples, exit status, JSON, replays, and what bad input says."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)

EXAMPLES = Path("examples/maude")
THREE = "a table for three"
_numbers = count()
COUNTER, PHILOSOPHERS, TABLE = (str(EXAMPLES / f"{name}.maude") for name in ("counter", "philosophers", "table"))
LOCKED, DEADLOCK = (str(EXAMPLES / f"{name}.toml") for name in ("counter_locked", "philosophers_deadlock"))

SOUP = """
  protecting NAT .
  sorts Thread Cell Conf .  subsorts Thread Cell < Conf .
  op none : -> Conf [ctor] .  op __ : Conf Conf -> Conf [ctor assoc comm id: none] .
  op t : Nat Nat -> Thread [ctor] .  op c : Nat -> Cell [ctor] .  vars I J K V : Nat .  vars S : Conf .
  op init : -> Conf .  eq init = t(0, 1) t(1, 2) c(0) .
"""
RULE = "  rl [add] : t(I, s K) c(V) => t(I, K) c(s V) .\n"
TOML = {"module": "BAD", "initial": "init", "state": "Conf", "thread": "Thread", "tid": "Nat"}
INFINITE = "  rl [add] : t(I, K) c(V) => t(I, K) c(s V) .\n"
PROPS = """mod BAD-PROPS is
  protecting BAD .  protecting QID .  including SATISFACTION .  subsort Conf < State .
  op x : Nat -> Prop [ctor] .  op done-1 : -> Prop [ctor] .  op named : Qid -> Prop [ctor] .
  var V : Nat .  var S : Conf .  var P : Prop .
  eq c(V) S |= x(V) = true .  eq c(V) S |= named('c) = true .  eq S |= P = false [owise] .
endm
"""


@pytest.fixture
def theory(tmp_path):
    """Write a theory named BAD and its description, with some keys changed, or None. No name is used twice."""

    def write(body: str = RULE, after: str = "", **keys: str | None) -> str:
        name = f"BAD{next(_numbers)}"
        path = tmp_path / f"{name}.maude"
        path.write_text(f"sload model-checker\nmod BAD is{SOUP}{body}endm\n{after}".replace("BAD", name))
        described = {key: value for key, value in (TOML | keys).items() if value is not None}
        text = "".join(f'{k} = "{v}"\n' for k, v in described.items())
        path.with_suffix(".toml").write_text(text.replace("BAD", name))
        return str(path)

    return write


@pytest.fixture
def three(tmp_path) -> str:
    """A table for three."""
    path = tmp_path / "three.toml"
    path.write_text(Path(PHILOSOPHERS).with_suffix(".toml").read_text().replace("table(5)", "table(3)"))
    return str(path)


@pytest.fixture
def found(porcini):  # noqa: F811
    """Run a command with --json; give its exit status and what it printed."""

    def call(*arguments: str) -> tuple[int, dict]:
        status, out, err = porcini(*arguments, "--json")
        assert err == ""
        return status, json.loads(out)

    return call


def refused(porcini, *arguments: str) -> str:  # noqa: F811
    """What is said about bad input: exit status 2, nothing on standard output, no trace of Python."""
    status, out, err = porcini(*arguments)
    assert (status, out) == (2, ""), (status, out, err)
    assert "Traceback" not in err and "Porcini bug" not in err and "\x1b" not in err
    return err


# The examples


@pytest.mark.parametrize(
    "arguments, status, first",
    [
        (["explore", COUNTER], 1, "The order matters: 2 outcomes in 4 executions (4 classes)."),
        (
            ["explore", COUNTER, "--por", LOCKED],
            0,
            "The order does not matter: 1 outcome in 2 executions (2 classes).",
        ),
        (["check", COUNTER], 0, "No order deadlocks or fails: 2 outcomes in"),
        (["check", PHILOSOPHERS, "--por", THREE], 0, "No order deadlocks or fails: 0 outcomes in"),
        (["check", PHILOSOPHERS, "--por", DEADLOCK], 1, "It can deadlock: 1 outcome in"),
        (["check", COUNTER, "--ltl", "<> (x(1) \\/ x(2))"], 0, "The formula holds: <> (x(1) \\/ x(2)); seen"),
        (["check", COUNTER, "--ltl", "<> x(2)"], 1, "The formula does not hold: <> x(2); seen"),
        (["check", COUNTER, "--ltl", "<> x(2)", "--por", LOCKED], 0, "The formula holds: <> x(2); seen"),
        (["check", PHILOSOPHERS, "--por", THREE, "--ltl", "[] ~ (eats(0) /\\ eats(1))"], 0, "The formula holds"),
        (
            ["check", PHILOSOPHERS, "--por", THREE, "--ltl", "[] <> eats(0)"],
            1,
            "The formula does not hold: [] <> eats(0); seen",
        ),
        (
            ["check", PHILOSOPHERS, "--por", THREE, "--ltl", "[] ~ eats(0)", "--engine", "graph"],
            1,
            "The formula does not hold",
        ),
        (["check", TABLE, "--ltl", "[] ~ (eats(0) /\\ eats(1))", "--max-states", "10"], 3, "Unknown: "),
        (["check", TABLE, "--ltl", "<> gone(1)", "--max-states", "10", "--engine", "graph"], 3, "Unknown: "),
        (["check", PHILOSOPHERS, "--max-states", "10"], 3, "Unknown: "),
    ],
)
def test_what_the_examples_say(porcini, three, arguments, status, first) -> None:  # noqa: F811
    arguments = [three if each is THREE else each for each in arguments]
    got, out, err = porcini(*arguments)
    assert (got, err) == (status, ""), out + err
    assert out.startswith(first), out
    lines = out.splitlines()
    assert "\x1b" not in out and all(line == line.rstrip() for line in lines)
    if arguments[0] == "explore":
        assert porcini(*arguments, "--quiet")[1] == lines[0] + "\n"


def test_explore_shows_states_and_schedules(porcini) -> None:  # noqa: F811
    _, out, _ = porcini("explore", COUNTER)
    assert re.search(r"^terminated +x=1 ", out, re.MULTILINE) and re.search(
        r"^terminated +x=2 ", out, re.MULTILINE
    )
    assert "load at-Cell('x)" in out and "Two schedules that differ in x:" in out
    assert "engine optimal, syntactic independence: 4 executions, 4 classes" in out


def test_a_deadlock_says_who_waits_for_what(porcini) -> None:  # noqa: F811
    _, out, _ = porcini("check", PHILOSOPHERS, "--por", DEADLOCK)
    for tid in range(5):
        assert f"thread {tid}" in out
    assert "acquire mutex(fork(0))" in out


def test_counterexamples_can_be_replayed(porcini, three) -> None:  # noqa: F811
    """The command that is printed, as it is printed."""
    for arguments in (
        ["explore", COUNTER],
        ["check", COUNTER, "--ltl", "<> x(2)"],
        ["check", COUNTER, "--ltl", "<> x(2)", "--no-reduction"],
        ["check", PHILOSOPHERS, "--por", three, "--ltl", "[] <> eats(0)"],
        ["check", PHILOSOPHERS, "--por", three, "--ltl", "[] <> eats(0)", "--engine", "graph"],
        ["check", PHILOSOPHERS, "--ltl", "<> eats(0)", "--por", DEADLOCK, "--ample", "single"],
        ["check", PHILOSOPHERS, "--por", DEADLOCK],
    ):
        _, out, _ = porcini(*arguments)
        commands = [
            line.split("porcini ", 1)[1] for line in out.splitlines() if line.strip().startswith("porcini ")
        ]
        assert commands, (arguments, out)
        for command in commands:
            status, again, err = porcini(*shlex.split(command))
            assert (err, status in (0, 1)) == ("", True), (command, err)
            assert again


def test_run_and_observe(porcini) -> None:  # noqa: F811
    status, out, err = porcini("run", COUNTER, "--observe", "x")
    assert (status, err) == (0, "") and "x=" in out
    assert "cannot observe `z`" in refused(porcini, "explore", COUNTER, "--observe", "z")


# JSON


def test_json_is_the_contract(found, three) -> None:
    keys = [
        *("schema", "porcini", "command", "file", "language", "engine", "independence", "property"),
        *("verdict", "stopped", "counts", "outcomes", "counterexample"),
    ]
    status, report = found("explore", COUNTER)
    assert (status, list(report)) == (1, keys)
    assert (report["language"], report["engine"], report["counts"]["classes"]) == ("maude", "optimal", 4)
    assert {(o["kind"], o["state"]["x"]) for o in report["outcomes"]} == {("terminated", 1), ("terminated", 2)}
    status, report = found("check", COUNTER, "--ltl", "<> x(2)")
    assert (status, list(report)) == (1, [*keys, "trail", "reduction"])
    assert (report["engine"], report["property"], report["verdict"]) == ("maude", "ltl <> x(2)", "violated")
    assert report["trail"]["loop"] == "" and set(report["trail"]["stem"].replace("x", " ").split()) <= {*"0123456"}
    status, report = found("check", PHILOSOPHERS, "--por", three, "--ltl", "[] <> eats(0)")
    assert report["trail"]["loop"] and report["engine"] == "maude" and report["counts"]["states"] > 0
    status, report = found("check", COUNTER, "--ltl", "<> x(2)", "--engine", "graph")
    assert (status, report["engine"]) == (1, "graph")


def test_a_limit_is_unknown_and_in_the_json(found) -> None:
    for engine in ("maude", "graph"):
        status, report = found("check", TABLE, "--ltl", "<> gone(0)", "--max-states", "20", "--engine", engine)
        assert (status, report["verdict"], report["stopped"]) == (3, "unknown", "limit")


@pytest.mark.parametrize("engine", ["maude", "graph"])
@pytest.mark.parametrize("limit", [("--max-states", "500"), ("--timeout", "2")])
def test_a_theory_with_infinitely_many_states_ends_in_unknown(found, theory, engine, limit) -> None:
    file = theory(INFINITE, PROPS, propositions="BAD-PROPS")
    status, report = found("check", file, "--ltl", "[] ~ x(100000000)", "--engine", engine, *limit)
    assert (status, report["verdict"], report["stopped"]) == (3, "unknown", "limit")


def test_an_infinite_theory_explored(found, theory) -> None:
    status, report = found("explore", theory(INFINITE), "--timeout", "1")
    assert (status, report["verdict"]) == (3, "unknown")
    status, report = found("check", theory(INFINITE), "--max-states", "200")
    assert (status, report["verdict"]) == (3, "unknown")


# Formulas


def test_propositions_with_quoted_identifiers(porcini, theory) -> None:  # noqa: F811
    """'c) && named(' is no string of Maude's."""
    file = theory(RULE, PROPS, propositions="BAD-PROPS")
    for engine in ("maude", "graph"):
        status, out, err = porcini("check", file, "--ltl", "[] (named('c) && ! named('d))", "--engine", engine)
        assert (status, err) == (0, ""), out


def test_names_with_signs_in_them(porcini, theory) -> None:  # noqa: F811
    file = theory(RULE, PROPS, propositions="BAD-PROPS")
    for engine in ("maude", "graph"):
        status, out, err = porcini("check", file, "--ltl", "[] ~ done-1 /\\ <> x(1)", "--engine", engine)
        assert (status, err) == (0, ""), out


def test_both_engines_count_no_steps_that_are_not_there(found) -> None:
    """X is for the original theory, in both."""
    for engine in ("maude", "graph"):
        assert found("check", COUNTER, "--ltl", "X X X X ! x(2)", "--engine", engine)[0] == 1
        status, report = found("check", COUNTER, "--ltl", "X X X ! x(2)", "--engine", engine)
        assert (status, report["verdict"]) == (0, "holds")
        assert any("no reduction" in note for note in report.get("notes", []))


# Bad input


def test_a_theory_that_does_not_load(porcini, theory) -> None:  # noqa: F811
    """Maude's own words, with file and line."""
    file = theory("  eq c(V) = d(V) .\n" + RULE)
    err = refused(porcini, "explore", file)
    line = Path(file).read_text().splitlines().index("  eq c(V) = d(V) .") + 1
    assert err.startswith(f"{file}:{line}:"), err
    assert "didn't expect token" in err or "no parse" in err or "bad token" in err


def test_a_file_that_ends_too_soon(tmp_path) -> None:
    """In a process of its own, since Maude waits for the rest."""
    (tmp_path / "half.maude").write_text("mod HALF is sort Conf .")
    (tmp_path / "half.toml").write_text("".join(f'{k} = "{v}"\n' for k, v in TOML.items()))
    command = [sys.executable, "-m", "porcini", "explore", str(tmp_path / "half.maude")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (2, "") and "half.maude" in done.stderr


@pytest.mark.parametrize(
    "text, said",
    [
        ("sload no-such-file\nmod BAD is endm\n", "no-such-file"),
        (b"\xff\xfe", "UTF-8"),
        ("", "there is no module `BAD`"),
        ("mod BAD is endm hello world", "`hello` begins no module"),
        ("mod BAD is protecting NOWHERE . endm", "NOWHERE"),
    ],
)
def test_files_that_are_no_theories(porcini, theory, text, said) -> None:  # noqa: F811
    file = theory()
    name = Path(file).stem
    Path(file).write_bytes(text if isinstance(text, bytes) else text.replace("BAD", name).encode())
    assert said.replace("BAD", name) in refused(porcini, "explore", file)


@pytest.mark.parametrize(
    "keys, line, said",
    [
        ({"module": "OTHER"}, 1, "there is no module `OTHER`"),
        ({"initial": "nothing(3)"}, 2, "nothing"),
        ({"initial": "3"}, 2, "no Conf"),
        ({"state": "Config"}, 3, "there is no sort `Config`"),
        ({"state": "conf"}, 3, "did you mean `Conf`?"),
        ({"state": "Nat"}, 3, "a `Nat` holds no `Thread`"),
        ({"thread": "Tread"}, 4, "there is no sort `Tread`"),
        ({"tid": "Tid"}, 5, "there is no sort `Tid`"),
        ({"propositions": "BAD-PROPS"}, 6, "there is no module `BAD-PROPS`"),
        ({"dependence": "BAD-POR"}, 6, "there is no module `BAD-POR`"),
        ({"colour": "red"}, 6, "unknown key `colour`"),
        ({"tid": ""}, 5, "`tid` wants a text"),
    ],
)
def test_wrong_values_in_a_description(porcini, theory, keys, line, said) -> None:  # noqa: F811
    file = theory(**keys)
    err = refused(porcini, "explore", file)
    said = said.replace("BAD", Path(file).stem)
    assert err.startswith(f"{file.removesuffix('.maude')}.toml:{line}:") and said in err, err


def test_other_wrong_descriptions(porcini, theory) -> None:  # noqa: F811
    for key in TOML:
        assert f"`{key}` is missing" in refused(porcini, "explore", theory(**{key: None}))
    file = theory()
    described = Path(file).with_suffix(".toml")
    described.write_text("module = BAD")
    assert "is no TOML" in refused(porcini, "explore", file)
    described.write_text("module = 3")
    assert "`module` wants a text" in refused(porcini, "explore", file)
    described.write_bytes(b"\xff")
    assert "cannot be read" in refused(porcini, "explore", file)
    described.unlink()
    err = refused(porcini, "explore", file)
    assert f"{Path(file).stem}.toml" in err and "no such file" in err and "--por" in err
    assert "no such file" in refused(porcini, "explore", file, "--por", "nowhere.toml")
    assert "a description is for rewrite theories only" in refused(
        porcini, "explore", "examples/gcl/vineyard.gcl", "--por", str(described)
    )


@pytest.mark.parametrize(
    "body, said",
    [
        (
            "  rl [meet] : t(I, K) t(J, K) t(V, K) => t(I, K) .\n",
            "rule `meet` has 3 threads on its left-hand side",
        ),
        ("  rl [tick] : c(V) => c(s V) .\n", "rule `tick` has no thread on its left-hand side"),
        ("  rl t(I, s K) => t(I, K) .\n", "a rule has no label"),
        (RULE + "  rl [add] : t(I, s K) => t(I, K) .\n", "rule `add` is not the only one of that name"),
        ("  crl [far] : t(I, s K) => t(I, K) if t(I, K) => S .\n", "rule `far` has a condition that rewrites"),
        (
            "  var U : Thread .  rl [any] : U c(V) => U c(s V) .\n",
            "rule `any` does not show the Nat of its thread",
        ),
        ("  rl [twice] : t(I, s K) => t(I, K) t(I, 0) .\n", "rule `twice` has its thread twice"),
        ("", "module BAD has no rules"),
    ],
)
def test_rules_that_no_thread_could_take(porcini, theory, body, said) -> None:  # noqa: F811
    """P1, 3.1."""
    file = theory(body)
    err = refused(porcini, "explore", file)
    assert said.replace("BAD", Path(file).stem) in err
    if "`" in said and body:
        line = 1 + max(n for n, text in enumerate(Path(file).read_text().splitlines()) if text + "\n" in body)
        assert err.startswith(f"{file}:{line}:") or "not the only one" in err, err


@pytest.mark.parametrize(
    "body, said",
    [
        ("  eq t(I, 0) = none .\n", "does not keep threads"),
        ("  eq t(I, 0) S = S .\n", "does not keep threads"),
        ("  eq t(I, 0) t(I, 0) = t(I, 0) .\n", "does not keep threads"),
        ("  eq t(I, 5) c(V) = t(I, 4) c(V) .\n", "looks at a thread together with something else"),
    ],
)
def test_equations_that_the_transformation_is_wrong_for(porcini, theory, body, said) -> None:  # noqa: F811
    file = theory(RULE + body)
    err = refused(porcini, "transform", file)
    assert said in err and err.startswith(file)


def test_wrong_formulas(porcini, theory) -> None:  # noqa: F811
    file = theory(RULE, PROPS, propositions="BAD-PROPS")
    for engine in ("maude", "graph"):
        assert "is not a term" in refused(porcini, "check", file, "--ltl", "[] y(0)", "--engine", engine)
        assert "no Prop" in refused(porcini, "check", file, "--ltl", "[] (2 + 3)", "--engine", engine)
        assert "--ltl:1:" in refused(porcini, "check", file, "--ltl", "[] x(0) &&", "--engine", engine)
    bare = theory(RULE)
    for engine in ("maude", "graph"):
        err = refused(porcini, "check", bare, "--ltl", "[] x(0)", "--engine", engine)
        assert "names no propositions" in err and "propositions = " in err
    assert refused(porcini, "transform", bare, "--ltl", "[] x(0)")


def test_wrong_commands(porcini, tmp_path) -> None:  # noqa: F811
    assert "only rewrite theories can be transformed" in refused(porcini, "transform", "examples/gcl/vineyard.gcl")
    assert refused(porcini, "transform", COUNTER, "-o", str(tmp_path / "no" / "such" / "folder.maude"))
    assert refused(porcini, "explore", COUNTER, "--engine", "symbolic")
    assert refused(porcini, "symbolic", COUNTER)
    assert refused(porcini, "permute", COUNTER)
    assert "no inputs" in refused(porcini, "explore", COUNTER, "--input", "x=3")
    assert refused(porcini, "check", "examples/gcl/vineyard.gcl", "--ltl", "<> flag", "--engine", "maude")
    assert refused(porcini, "explore", COUNTER, "--independence", "semantic")


def test_warnings_of_maude_are_shown(found, theory) -> None:
    """Not lost, and not printed behind the user's back."""
    status, report = found("explore", theory(RULE + "  op f : Nat -> Nat .  op f : NzNat -> Conf .\n"))
    assert status in (0, 1) and any("Maude: " in note for note in report["notes"]), report


def test_without_the_extra(tmp_path) -> None:
    """As if the bindings were not installed."""
    (tmp_path / "maude.py").write_text("raise ImportError('not installed')\n")
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), *filter(None, sys.path)])}
    for arguments in (["explore", COUNTER], ["transform", COUNTER]):
        done = subprocess.run(
            [sys.executable, "-m", "porcini", *arguments],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stdout) == (2, ""), done
        assert "pip install 'porcini[maude]'" in done.stderr and "Traceback" not in done.stderr
    done = subprocess.run(
        [sys.executable, "-m", "porcini", "explore", "examples/gcl/vineyard.gcl", "--quiet"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (1, ""), "all else works without it"


def test_a_model_is_data(porcini, theory, tmp_path) -> None:  # noqa: F811
    """Commands in a file are not for the shell: nothing is written, nothing is run."""
    file = theory(RULE)
    here = tmp_path / "made"
    Path(file).write_text(Path(file).read_text() + f"ls ; touch {here}\n")
    assert "`ls` begins no module: commands are not run" in refused(porcini, "explore", file)
    assert not here.exists()
