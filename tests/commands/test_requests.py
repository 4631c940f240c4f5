"""One pipeline: whatever is given by name gets into the request, and the same report comes out for everybody."""

import asyncio
import io
import os
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from types import MappingProxyType

import pytest

import porcini
from porcini import InputError, Limits, api
from porcini.commands import exploring, requests
from porcini.commands.programs import ModelSubject
from porcini.commands.requests import KEYWORDS, Following, OfModel, OfProgram, Request, request_of
from porcini.core.execution import Dependence
from porcini.core.languages import CheckerOptions
from porcini.core.reports import FORMATS, View
from porcini.coroutines.code import Code
from porcini.engines.options import Options
from porcini.properties.outcomes import Question

VINEYARD = "examples/gcl/vineyard.gcl"
ROOT = Path(__file__).parents[2]


class Box:
    n = 0


async def add(box: Box) -> None:
    n = box.n
    await asyncio.sleep(0)
    box.n = n + 1


async def two_adds() -> int:
    box = Box()
    await asyncio.gather(add(box), add(box))
    assert box.n == 2
    return box.n


@pytest.mark.parametrize("command", ["run", "replay", "explore", "compare", "check", "symbolic", "permute"])
def test_an_unknown_keyword_is_refused(command):
    function = getattr(api, command)
    given = ("0",) if command == "replay" else ()
    with pytest.raises(TypeError, match=rf"{command}\(\) got an unexpected keyword argument 'engin'"):
        function(VINEYARD, *given, engin="optimal")


GIVEN = {
    "names": ("x",),
    "trace": "run.jsonl",
    "args": (1,),
    "cancel": 1,
    "cycles": "acceptance",
    "deterministic": True,
    "engine": "sleep",
    "equivalence": "semantic",
    "errors": {TimeoutError: "asyncio:sleep"},
    "first": True,
    "formula": "p",
    "guards": porcini.Guards(seed=7),
    "independence": "semantic",
    "inputs": {"x": 3},
    "limits": Limits(max_executions=7),
    "loop": "0",
    "ltl": "<> flag",
    "max_faults": 2,
    "mode": "fifo",
    "observe": ["x"],
    "options": Options(seed=7),
    "packages": ["json"],
    "pattern": "S",
    "properties": ("failure-free",),
    "property": "failure-free",
    "reduced": False,
    "schedule": "0",
    "seed": 7,
    "seeds": True,
    "solver_timeout": 7.0,
    "stop_at": 7,
    "suspend": False,
    "timeouts": True,
    "trail": "run.trail",
    "watch": print,
    "watched": ["x"],
    "with_cases": True,
    "write_trail": "run.trail",
}


DEPENDENCE = Dependence()
READ_AT_ONCE = {"claim"}  # tests/langs/test_promela_liveness.py
PAIRS = [(command, name) for command, names in sorted(KEYWORDS.items()) for name in sorted(names - READ_AT_ONCE)]


def requested(command, program, given):
    request = request_of(command, program, given)
    return replace(request, options=replace(request.options, dependence=DEPENDENCE))  # these have no equality


@pytest.mark.parametrize("command, name", PAIRS)
def test_what_is_given_is_not_lost(command, name):
    """A keyword that changes nothing would be taken for done."""
    of_code = name in OfProgram.__annotations__ and name not in OfModel.__annotations__
    program = two_adds if of_code else porcini.load(VINEYARD)
    plain = requested(command, program, {})
    assert plain == requested(command, program, {})
    assert plain != requested(command, program, {name: GIVEN[name]})
    if name in ("guards", "inputs", "limits", "observe", "options"):
        assert plain == requested(command, program, {name: None})


def test_the_records_have_no_field_that_nobody_can_give():
    records = (Question, Following, requests.AllInputs)
    known = set().union(*KEYWORDS.values())
    assert {each.name for record in records for each in fields(record)} <= known


def test_models_and_real_code_are_asked_the_same_way():
    model = exploring.explore(Request(ModelSubject(porcini.load(VINEYARD))))
    code = exploring.explore(Request(Code(two_adds)))
    assert [(r.command, r.engine, r.verdict, r.stopped) for r in (model, code)] == [
        ("explore", "optimal", "violated", "exhausted")
    ] * 2
    assert model.coverage is None and code.coverage is not None and code.coverage.steps > 0
    assert code.counterexample is not None and code.counterexample.contrast is not None
    assert code.counterexample.contrast.kind == "terminated"


def test_a_schedule_is_tried_before_all_others():
    first = exploring.explore(Request(Code(two_adds), question=Question(first=True)))
    assert first.counts.executions == 2 and exploring.FAILS_AGAIN not in first.notes
    schedule = first.counterexample.schedules[0]
    again = exploring.explore(
        Request(Code(two_adds), question=Question(first=True), following=Following(schedule))
    )
    assert again.counts.executions == 1 and exploring.FAILS_AGAIN in again.notes
    assert again.counterexample.schedules == first.counterexample.schedules
    passes = first.counterexample.contrast.schedule
    for other in (passes, "0 0.7"):  # one that passes, and one that does not fit any more
        found = exploring.explore(
            Request(Code(two_adds), question=Question(first=True), following=Following(other))
        )
        assert found.counts == first.counts and exploring.FAILS_AGAIN not in found.notes
    every = exploring.explore(Request(Code(two_adds), following=Following(schedule)))
    assert every.counts == porcini.explore(two_adds).counts  # it is not counted twice


@pytest.mark.parametrize("command", ["check", "permute", "symbolic"])
def test_commands_for_models_refuse_real_code(command):
    with pytest.raises(InputError, match="this command is not for coroutine functions"):
        getattr(porcini, command)(two_adds)


def test_a_loop_needs_states():
    with pytest.raises(InputError, match="`loop` is not for coroutine functions: the state of running code"):
        porcini.replay(two_adds, "0", loop="0")


def without_time(text: str) -> str:
    return re.sub(r"\d+\.\d\d s", "T", text)


@pytest.mark.parametrize("program", [VINEYARD, "commands.test_requests:two_adds"])
def test_text_does_not_depend_on_what_was_imported(program):
    """In a process that has loaded nothing, by the command, and here."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")]), "COLUMNS": "150"}
    words = (
        ["-c", f"import porcini; print(porcini.explore({program!r}))"],
        ["-m", "porcini", "explore", program],
    )
    said = [
        subprocess.run([sys.executable, *args], cwd=ROOT, env=env, capture_output=True, text=True)
        for args in words
    ]
    assert "matters" in said[0].stdout or "fail" in said[0].stdout, said[0].stderr
    assert without_time(said[0].stdout) == without_time(said[1].stdout)
    if program == VINEYARD:
        assert without_time(said[0].stdout) == without_time(f"{porcini.explore(program)}\n")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_formats_look_at_who_reads(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)
    report = porcini.explore(VINEYARD)
    plain = FORMATS["text"](report)
    assert plain == str(report) == FORMATS["text"](report, View(io.StringIO()))
    coloured = FORMATS["text"](report, View(Terminal()))
    assert "\x1b[" in coloured and "\x1b[" not in plain
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured).splitlines()[0] == plain.splitlines()[0]
    assert FORMATS["text"](report, View(verdict_only=True)) == plain.splitlines()[0]
    assert f"replay {VINEYARD} -D N=2 " in FORMATS["text"](report, View(options="-D N=2 "))
    assert FORMATS["json"](report, View(Terminal())) == FORMATS["json"](report)


class Answers:
    """A checker that has one answer."""

    name, title = "oracle", "The oracle"
    signs = MappingProxyType(
        {"true": "T", "false": "F", "!": "no", "X": "next", "&&": "and", "||": "or", "U": "until", "V": "rel"}
    )

    def __init__(self, holds: bool) -> None:
        self.holds, self.asked = holds, []

    def check(self, system, formula, watched, asked: CheckerOptions):
        self.asked.append((formula, tuple(watched), asked.ample))
        asked.counts.states = 7
        state = system.state_graph().initial()
        return None if self.holds else ((state,), (state,))


@pytest.mark.parametrize("holds", [True, False])
def test_a_checker_of_the_language_s_own(monkeypatch, holds):
    model, answers = porcini.load(VINEYARD), Answers(holds)
    monkeypatch.setattr(type(model), "checker", answers)
    report = porcini.check(model, ltl="[] !flag")
    assert (report.engine, report.verdict, report.counts.states) == ("oracle", "holds" if holds else "violated", 7)
    assert answers.asked == [("(F rel (no (flag)))", ("flag",), "closure")]
    with pytest.raises(InputError, match="The oracle's checker knows no fairness"):
        porcini.check(model, ltl="[] !flag", engine="oracle", options=Options(fair=True))
    with pytest.raises(InputError, match="`check` does not go by engine `oracle` here"):
        porcini.check(model, engine="oracle")
    for given in ({"engine": "graph"}, {"options": Options(fair=True)}):  # which it does not know
        assert porcini.check(model, ltl="[] !flag", **given).engine == "graph"
    assert len(answers.asked) == 1


def test_an_interrupt_does_not_lose_what_was_found(monkeypatch):
    """It comes while a counterexample is explained, or compared with runs that pass."""

    def interrupted(*_):
        raise KeyboardInterrupt

    for name in ("explained", "compared"):
        with monkeypatch.context() as patched:
            patched.setattr(f"porcini.coroutines.code.{name}", interrupted)
            report = porcini.explore(two_adds)
        assert (report.verdict, report.interrupted) == ("violated", True)
        assert report.explanation is not None and "replay" in report.explanation.again[0]
    assert not porcini.explore(two_adds).interrupted
