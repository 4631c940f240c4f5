"""`run --trace`, `replay --trace` and `permute --trace`: every language writes traces, anybody's are read."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from cli.test_cli import VINEYARD, gcl, porcini  # noqa: F401
from docs_of import DOCS, blocks
from porcini import Limits, loads, run

ACTORS = "examples/abs/philosophers.abs"
PHILOSOPHERS = "examples/gcl/philosophers.gcl"
PROGRAMS = {
    "gcl": [VINEYARD],
    "par": ["examples/par/phases.par", "--input", "a=1", "--input", "b=2"],
    "abs": ["examples/abs/account.abs"],
    "pml": ["examples/promela/bounded_buffer.pml"],
    "maude": ["examples/maude/counter.maude"],
    "asyncio": ["bank:month"],
}
EXACT = ("gcl", "par", "abs", "pml")
NOTHING = {"process": "0", "label": "nothing", "guard": "true"}
HEADER = {"format": "porcini-trace", "version": 1}
QUEUE = HEADER | {"observed": {"c": {"length": "n", "fields": ["q"]}}}
GRID = HEADER | {"observed": {"g": {"cells": "g", "sizes": [2, 2]}}}
GET = {"process": "0", "label": "GET", "reads": ["x"], "writes": []}
PUT = {"process": "1", "label": "PUT", "reads": [], "writes": {"x": 2}}


@pytest.fixture
def trace(tmp_path):
    """Write lines to a file: objects, or text as it is."""

    def write(*lines: object) -> str:
        file = tmp_path / "log.jsonl"
        file.write_text("\n".join(x if isinstance(x, str) else json.dumps(x) for x in lines), "utf-8")
        return str(file)

    return write


def objects(file: str | Path) -> list[dict]:
    return [json.loads(line) for line in Path(file).read_text("utf-8").splitlines()]


# Writing


@pytest.mark.parametrize("language", PROGRAMS)
def test_every_language_writes_traces(porcini, tmp_path, monkeypatch, language: str) -> None:  # noqa: F811
    monkeypatch.syspath_prepend("examples/asyncio")
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    status, out, err = porcini("run", *PROGRAMS[language], "--json", "--trace", first)
    outcome = json.loads(out)["outcomes"][0]
    assert (status, err) == (0, "")
    assert porcini("replay", *PROGRAMS[language], outcome["schedule"], "--trace", second)[0] == 0
    assert first.read_text() == second.read_text()
    header, *events, end = objects(first)
    assert header | HEADER == header and header["language"] == language
    assert header["file"] == PROGRAMS[language][0]
    assert end["end"] == "terminated" and end["state"] == outcome["state"]
    alive = set(header["processes"])
    for event in events:
        assert event["process"] in alive and isinstance(event["label"], str)
        assert isinstance(event["reads"], dict) and isinstance(event["writes"], dict)
        assert ("guard" in event) == (language in EXACT)
        alive |= set(event.get("spawned", ()))
    assert any(event["writes"] for event in events)
    status, out, err = porcini("permute", "--trace", first, "--json", "--max-executions", "50")
    report = json.loads(out)
    assert status in (0, 1, 3) and err == ""
    assert report["trace"] == {"exact": language in EXACT, "program": PROGRAMS[language][0]}
    assert (report["file"], report["language"]) == (str(first), language)
    assert all(len(entry["labels"]) == len(events) for entry in report["traces"])


@pytest.mark.parametrize("language", ["gcl", "par", "abs", "pml", "asyncio"])
def test_values_follow_each_other(porcini, tmp_path, monkeypatch, language: str) -> None:  # noqa: F811
    """What is read is what was written last, or the initial value."""
    monkeypatch.syspath_prepend("examples/asyncio")
    file = tmp_path / "run.jsonl"
    porcini("run", *PROGRAMS[language], "--trace", file)
    header, *events, end = objects(file)
    held, compared = {}, 0
    for name, value in header["initial"].items():
        held |= (
            {f"{name}[{i}]": cell for i, cell in enumerate(value)} if isinstance(value, list) else {name: value}
        )
    for event in events:
        for name, value in event["reads"].items():
            compared += held.get(name) is not None and value is not None
            assert value is None or held.setdefault(name, value) in (None, value), event
        held |= event["writes"]
    assert compared >= 2
    for name, value in end["state"].items():
        assert held.get(name, value) == value


def test_a_run_that_was_stopped_is_a_trace_too(porcini, tmp_path) -> None:  # noqa: F811
    file = tmp_path / "run.jsonl"
    assert porcini("run", VINEYARD, "--max-depth", "5", "--trace", file)[0] == 3
    assert len(objects(file)) == 7 and objects(file)[-1]["end"] == "unfinished"
    status, out, _ = porcini("permute", "--trace", file, "--json")
    assert status in (0, 1) and {entry["kind"] for entry in json.loads(out)["traces"]} == {"unfinished"}
    status, _, err = porcini("permute", "--trace", file, "--seeds")
    assert status == 2 and "was not recorded to its end" in err


def test_a_run_without_end_that_ran_out_of_time(tmp_path) -> None:
    file, model = tmp_path / "run.jsonl", loads("x |-> 0, True |>* x := x + 1")
    report = run(model, limits=Limits(timeout=0.1), trace=file)
    _, *events, end = objects(file)
    assert report.verdict == "unknown" and len(events) == report.counts.events
    assert end["state"] == {"x": len(events)} and end["end"] == "unfinished"


def test_what_a_model_prints_is_not_lost(porcini, tmp_path) -> None:  # noqa: F811
    model, file = tmp_path / "say.pml", tmp_path / "run.jsonl"
    model.write_text('active proctype P() { printf("hello\\n") }')
    assert "hello" in porcini("run", model, "--printf", "--trace", file)[1]


def test_the_loop_of_a_trail(porcini, tmp_path, gcl) -> None:  # noqa: F811
    file = tmp_path / "run.jsonl"
    program = gcl("x |-> true, True |>* x := not x")
    assert porcini("replay", program, "", "--loop", "0x4", "--trace", file)[0] in (0, 1)
    assert [event["writes"] for event in objects(file)[1:-1]] == [{"x": False}, {"x": True}] * 2
    assert objects(file)[-1]["end"] == "unfinished"


def test_a_file_that_cannot_be_written(porcini, tmp_path) -> None:  # noqa: F811
    status, _, err = porcini("run", VINEYARD, "--trace", tmp_path / "no" / "folder.jsonl")
    assert status == 2 and "cannot be written" in err and len(err.splitlines()) == 1


def test_large_numbers_are_left_out(porcini, tmp_path, gcl) -> None:  # noqa: F811
    file = tmp_path / "run.jsonl"
    squares = "; ".join(["True |> x := x * x"] * 16)
    assert porcini("run", gcl(f"x |-> 10, {squares}"), "--trace", file)[0] == 0
    assert objects(file)[-2]["writes"] == {"x": None}
    assert porcini("permute", "--trace", file)[0] == 0


def test_formulas_that_are_too_large_are_left_out(porcini, tmp_path, gcl) -> None:  # noqa: F811
    file, large = tmp_path / "run.jsonl", "9" * 4_000
    program = gcl(f"x |-> {large}, True |> spawn(x > 0 |> x := {large}); True |> x := 1")
    assert porcini("run", program, "--schedule", "0x2 0.0", "--trace", file)[0] == 0
    header, *events, _ = objects(file)
    assert header["initial"] == {"x": int(large)} and ["guard" in event for event in events] == [True, True, False]
    status, out, _ = porcini("permute", "--trace", file)
    assert status == 3 and "1 of 3 events have no guard" in out


# Reading, with formulas


def test_the_same_answer_without_the_program(porcini, tmp_path) -> None:  # noqa: F811
    file = tmp_path / "run.jsonl"
    for more in (["--seed", "3"], []):  # one that deadlocks, one that does not
        porcini("run", PHILOSOPHERS, *more, "--trace", file)
        _, told, _ = porcini("permute", "--trace", file)
        _, wanted, _ = porcini("permute", PHILOSOPHERS, *more)
        assert told.splitlines()[:-1] == wanted.splitlines()[:-1]
    porcini("run", *PROGRAMS["par"], "--trace", file)
    Path(file).write_text(Path(file).read_text().replace("b := b + right", "b := 1 + right"))
    status, _, err = porcini("permute", "--trace", file)
    assert status == 2 and "`writes` says that b is" in err


def test_lines_to_paste_name_the_program_and_its_inputs(porcini, tmp_path, gcl) -> None:  # noqa: F811
    program, file = gcl("x |-> ?, True |> spawn(True |> x := 2); True |> x := x + 1"), tmp_path / "run.jsonl"
    porcini("run", program, "--input", "x=5", "--trace", file)
    status, out, _ = porcini("permute", "--trace", file)
    assert status == 1 and f'  porcini replay {program} --input x=5 "0x2 0.0"' in out
    lines = objects(file)
    del lines[0]["file"]
    Path(file).write_text("\n".join(map(json.dumps, lines)))
    assert '\n  "0x2 0.0"\n' in porcini("permute", "--trace", file)[1]


BUY = [
    HEADER | {"initial": {"stock/7": 1, "sold": 0}},
    {"process": "0", "label": "buy", "guard": "`stock/7` > 0", "do": ["`stock/7` := `stock/7` - 1", "sold := 1"]},
    {"process": "1", "label": "restock", "guard": "true", "do": ["`stock/7` := `stock/7` + 2"]},
]


def test_a_trace_by_hand_with_guards(porcini, trace) -> None:  # noqa: F811
    status, out, _ = porcini("permute", "--trace", trace(*BUY), "--json", "--seeds")
    report = json.loads(out)
    assert (status, report["language"], report["trace"]) == (1, "trace", {"exact": True, "program": None})
    assert [entry["schedule"] for entry in report["traces"]] == ["0 1", "1 0"]
    assert [entry["path"] for entry in report["traces"]] == ["stock/7 >= 1", "stock/7 >= -1"]


def test_guards_rule_out_what_cannot_be(porcini, trace) -> None:  # noqa: F811
    """The one that restocks must go first."""
    header, buy, restock = BUY
    header = header | {"initial": {"stock/7": 0, "sold": 0}}
    assert porcini("permute", "--trace", trace(header, restock, buy))[0] == 0
    status, _, err = porcini("permute", "--trace", trace(header, buy, restock))
    assert status == 2 and "log.jsonl:2:1: error: this step cannot happen here: its guard is `" in err
    assert "stock/7 = 0" in err


def test_what_a_step_touches_besides_its_formula(porcini, trace) -> None:  # noqa: F811
    """Both write a log that no formula speaks of."""
    events = [{"process": p, "label": p, "guard": "true", "do": [f"{v} := 1"]} for p, v in ("0x", "1y")]
    header = HEADER | {"initial": {"x": 0, "y": 0, "a": [1, 2]}}
    assert porcini("permute", "--trace", trace(header, *events))[0] == 0
    for more in ("log", "x", "a", "a[1]", "a[2]"):
        told = [event | {"reads": [], "writes": [more]} for event in events]
        assert porcini("permute", "--trace", trace(header, *told))[0] == 1, more


def test_bookkeeping_counts_only_where_it_is_said(porcini, trace) -> None:  # noqa: F811
    events = [{"process": p, "label": p, "guard": "n >= 0", "do": ["n := n + 1"]} for p in "01"]
    header = HEADER | {"initial": {"n": 0}}
    assert porcini("permute", "--trace", trace(header, *events))[0] == 1
    assert porcini("permute", "--trace", trace(header | {"bookkeeping": ["n"]}, *events))[0] == 0
    said = [event | {"writes": ["n"]} for event in events]
    assert porcini("permute", "--trace", trace(header | {"bookkeeping": ["n"]}, *said))[0] == 1


def test_what_is_observed_is_made_of_variables(porcini, trace) -> None:  # noqa: F811
    header = HEADER | {
        "initial": {"n": 0, "kind": [0, 0], "size": [0, 0], "grid": [1, 2, 3, 4]},
        "unset": {"last": "int", "full": "bool"},
        "meanings": {"kind": {"1": "red"}, "last": {"7": ["a", 1]}},
        "observed": {
            "c": {"length": "n", "fields": ["kind", "size"]},
            "grid": {"cells": "grid", "sizes": [2, 2]},
            "last": "last",
            "full": "full",
        },
    }
    send = {
        "process": "0",
        "label": "send",
        "writes": {"kind[0]": "red", "last": ["a", 1]},
        "guard": "n < 2",
        "do": [
            "kind[n] := (n == 0 ? 1 : (n == 1 ? 2 : 3))",
            "size[n] := 5",
            "n := n + 1",
            "last := 7",
            "full := false",
        ],
    }
    status, out, err = porcini("permute", "--trace", trace(header, send), "--json")
    assert (status, err) == (0, "")
    assert json.loads(out)["outcomes"][0]["state"] == {
        "c": [["red", 5]],
        "grid": [[1, 2], [3, 4]],
        "last": ["a", 1],
        "full": False,
    }


def test_a_failure_after_all_is_done(porcini, trace) -> None:  # noqa: F811
    failure = {"kind": "error", "message": "too much", "done": True}
    events = [
        {"process": "0", "label": "set", "guard": "true", "do": ["x := 1"]},
        {"process": "1", "label": "fail", "guard": "x > 0", "do": ["y := x"], "failure": failure},
        {"process": "2", "label": "more", "guard": "true", "do": ["x := x + 1"]},
    ]
    header = HEADER | {"initial": {"x": 0, "y": 0}}
    status, out, err = porcini("permute", "--trace", trace(header, *events), "--json")
    assert (status, err) == (1, "")
    assert {entry["state"]["y"] for entry in json.loads(out)["traces"]} == {1, 2}


def test_copying_an_array_reads_its_cells(porcini, trace) -> None:  # noqa: F811
    events = [
        {"process": "0", "label": "copy", "guard": "true", "do": ["b := a"]},
        {"process": "1", "label": "set", "guard": "true", "do": ["a[0] := 7"]},
    ]
    status, out, _ = porcini(
        "permute", "--trace", trace(HEADER | {"initial": {"a": [1, 2], "b": [0, 0]}}, *events)
    )
    assert status == 1 and "b=[1, 2]" in out and "b=[7, 2]" in out


def test_opaque_steps_have_no_exact_answer(porcini, trace) -> None:  # noqa: F811
    status, out, _ = porcini("permute", "--trace", trace(BUY[0], BUY[1] | {"opaque": True}, BUY[2]), "--json")
    assert (status, json.loads(out)["trace"]["exact"]) == (3, False)


# Reading, without


def test_reads_and_writes_only(porcini, trace) -> None:  # noqa: F811
    file = trace(HEADER, GET, PUT)
    status, out, err = porcini("permute", "--trace", file)
    first, *rest = out.splitlines()
    assert (status, err) == (3, "")
    assert first == "Unknown: the conflicts allow 1 reordering not equivalent to this run, maybe not executable."
    assert "possible   1 PUT before 0 GET       1 0" in rest
    assert any("may not be executable" in line for line in rest)
    status, out, _ = porcini("permute", "--trace", file, "--json")
    report = json.loads(out)
    assert (report["verdict"], report["stopped"], report["engine"]) == ("unknown", "exhausted", "optimal")
    assert report["outcomes"] == [] and report["counts"]["classes"] == 2
    assert [(e["schedule"], e["kind"], e["reversed"]) for e in report["traces"]] == [
        ("0 1", "terminated", []),
        ("1 0", "unknown", [["1#0", "0#0"]]),
    ]


def test_nothing_to_reorder(porcini, trace) -> None:  # noqa: F811
    status, out, _ = porcini("permute", "--trace", trace(HEADER, GET, GET | {"process": "1"}))
    assert status == 0
    assert out.startswith("Every reordering that the conflicts of this trace allow is equivalent to it.\n")
    assert porcini("permute", "--trace", trace(HEADER))[0] == 0


def test_many_reorderings_are_not_all_listed(porcini, trace) -> None:  # noqa: F811
    many = [PUT | {"process": str(n)} for n in range(12)]
    status, out, _ = porcini("permute", "--trace", trace(HEADER, *many), "--max-executions", "100", "--json")
    report = json.loads(out)
    assert (status, report["limit"]) == (3, "the limit of 100 executions") and len(report["traces"]) in (100, 101)


def test_some_guards_are_not_enough(porcini, trace) -> None:  # noqa: F811
    events = [PUT | {"guard": "true", "do": ["x := 2"]}, GET]
    status, out, _ = porcini("permute", "--trace", trace(HEADER | {"initial": {"x": 0}}, *events))
    assert status == 3 and "1 of 2 events have no guard" in out


# What is no trace


@pytest.mark.parametrize(
    "line, lines, message",
    [
        (1, ["{}"], "this is not a trace"),
        (1, [GET], "this is not a trace"),
        (1, ["[1]"], "a line must be an object, not [1]"),
        (1, [HEADER | {"version": 2}], "version 2 of the format is not known (this Porcini reads 1)"),
        (1, [HEADER | {"version": True}], "`version` must be a whole number, not true"),
        (1, [{"format": "porcini-trace"}], "the first line has no `version`"),
        (1, [HEADER | {"proceses": []}], 'unknown key "proceses" (did you mean `processes`?)'),
        (1, [HEADER | {"processes": ["0", "0"]}], "`processes` names process 0 twice"),
        (1, [HEADER | {"observed": ["x"]}], "`observed` names `x`, which has no initial value"),
        (1, [HEADER | {"observed": {"c": {"length": "n", "fields": ["x"]}}}], "`observed` names `n`"),
        (
            1,
            [HEADER | {"observed": {"c": {"length": "n", "fields": []}}}],
            "a queue needs at least one of `fields`",
        ),
        (1, [HEADER | {"observed": {"c": {"cells": "x"}}}], "each of `observed` has no `sizes`"),
        (1, [QUEUE | {"initial": {"n": 0, "q": 0}}, NOTHING], "the sizes or types of its variables do not fit"),
        (
            1,
            [QUEUE | {"initial": {"n": [0], "q": [0]}}, NOTHING],
            "the sizes or types of its variables do not fit",
        ),
        (1, [GRID | {"initial": {"g": [0]}}, NOTHING], "the sizes or types of its variables do not fit"),
        (1, [HEADER | {"bookkeeping": ["x"]}], "`bookkeeping` names `x`, which has no initial value"),
        (1, [HEADER | {"symbols": ["x"]}], "`symbols` names `x`, which has no initial value"),
        (1, [HEADER | {"meanings": {"x": {"1": "red"}}}], "`meanings` names `x`, which has no initial value"),
        (
            1,
            [HEADER | {"meanings": {"x": {"one": "red"}}}],
            "`meanings` must have numbers and what they stand for",
        ),
        (1, [HEADER | {"meanings": {"x": {"1": {}}}}], "`meanings` must have numbers and what they stand for"),
        (1, [HEADER | {"unset": {"x": "list"}}], '`unset` must be an object with "int" or "bool" for each name'),
        (1, [HEADER | {"unset": {"x": "int"}, "initial": {"x": 1}}], "`x` is `unset`, and has an initial value"),
        (2, [HEADER, NOTHING | {"choices": [1]}], "the first of `choices` must be that of the event"),
        (2, [HEADER, NOTHING | {"choices": [0, 1]}], "`choices` must be as many as the guards"),
        (2, [HEADER, NOTHING | {"family": {"reads": []}}], "`family` has no `writes`"),
        (2, [HEADER, GET | {"choices": [0]}], "a step that says what it does needs a `guard`"),
        (2, [HEADER, {"end": "unfinished", "idle": [{"process": "0"}]}], "who is `idle` is known only where"),
        (
            3,
            [HEADER, NOTHING, {"end": "deadlock", "waiting": [NOTHING | {"process": "1", "sees": {"x": "x"}}]}],
            "`sees` names `x`",
        ),
        (2, [HEADER, '{"process": "0", "lab'], "not JSON: "),
        (2, [HEADER, '{"process": "0", "process": "1"}'], 'an object has "process" twice'),
        (2, [HEADER, '{"process": NaN}'], "NaN is not a value that JSON has"),
        (2, [HEADER, "[" * 100_000], "nested too deep"),
        (2, [HEADER, '{"choice": ' + "9" * 5_000 + "}"], "number of 5000 digits; the limit is 4100"),
        (2, [HEADER, GET | {"process": 0}], '`process` must be a process such as "0.1", not 0'),
        (2, [HEADER, GET | {"process": "alice"}], '`process` must be a process such as "0.1", not "alice"'),
        (2, [HEADER, GET | {"process": "9" * 5_000}], '`process` must be a process such as "0.1", not "999'),
        (2, [HEADER, GET | {"reads": "x"}], "`reads` must be an object of locations and values, or a list"),
        (2, [HEADER, GET | {"reads": [1]}], "`reads` must be a text, not 1"),
        (2, [HEADER, GET | {"reads": ["\0"]}], "a name in `reads` is empty or cannot be printed"),
        (
            2,
            [HEADER, {"process": "0", "label": "a", "read": [], "writes": []}],
            "an event has no `reads` (is `read`",
        ),
        (2, [HEADER, GET | {"read": []}], 'unknown key "read" (did you mean `reads`?)'),
        (2, [HEADER, GET | {"choice": -1}], "`choice` must be a whole number, not -1"),
        (2, [HEADER, GET | {"spawned": ["0"]}], "process 0 cannot spawn or wake itself"),
        (3, [HEADER, GET | {"spawned": ["2"]}, PUT | {"spawned": ["2"]}], "process 2 is spawned here, but"),
        (3, [HEADER | {"processes": ["0"]}, GET, PUT], "process 1 is not there yet: nobody spawned it"),
        (2, [HEADER, PUT, GET | {"spawned": ["1"]}], "process 1 is not there yet: it is spawned in line 3"),
        (2, [HEADER, GET | {"failure": {}}], "`failure` has no `kind`"),
        (2, [HEADER, GET | {"failure": {"kind": "bad", "message": ""}}], "a failure is one of assertion, error"),
        (3, [HEADER, {"end": "terminated"}, GET], "nothing may come after the line with `end`"),
        (2, [HEADER, {"end": "well"}], "a run ends as one of terminated, deadlock, assertion, error, unfinished"),
        (
            2,
            [HEADER, {"end": "terminated", "waiting": [{"process": "0"}]}],
            "cannot have ended as `terminated`: processes wait",
        ),
        (
            3,
            [HEADER, GET | {"failure": {"kind": "error", "message": ""}}, {"end": "terminated"}],
            "a step of it failed",
        ),
        (3, [HEADER, GET, {"end": "deadlock", "waiting": [{"process": "0"}] * 2}], "process 0 waits twice"),
        (2, [HEADER, GET | {"do": ["x := 1"]}], 'needs a `guard` (without a condition it is "true")'),
        (2, [HEADER, GET | {"guard": "x ="}], "unexpected '=' in `x =`"),
        (2, [HEADER, GET | {"guard": "y > 0"}], "unknown name `y` in `y > 0`"),
        (2, [HEADER, GET | {"guard": ""}], "a guard, or something to do, is empty"),
        (2, [HEADER, GET | {"guard": "not " * 500 + "true"}], "expression nested more than 90 deep"),
        (2, [HEADER | {"initial": {"x": 1}}, GET | {"guard": "x"}], "expected a boolean, found a number in `x`"),
        (2, [HEADER | {"initial": {"x": "1"}}, GET | {"guard": "x > 0"}], "unknown name `x` in `x > 0`"),
        (1, [HEADER | {"initial": {".x": 1}}, GET | {"guard": "`.x` > 0"}], "a variable cannot be called `.x`"),
        (
            1,
            [HEADER | {"initial": {"a": [1], "a[0]": 1}}, GET | {"guard": "true"}],
            "`a[0]` is a variable and a cell",
        ),
        (2, [HEADER, GET | {"guard": "true", "do": ["skip"]}], "an operation is an assignment or an assertion"),
        (
            2,
            [HEADER | {"initial": {"x": 1}}, GET | {"reads": {"x": 2}, "guard": "true"}],
            "`reads` says that x is 2",
        ),
    ],
)
def test_bad_traces(porcini, trace, line: int, lines: list, message: str) -> None:  # noqa: F811
    file = trace(*lines)
    status, out, err = porcini("permute", "--trace", file)
    assert (status, out) == (2, "") and err.startswith(f"{file}:{line}:"), err
    assert message in err and len(err.splitlines()) == 1 and len(err) < 400 + len(file)
    status, out, _ = porcini("permute", "--trace", file, "--json")
    assert (status, json.loads(out)["error"]["line"]) == (2, line)


def test_files_that_are_no_traces(porcini, tmp_path) -> None:  # noqa: F811
    (tmp_path / "empty").write_text("\n \n")
    (tmp_path / "latin").write_bytes(b"\xe9")
    for name, message in [
        ("empty", "the file is empty"),
        ("latin", "is not UTF-8 text"),
        ("gone", "no such file"),
    ]:
        status, _, err = porcini("permute", "--trace", tmp_path / name)
        assert status == 2 and message in err and len(err.splitlines()) == 1
    assert "is a directory" in porcini("permute", "--trace", tmp_path)[2]


def test_what_does_not_go_with_a_trace(porcini, trace) -> None:  # noqa: F811
    file = trace(HEADER, GET, PUT)
    for more in ([VINEYARD], ["--schedule", "0"], ["--seed", "1"], ["--input", "x=1"], ["-D", "N"]):
        status, _, err = porcini("permute", "--trace", file, *more)
        assert status == 2 and "does not go with --trace" in err
    for more in (["--seeds"], ["--observe", "x"]):
        status, _, err = porcini("permute", "--trace", file, *more)
        assert status == 2 and "in a trace without guards on all events" in err
    status, _, err = porcini("permute", "--trace", trace(*BUY), "--observe", "x")
    assert status == 2 and "cannot observe `x`: no such variable (known: sold, stock/7)" in err
    assert porcini("permute", "--trace", trace(*BUY), "--observe", "sold")[0] == 1
    status, _, err = porcini("permute")
    assert status == 2 and "the following arguments are required: FILE, or --trace TRACE" in err
    status, _, err = porcini("permute", "--trace", file, "--max-depth", "1")
    assert status == 2 and "a trace of 2 events; the limit is 1 (--max-depth)" in err


@pytest.mark.parametrize("program", [PHILOSOPHERS, "examples/promela/race.pml", "examples/abs/tickets.abs"])
def test_mutated_traces_never_break_it(porcini, tmp_path, program: str) -> None:  # noqa: F811
    file, random = tmp_path / "run.jsonl", Random(1)
    porcini("run", program, "--trace", file)
    whole = file.read_text()
    for _ in range(150):
        text = whole
        for _ in range(random.randint(1, 2)):
            at = random.randrange(len(text))
            other = random.choice(['"', "{", "]", "0", "x", "null", "\n", ",", "", "-1", '"0"', "`", "true"])
            text = text[:at] + other + text[at + random.choice((0, 1, 5)) :]
        file.write_text(text)
        status, _, err = porcini("permute", "--trace", file, "--max-executions", "20")
        assert status in (0, 1, 3) or (status == 2 and len(err.splitlines()) == 1), (text, err)


# The docs


def test_the_log_of_the_docs(porcini, tmp_path, monkeypatch) -> None:  # noqa: F811
    """Its code is run, and prints what the page shows."""
    (log,), outputs = blocks("traces.md", "text"), blocks("traces.md", "console")
    possible, exact = (block.rpartition("$ porcini permute --trace ")[2].partition("\n")[2] for block in outputs)
    converter, guards = blocks("traces.md", "python")
    (tmp_path / "convert.py").write_text(converter)
    command = [sys.executable, "convert.py"]
    lines = subprocess.run(command, cwd=tmp_path, input=log, capture_output=True, text=True, check=True).stdout
    file = tmp_path / "access.jsonl"
    file.write_text(lines)
    status, out, _ = porcini("permute", "--trace", file)
    assert status == 3 and out.startswith(possible)
    monkeypatch.syspath_prepend(str(tmp_path))
    scope: dict = {}
    exec(guards, scope)
    file.write_text("\n".join(map(json.dumps, scope["convert_exactly"](log.splitlines()))))
    status, out, _ = porcini("permute", "--trace", file)
    assert status == 1 and out.startswith(exact)


def test_the_examples_of_the_docs_are_traces(porcini, trace) -> None:  # noqa: F811
    header, event, end = (" ".join(block.split()) for block in blocks("traces.md", "json"))
    spawn = {"process": "0", "label": "spawn", "guard": "true", "spawned": ["0.1", "0.2"]}
    status, out, err = porcini("permute", "--trace", trace(header, spawn, event, end), "--json")
    assert (status, err) == (0, "") and json.loads(out)["outcomes"][0]["kind"] == "deadlock"


def test_the_docs_name_every_key(porcini, tmp_path) -> None:  # noqa: F811
    page = (DOCS / "traces.md").read_text("utf-8")
    philosophers = [[file, "--seed", str(seed)] for seed in range(4) for file in (PHILOSOPHERS, ACTORS)]
    for program in ([VINEYARD], PROGRAMS["par"], PROGRAMS["abs"], PROGRAMS["pml"], *philosophers):
        porcini("run", *program, "--trace", tmp_path / "run.jsonl")
        for line in objects(tmp_path / "run.jsonl"):
            assert not [key for key in line if f"`{key}`" not in page]
