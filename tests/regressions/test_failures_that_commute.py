"""A step that fails may commute with more than the step that was planned: it does not get to write. But before a
step is taken nobody knows that it will fail. `optimal` had planned one step, run the other, and ended in an
internal error: a run that was blocked by its sleep set."""

from __future__ import annotations

from random import Random

import pytest

import porcini
from conformance.kinds import KINDS
from porcini.engines import semantic
from porcini.engines.limits import Limits

SHRUNK = """
x |-> 0, y |-> 0, z |-> 0, a |-> [2, 2, 2],
True |> spawn(True |> y := z; True |> x := 1);
{i |-> 0, z := 1 <| z >= a[y] |> y := a[x % 3] + 3 % i}
"""


def engines_agree(source: str, inputs: dict[str, int] | None = None) -> None:
    """With semantic independence: the same classes and outcomes, and `optimal` runs none in vain."""
    found = []
    for engine in ("optimal", "source", "sleep"):
        limits = Limits(max_executions=2_000)
        report = porcini.explore(
            porcini.loads(source), engine=engine, independence="semantic", inputs=inputs or {}, limits=limits
        )
        if report.stopped == "limit":
            return
        found.append((report.counts.classes, {(o.kind, *o.state.items()) for o in report.outcomes}))
        assert engine != "optimal" or report.counts.executions == report.counts.classes
    assert found[0] == found[1] == found[2]


def test_shrunk() -> None:
    engines_agree(SHRUNK)


@pytest.mark.parametrize("seed", range(40))
def test_generated_programs(seed: int) -> None:
    program = KINDS["gcl"].draw(Random(seed))
    engines_agree(program.text(), program.inputs())


def test_mutant_that_asks_about_what_happened(monkeypatch) -> None:
    monkeypatch.setattr(semantic, "_formulas_of", lambda step: step.label)
    monkeypatch.setattr(semantic, "ways_to_end", lambda label: iter((label,)))
    with pytest.raises(porcini.InternalError, match="blocked by its sleep set"):
        engines_agree(SHRUNK)
