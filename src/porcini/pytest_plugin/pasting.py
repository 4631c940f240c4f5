"""Lines to paste: the command that runs one test, and what helps one that was not explored to its end."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator

import pytest

from porcini.core.reports import Coverage
from porcini.pytest_plugin import BUDGET, MARKER

_LONGER = 30.0
"""The least that a longer search gets, in seconds."""


def command_for(item: pytest.Function) -> str:
    """What runs a test from here, which is not always where pytest's root is."""
    config = item.config
    path, colons, name = item.nodeid.partition("::")
    here = os.path.relpath(config.rootpath / path, config.invocation_params.dir)
    every = " --porcini" if config.getoption("--porcini") else ""
    return f"pytest {shlex.quote(f'{here}{colons}{name}')}{every}"


def lines_to_try(item: pytest.Function, coverage: Coverage) -> Iterator[str]:
    """What may bring a test that hit a limit to an answer."""
    assert coverage.unfinished is not None
    for advice in coverage.unfinished.advice:
        if advice == "follow":
            yield f"to follow what is opaque: @pytest.mark.{MARKER}(packages={list(coverage.packages)})"
        elif advice == "longer":
            seconds = max(10 * item.config.stash[BUDGET], _LONGER)
            option = "--porcini-budget" if item.config.getoption("--porcini") else "--porcini-timeout"
            yield f"to go on for longer: {command_for(item)} {option} {seconds:g}"
        elif advice == "sample":
            options = 'engine="pct", max_schedules=1000, allow_unknown=True'
            yield f"to look for failures without a proof: @pytest.mark.{MARKER}({options})"
