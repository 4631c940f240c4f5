"""What a command says where it has no answer: one line, an exit status that is not 1, an object with --json."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from shlex import quote

import pytest

from cli.test_cli import VINEYARD, gcl, porcini  # noqa: F401
from forking import Forking
from porcini.api import compare
from porcini.core.errors import InternalError
from porcini.engines.optimal import Optimal

LOST = """x |-> 0, y |-> 0, True |> spawn(True |> y := x); True |> spawn(True |> x := 1)"""


def broken(problem: Exception):
    def raises(*_: object) -> None:
        raise problem

    return raises


@pytest.mark.parametrize(
    ("problem", "message"),
    [
        (InternalError("a theorem does not hold"), "a theorem does not hold"),
        (KeyError("method z"), "KeyError: 'method z'"),
        (AssertionError(), "AssertionError: "),
        (RuntimeError("first line\nsecond line"), "RuntimeError: first line"),
    ],
)
def test_a_bug_of_ours_is_one_line_and_status_4(porcini, monkeypatch, problem, message) -> None:  # noqa: F811
    monkeypatch.setattr(Optimal, "next_move", broken(problem))
    status, out, err = porcini("explore", VINEYARD)
    assert (status, out) == (4, "")
    assert err.startswith(f"porcini: internal error: {message}") and len(err.splitlines()) == 1
    assert "please report" in err and "Traceback" not in err
    status, out, err = porcini("explore", VINEYARD, "--json")
    assert status == 4 and len(err.splitlines()) == 1
    error = {"kind": "internal", "message": message, "file": None, "line": None, "column": None}
    assert json.loads(out) == {"schema": 1, "error": error}
    status, _, err = porcini("explore", VINEYARD, "--debug")
    assert status == 4 and "Traceback (most recent call last)" in err


def test_errors_in_a_file_have_their_place_in_json(porcini, gcl) -> None:  # noqa: F811
    file = gcl("x |-> 0,\nTrue |> z := 1")
    status, out, err = porcini("explore", file, "--json")
    error = json.loads(out)["error"]
    assert (status, error["kind"], error["file"], error["line"], error["column"]) == (2, "input", file, 2, 9)
    assert error["message"] in err


@pytest.mark.parametrize(
    "arguments", [["explore"], ["explore", VINEYARD, "--depth", "0"], ["frobnicate"], ["explore", "a", "b", "c"]]
)
def test_usage_errors_are_objects_too(porcini, arguments) -> None:  # noqa: F811
    status, out, err = porcini(*arguments, "--json")
    assert (status, json.loads(out)["error"]["kind"]) == (2, "usage") and len(err.splitlines()) == 1
    status, out, err = porcini(*arguments)
    assert (status, out) == (2, "") and len(err.splitlines()) == 1


def test_a_missing_file_and_a_schedule_that_does_not_fit(porcini) -> None:  # noqa: F811
    status, out, _ = porcini("explore", "missing.gcl", "--json")
    assert (status, json.loads(out)["error"]["file"]) == (2, "missing.gcl")
    status, out, _ = porcini("replay", VINEYARD, "0x2 0.7", "--json")
    assert (status, json.loads(out)["error"]["column"]) == (2, 5)


@pytest.mark.parametrize("more", [[], ["--json"], ["--quiet"], ["--engine", "all"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_a_full_disk(more: list[str]) -> None:
    command = [sys.executable, "-m", "porcini", "explore", VINEYARD, *more]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, len(done.stderr.splitlines())) == (4, 1)
    assert done.stderr == "porcini: error: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["explore", "--help"]])
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_help_on_a_full_disk(arguments: list[str]) -> None:
    """argparse keeps quiet about it."""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([sys.executable, "-m", "porcini", *arguments], stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 4


def test_nowhere_to_complain_to() -> None:
    """It printed to standard output, before the JSON object."""
    command = f"{quote(sys.executable)} -m porcini explore missing.gcl --json 2>&-"
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, text=True)
    assert (done.returncode, json.loads(done.stdout)["error"]["kind"]) == (2, "input")


ODD = """
class Silent(Exception):
    def __str__(self): raise ValueError
async def silent(): raise Silent
async def surrogate(): return chr(0xd800)
async def raises_one(): raise ValueError(chr(0xd800))
async def cyclic():
    found = []
    found.append(found)
    return found
"""


@pytest.fixture(scope="module")
def forking():
    process = Forking(("porcini.cli", "porcini.coroutines.code"))
    yield process
    process.close()


@pytest.mark.parametrize("command", ["explore", "run"])
@pytest.mark.parametrize("function, status", [("silent", 1), ("surrogate", 0), ("raises_one", 1), ("cyclic", 0)])
def test_values_and_exceptions_that_are_hard_to_show(
    forking, tmp_path, command: str, function: str, status: int
) -> None:
    (tmp_path / "odd.py").write_text(ODD)
    for more in ([], ["--json"]):
        found, out, err = forking(command, f"odd:{function}", *more, folder=tmp_path)
        assert (found, err) == (status, "")
        assert not more or json.loads(out)["schema"] == 1


def test_a_module_that_ends_the_process(tmp_path) -> None:
    """The status was 0, "holds"."""
    (tmp_path / "leaves.py").write_text("import sys\nsys.exit(0)\nasync def f(): pass\n")
    call = [sys.executable, "-m", "porcini", "explore", "leaves:f", "--json"]
    done = subprocess.run(call, cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, json.loads(done.stdout)["error"]["line"]) == (2, 2)


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_reader_who_goes_away(more: list[str]) -> None:
    """`| head -1` wants no message, but nobody can take the status for a verdict."""
    command = [sys.executable, "-m", "porcini", "explore", VINEYARD, *more]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    run.stdout.close()
    assert (run.stderr.read(), run.wait()) == ("", 4)


def forgetting(tree, sequence, dependence):
    """A mutant of `insert` that loses every sequence."""
    return False


def test_engines_that_disagree_are_a_bug(porcini, gcl, monkeypatch) -> None:  # noqa: F811
    model = gcl(LOST)
    status, out, _ = porcini("explore", model, "--engine", "all")
    assert status == 1 and len({line.split()[2:3] == ["2"] for line in out.splitlines()[1:]}) == 1
    monkeypatch.setattr("porcini.engines.optimal.insert", forgetting)
    status, out, err = porcini("explore", model, "--engine", "all")
    assert status == 4 and out.startswith("engine ") and "internal error: engines disagree" in err
    assert "`exhaustive`: violated, 2 outcomes, 2 classes, but `optimal`: holds, 1 outcomes, 1 classes" in err
    status, out, _ = porcini("explore", model, "--engine", "all", "--json")
    assert (status, json.loads(out)["error"]["kind"]) == (4, "internal")
    with pytest.raises(InternalError, match="disagree"):
        compare(model)


def test_all_engines_are_asked_what_was_asked(porcini, gcl) -> None:  # noqa: F811
    model = gcl(LOST)
    for arguments in (["--property", "deadlock-free"], ["--observe", "x"]):
        status, out, _ = porcini("explore", model, "--engine", "all", "--json", *arguments)
        assert status == 0 and {report["verdict"] for report in json.loads(out)} == {"holds"}
