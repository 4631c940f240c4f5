"""Languages and engines of other people: packages as the docs show them, installed and used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docs_of import blocks
from forking import Forking
from porcini.cli import problems

PACKAGES = Path(__file__).parents[1] / "third_party"
TWO = "x=1 y=x\nx+2 x*3\n"


@pytest.mark.parametrize(
    ("page", "folder", "module"),
    [("add-a-language.md", "turns", "turns.py"), ("add-an-engine.md", "round_robin", "round_robin.py")],
)
def test_the_docs_show_the_whole_package(page: str, folder: str, module: str) -> None:
    assert blocks(page, "toml") == [(PACKAGES / folder / "pyproject.toml").read_text("utf-8")]
    assert blocks(page, "python") == [(PACKAGES / folder / module).read_text("utf-8")]


@pytest.fixture(scope="module")
def porcini(tmp_path_factory):
    """A command that finds both packages, which are installed into a folder of their own."""
    folder = tmp_path_factory.mktemp("installed")
    sources = tmp_path_factory.mktemp("sources")
    for name in ("turns", "round_robin"):  # the build leaves files behind
        copy = sources / name
        copy.mkdir()
        for file in (PACKAGES / name).iterdir():
            if file.is_file():
                (copy / file.name).write_bytes(file.read_bytes())
    offline = ["--no-index", "--no-build-isolation", "--no-deps"]
    packages = [str(sources / "turns"), str(sources / "round_robin")]
    install = [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", str(folder), *packages]
    subprocess.run(install, check=True)

    path = os.pathsep.join(filter(None, [str(folder), os.environ.get("PYTHONPATH")]))
    process = Forking(environment=os.environ | {"PYTHONPATH": path})
    yield process
    process.close()


@pytest.fixture
def two(tmp_path) -> str:
    file = tmp_path / "two.turns"
    file.write_text(TWO)
    return str(file)


def test_a_language_from_elsewhere(porcini, two) -> None:
    found = {}
    for engine in ("exhaustive", "sleep", "dpor", "source", "optimal"):
        status, out, err = porcini("explore", two, "--engine", engine, "--json")
        report = json.loads(out)
        assert (status, report["language"], report["counts"]["classes"], err) == (1, "turns", 6, "")
        found[engine] = {(o["state"]["x"], o["state"]["y"]) for o in report["outcomes"]}
    assert set(map(frozenset, found.values())) == {frozenset({(9, 1), (9, 3), (9, 9), (3, 1), (3, 3), (1, 1)})}
    assert porcini("check", two)[0] == 0
    assert porcini("replay", two, "0x2 1x2")[0] == 0


def test_its_processes_may_wait(porcini, tmp_path) -> None:
    found = set()
    for text, kinds in (
        ("x?1 y=1\ny?1 x=1\n", {"deadlock"}),
        ("x=1 x=2 y=5\nx?1 y=7\n", {"deadlock", "terminated"}),
        ("x=1 y?x\ny=1 x+1\nx?2 y=2\n", {"deadlock", "terminated"}),
    ):
        file = tmp_path / "waits.turns"
        file.write_text(text)
        for engine in ("exhaustive", "sleep", "dpor", "source", "optimal"):
            status, out, _ = porcini("explore", str(file), "--engine", engine, "--json")
            report = json.loads(out)
            assert (status, {outcome["kind"] for outcome in report["outcomes"]}) == (1, kinds), engine
            found.add((text, report["counts"]["classes"]))
        assert porcini("check", str(file))[0] == 1
    assert len(found) == 3


def test_its_runs_are_traces(porcini, two, tmp_path) -> None:
    """It has no guards, so all reorderings are executable, and these are all classes there are."""
    file = tmp_path / "run.jsonl"
    assert porcini("run", two, "--trace", file)[0] == 0
    status, out, _ = porcini("permute", "--trace", file, "--json")
    report = json.loads(out)
    assert (status, report["language"], report["trace"]["exact"], len(report["traces"])) == (3, "turns", False, 6)


def test_what_it_does_not_provide_is_refused_with_the_reason(porcini, two, tmp_path) -> None:
    for command in (["permute"], ["check", "--ltl", "<> x"], ["explore", "--engine", "transdpor"]):
        status, _, err = porcini(command[0], two, *command[1:])
        assert status == 2 and "is not for .turns programs: their language does not provide" in err
    bad = tmp_path / "bad.turns"
    bad.write_text("x=1\n y=1 x-1")
    assert porcini("run", str(bad))[2].splitlines()[0].endswith("bad.turns:2:6: error: `x-1` is not a step")


def test_an_engine_from_elsewhere(porcini, two) -> None:
    status, out, _ = porcini("explore", two, "--engine", "round-robin", "--json")
    report = json.loads(out)
    assert (status, report["verdict"], report["limit"]) == (3, "unknown", "one run only")
    assert report["outcomes"][0]["schedule"] == "0 1 0 1"
    assert porcini("explore", "examples/gcl/vineyard.gcl", "--engine", "round-robin")[0] == 3
    status, out, _ = porcini("explore", "examples/promela/mutex.pml", "--engine", "round-robin")  # has no end
    assert (status, out.splitlines()[0].partition(", ")[2]) == (3, "stopped by the depth limit of 100,000 steps.")


def test_both_are_in_the_tables(porcini) -> None:
    languages = json.loads(porcini("languages", "--json")[1])["languages"]
    turns = next(row for row in languages if row["name"] == ".turns")
    assert turns["engines"]["optimal"] is None and turns["engines"]["round-robin"] is None
    assert turns["commands"]["symbolic"] == "their language does not provide what this needs"
    assert "round-robin" in {engine["name"] for engine in json.loads(porcini("engines", "--json")[1])["engines"]}
    assert "one run, in which processes take turns" in porcini("engines")[1]


@pytest.mark.parametrize("inside, ours", [("turns", False), ("helper", False), ("porcini.core.pids", True)])
def test_its_errors_are_not_ours(monkeypatch, inside: str, ours: bool) -> None:
    """A fault in a plug-in, or below it; a call of ours that goes wrong is our fault."""
    monkeypatch.setattr(problems, "plug_ins", lambda: {"turns"})
    plug_in, below = {"__name__": "turns"}, {"__name__": inside}
    exec("def fail(): return {}['x']", below)
    exec("def fire(): return fail()", plug_in | {"fail": below["fail"]}, plug_in)
    with pytest.raises(KeyError) as raised:
        plug_in["fire"]()
    text = problems.problem_of(raised.value).text
    assert ("a bug in Porcini" in text) == ours
    assert ("raised in `turns`, which is not part of Porcini" in text) != ours
