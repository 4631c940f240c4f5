"""The library asks about rewrite theories in a sealed child, as the command line does."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import porcini
from cli.test_maude_cli import COUNTER, INFINITE, theory  # noqa: F401  (fixture)
from porcini import InputError, Limits
from porcini.api import check_annotations, compare, run, transform, verify_reduction
from porcini.formats.json_report import to_json

ASKED = """
import sys
import porcini
from porcini.api import check_annotations, compare, transform, verify_reduction
file = {file!r}
print(porcini.explore(file).verdict, porcini.check(file).verdict, porcini.check(file, ltl="<> x(2)").verdict)
print(porcini.check(file, pattern="x(2)").search.count > 0, porcini.run(file, seed=1).verdict)
print(porcini.replay(file, "0x2 1x2").outcomes[0].state["x"], len(compare(file)) > 3)
print(verify_reduction(file).verdict, check_annotations(file).verdict, "mod COUNTER-REDUCED" in transform(file))
print("maude" in sys.modules)
"""


def test_maude_is_not_loaded_into_the_process_that_asks() -> None:
    done = subprocess.run(
        [sys.executable, "-c", ASKED.format(file=COUNTER)], capture_output=True, text=True, check=True
    )
    said = ("violated", "holds", "violated", "True", "holds", "2", "True", "holds", "holds", "True", "False")
    assert tuple(done.stdout.split()) == said


def test_reports_are_those_of_a_model_that_is_loaded() -> None:
    model = porcini.load(COUNTER)
    for ask in (porcini.explore, porcini.check, verify_reduction, check_annotations):
        assert to_json(ask(COUNTER)) == to_json(ask(model))
    for asked in ({"ltl": "<> x(2)"}, {"pattern": "x(2)"}):
        assert to_json(porcini.check(COUNTER, **asked)) == to_json(porcini.check(model, **asked))
    assert str(porcini.explore(COUNTER)).splitlines()[0] == str(porcini.explore(model)).splitlines()[0]
    assert transform(COUNTER) == transform(model)
    assert list(map(to_json, compare(COUNTER))) == list(map(to_json, compare(model)))


def test_errors_say_the_same(theory) -> None:  # noqa: F811
    bad = theory("  rl [add] : t(I, s K) c(V) => t(I, K) c(W) .\n")
    with pytest.raises(InputError) as caught:
        porcini.explore(bad)
    assert caught.value.place is not None and caught.value.file == bad
    with pytest.raises(InputError, match="cannot observe `z`"):
        porcini.explore(COUNTER, observe=["z"])
    with pytest.raises(TypeError, match="unexpected keyword"):
        porcini.explore(COUNTER, seconds=3)


def test_a_file_may_change_between_two_questions(tmp_path) -> None:
    """Modules are global in a process of Maude's: each question has one of its own."""
    path = tmp_path / "counter.maude"
    text = Path(COUNTER).read_text().replace("COUNTER", "CHANGING")  # since this process may have loaded the other
    for name in ("threads", "expressions"):
        shutil.copy(Path(COUNTER).with_name(f"{name}.maude"), tmp_path)
    described = Path(COUNTER).with_suffix(".toml").read_text()
    path.with_suffix(".toml").write_text(described.replace("COUNTER", "CHANGING"))
    for number in (0, 5):
        path.write_text(text.replace("['x = 0]", f"['x = {number}]"))
        assert {each.state["x"] for each in porcini.explore(path).outcomes} == {number + 1, number + 2}


def test_equations_without_end_are_unknown(theory) -> None:  # noqa: F811
    equation = "  op f : Nat -> Nat . eq f(K) = f(s K) .\n"
    endless = theory(f"{equation}  rl [add] : t(I, s K) c(V) => t(I, K) c(f(V)) .\n")
    report = porcini.check(endless, limits=Limits(timeout=1))
    assert (report.verdict, report.stopped, report.reduction) == ("unknown", "limit", "none")
    assert "time limit" in (report.limit or "")
    assert porcini.explore(endless, limits=Limits(timeout=1)).verdict == "unknown"


def test_limits_of_a_search_are_kept(theory) -> None:  # noqa: F811
    report = porcini.check(theory(INFINITE), limits=Limits(max_states=20))
    assert (report.verdict, report.stopped) == ("unknown", "limit")


def test_a_run_is_written_where_it_was_to_go(tmp_path) -> None:
    written = tmp_path / "run.jsonl"
    assert run(COUNTER, trace=written).verdict == "holds" and written.read_text().startswith("{")
    with pytest.raises(InputError, match="cannot be written"):
        run(COUNTER, trace=tmp_path / "nowhere" / "run.jsonl")
