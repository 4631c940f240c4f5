"""What Porcini finds is what running every order of ready handles shows: for tests of single programs."""

from __future__ import annotations

import ast
import gc
from collections.abc import Callable
from typing import Any

from aio.corpus_reference import explore as every_order
from porcini import Limits, Report, explore
from porcini.langs.aio.program import observed


def agreed(function: Callable[[], Any], max_runs: int = 3000) -> tuple[set[str], Report]:
    """The outcomes that a program has in every order, which are those that are found; and the report."""
    gc.collect()
    gc.disable()  # what is collected in a run may have something to say to the loop
    try:
        every = every_order(function, max_runs=max_runs)
    finally:
        gc.enable()
    assert every.complete
    wanted = {
        str(observed(ast.literal_eval(shown[0]))) if kind == "ok" else kind for kind, *shown in every.outcomes
    }
    report = explore(function, limits=Limits(timeout=20, max_executions=5000))
    found = {str(*o.state.values()) if o.kind == "terminated" else o.kind for o in report.outcomes}
    assert found == wanted, f"lost {wanted - found}, invented {found - wanted}"
    assert report.stopped == "exhausted"
    return wanted, report
