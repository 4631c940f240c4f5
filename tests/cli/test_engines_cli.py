"""Engines from the command line: comparison, walks, bounds, independence."""

from __future__ import annotations

import json

import pytest

from cli.test_cli import VINEYARD, gcl, porcini  # noqa: F401  (fixtures)
from porcini.cli import main

COUNTER = "x |-> 0, " + "; ".join(["True |> spawn(True |> x := x + 1)"] * 3)


def test_all_engines_in_one_table(porcini) -> None:  # noqa: F811
    status, out, _ = porcini("explore", VINEYARD, "--engine", "all")
    lines = out.splitlines()
    assert status == 1 and lines[0].split()[:2] == ["engine", "verdict"]
    names = ["exhaustive", "sleep", "dpor", "source", "optimal", "fagiani"]
    assert [line.split()[0] for line in lines[1:]] == names
    table = json.loads(porcini("explore", VINEYARD, "--engine", "all", "--json")[1])
    assert [entry["engine"] for entry in table] == names
    assert {entry["counts"]["classes"] for entry in table} == {5}


@pytest.mark.parametrize("engine", ["random", "pct"])
def test_walks_are_seeded_and_prove_nothing(porcini, gcl, engine) -> None:  # noqa: F811
    model = gcl(COUNTER)
    call = ("explore", model, "--engine", engine, "--seed", "3", "--max-executions", "50", "--json")
    status, out, _ = porcini(*call)
    found = json.loads(out)
    assert (status, found["verdict"], found["counts"]["executions"]) == (3, "unknown", 50)
    assert porcini(*call)[1] == out
    status, out, _ = porcini("explore", VINEYARD, "--engine", engine, "--json")
    assert (status, json.loads(out)["verdict"]) == (1, "violated")


def test_semantic_independence(porcini, gcl) -> None:  # noqa: F811
    model = gcl(COUNTER)
    runs = {}
    for independence in ("syntactic", "semantic"):
        found = json.loads(porcini("explore", model, "--independence", independence, "--json")[1])
        assert found["independence"] == independence
        runs[independence] = found["counts"]["executions"]
    assert runs == {"syntactic": 6, "semantic": 1}


@pytest.mark.parametrize(
    "options, message",
    [
        (["--engine", "exhaustive", "--independence", "semantic"], "syntactic independence only"),
        (["--preemptions", "2"], "for engine `source`"),
        (["--engine", "source", "--preemptions", "few"], "whole number"),
        (["--engine", "pct", "--depth", "0"], "at least 1"),
        (["--depth", "4"], "the depth of a bug is for engine `pct`"),
        (["--task-selection", "all"], "a selection of tasks is for engine `transdpor`"),
        (["--mode", "fifo"], "`mode` is for coroutine functions"),
        (["--packages", "json"], "`packages` is for coroutine functions"),
        (["--no-suspend"], "`suspend` is for coroutine functions"),
        (["--cancel", "0"], "`cancel` is for coroutine functions"),
        (["--engine", "all", "--depth", "4"], "the depth of a bug does not go with --engine all"),
        (["--engine", "all", "--first"], "--first does not go with --engine all"),
        (["--engine", "all", "--independence", "semantic"], "semantic independence does not go with --engine all"),
    ],
)
def test_options_that_do_not_fit(porcini, options, message) -> None:  # noqa: F811
    status, out, err = porcini("explore", VINEYARD, *options)
    assert (status, out) == (2, "") and message in err and len(err.splitlines()) == 1


@pytest.mark.parametrize("option", ["--workers", "--max-memory"])
def test_options_of_native_code(porcini, option) -> None:  # noqa: F811
    value = "2" if option == "--workers" else "1G"
    assert porcini("check", VINEYARD, option, value)[0] == 0
    status, out, err = porcini("check", "examples/abs/lock.abs", option, value)
    assert (status, out) == (2, "")
    assert f"{option} is for native code, and native code is for programs whose states can be packed" in err


@pytest.mark.parametrize("option", [["-D", "N=2"], ["--por", "a.toml"]])
def test_options_that_are_not_for_coroutine_functions(porcini, option) -> None:  # noqa: F811
    status, out, err = porcini("explore", "asyncio:sleep", *option)
    assert (status, out) == (2, "") and f"{option[0]} is not for coroutine functions" in err


def test_a_bound_on_preemptions(porcini, gcl) -> None:  # noqa: F811
    model = gcl("x |-> 0, True |> spawn(True |> x := 1; True |> x := 1); True |> spawn(True |> x := 1)")
    call = ("explore", model, "--engine", "source", "--preemptions", "0", "--json")
    status, out, _ = porcini(*call)
    assert (status, json.loads(out)["limit"]) == (3, "the bound of 0 preemptions")


def test_a_deadlock_of_actors_names_the_cycle(tmp_path, capsys) -> None:
    file = tmp_path / "ping.abs"
    file.write_text("""interface A { Unit ask(A o); Unit answer(); }
class P implements A { Unit ask(A o) { o.answer(); } Unit answer() { skip; } }
{ A a = new P(); A b = new P(); a!ask(b); b!ask(a); }
""")
    assert main(["explore", str(file)]) == 1
    printed = capsys.readouterr().out
    assert "0.2 (P.ask) holds 0.0 and waits" in printed and "for the future of 0.2.0" in printed
    assert "0.2.0 (P.answer) waits" in printed and "for 0.1 to be free, held by 0.3" in printed
    assert "in a cycle: 0.2 -> 0.2.0 -> 0.3 -> 0.3.0 -> 0.2" in printed
