"""Formulas that held in the reduced graph of a rewrite theory, and do not hold.

A step was taken for invisible if it changes no proposition where it is taken. Put before others, it may stand for
runs in which it is taken later, and is seen.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)
from maude_strategies import Program

SHRUNK = Program(
    "channels",
    "chan('c, 1, 0) chan('d, 1, nil) < 0 | 'c ? 'v | 'v |-> 0 , 'i |-> 0 > < 1 | 'c ! 0 | 'v |-> 0 , 'i |-> 0 >",
)
"""While there is a message, a send leaves the first one alone. Received, then sent: there is none in between."""
TWO_PARTS = Program(
    "threads", "['x = 1] ['y = 5] < 0 | load 'y into 'r | 'r |-> 0 > < 1 | store 0 into 'x | 'r |-> 0 >"
)
"""The register of thread 0 is x only after x was stored, and before it is loaded."""
REDUCTIONS = (["--no-reduction"], ["--ample", "single"], ["--ample", "closure"])


@pytest.mark.parametrize("engine", ["maude", "graph"])
@pytest.mark.parametrize("reduction", REDUCTIONS, ids=" ".join)
@pytest.mark.parametrize(
    "program, formula",
    [
        (SHRUNK, "[] first(0)"),
        (SHRUNK, "[] over(-1)"),
        (SHRUNK, "[] any"),
        (TWO_PARTS, "[] ~ echo(0)"),
    ],
    ids=["one part", "with a condition", "all of a state", "two parts"],
)
def test_what_is_seen_only_later_is_not_left_out(
    porcini,  # noqa: F811
    tmp_path: Path,
    program: Program,
    formula: str,
    reduction: list[str],
    engine: str,
) -> None:
    path = str(program.written(tmp_path))
    status, out, err = porcini("check", path, "--ltl", formula, "--engine", engine, *reduction, "--json")
    assert (status, err) == (1, "")
    report = json.loads(out)
    assert (report["verdict"], report["engine"]) == ("violated", engine)
    assert report["trail"]["stem"].split()[0] == ("0" if program is SHRUNK else "1"), "the order that was lost"


def test_what_looks_at_all_of_a_state_is_not_reduced_and_a_note_says_so(porcini, tmp_path: Path) -> None:  # noqa: F811
    path = str(SHRUNK.written(tmp_path))
    for engine in ("maude", "graph"):
        _, out, _ = porcini("check", path, "--ltl", "[] any", "--engine", engine)
        assert "note: no reduction: `any` may look at all of a state" in out
        assert f"engine {engine}, no reduction" in out
        _, out, _ = porcini("check", path, "--ltl", "[] any", "--engine", engine, "--no-reduction")
        assert "may look at all" not in out
        _, out, _ = porcini("check", path, "--ltl", "[] first(0)", "--engine", engine)
        assert "may look at all" not in out
