"""Test cases that `symbolic` has written: replaying them, and writing them as a module for pytest."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from porcini.commands.programs import ModelSubject
from porcini.commands.reporting import build_report
from porcini.commands.requests import Following, Request
from porcini.commands.running import replay
from porcini.core.errors import InputError
from porcini.core.reports import Report
from porcini.engines.stats import SearchStats
from porcini.models import Model


def replay_cases(model: Model, tests: Sequence[Mapping[str, Any]]) -> tuple[Report, list[str]]:
    """The result of replaying test cases, and what is wrong with each that fails."""
    wrong = []
    for number, case in enumerate(tests, 1):
        request = Request(ModelSubject(model, case["input"]), following=Following(case["schedule"]))
        try:
            outcome = replay(request).outcomes[0]
        except InputError as problem:
            wrong.append(f"case {number}: {problem.message}")
            continue
        state = {name: list(v) if isinstance(v, tuple) else v for name, v in outcome.state.items()}
        seen = {name: state.get(name) for name in case["state"]}
        if (outcome.kind, seen) != (case["kind"], case["state"]):
            wrong.append(f"case {number}: {outcome.kind} {seen}, not {case['kind']} {case['state']}")
    stats = SearchStats()
    stats.counts.executions = len(tests)
    report = build_report(model, "replay", stats, property="cases")
    return replace(report, verdict="violated" if wrong else "holds"), wrong


def show_as_pytest(file: str, module: str, tests: Sequence[Mapping[str, Any]]) -> str:
    """The same cases as a test module that calls the Python API, and finds the model relative to its own file."""
    name = Path(os.path.relpath(file, Path(module).resolve().parent)).as_posix()
    rows = "\n".join(f"    {dict(test)!r}," for test in tests)
    return f'''"""Written by `porcini symbolic --pytest`: one case for each class of paths of {name}."""

from pathlib import Path

import pytest

import porcini

MODEL = Path(__file__).parent / {name!r}
CASES = [
{rows}
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{{case['input']}} {{case['schedule']}}")
def test_case(case):
    outcome = porcini.replay(MODEL, case["schedule"], inputs=case["input"]).outcomes[0]
    state = {{name: list(v) if isinstance(v, tuple) else v for name, v in outcome.state.items()}}
    assert outcome.kind == case["kind"]
    assert {{name: state[name] for name in case["state"]}} == case["state"]
'''
