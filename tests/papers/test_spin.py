"""SPIN on the same files: the same states, the same verdicts. Skipped where SPIN or a C compiler is missing."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import porcini
from porcini.engines.catalogue import Options

MODELS = Path(__file__).parents[2] / "benchmarks" / "promela"
COMPILER = shutil.which("tcc") or shutil.which("gcc")  # which takes ten times as long
pytestmark = pytest.mark.skipif(
    not (shutil.which("spin") and COMPILER), reason="spin and a C compiler are not installed"
)

ROWS = [
    ("phils_vars", {"N": "4"}),
    ("phils_deadlock", {"N": "4"}),
    ("phils_chan", {"N": "3"}),
    ("sieve", {"MAX": "8"}),
    ("leader", {"N": "4"}),
    ("readers_writers", {"N": "3"}),
    ("handshake", {"N": "2"}),
]


def spin(model: str, defines: dict[str, str], folder: Path, *, formula: str | None = None) -> tuple[int, int]:
    """States and errors, every statement a step, nothing reduced."""
    macros = [f"-D{name}={value}" for name, value in defines.items()]
    subprocess.run(
        ["spin", "-a", "-o1", "-o2", "-o3", *macros, str(MODELS / f"{model}.pml")],
        cwd=folder,
        check=True,
        capture_output=True,
    )
    kind = [] if formula else ["-DSAFETY", "-DNOCLAIM"]
    assert COMPILER is not None
    subprocess.run([COMPILER, "-w", "-DNOREDUCE", *kind, "-o", "pan", "pan.c"], cwd=folder, check=True)
    how = ["-a", "-N", formula] if formula else ["-c0"]
    told = subprocess.run(
        ["./pan", "-m100000", *how], cwd=folder, check=True, capture_output=True, text=True
    ).stdout
    states, errors = re.search(r"(\d+) states, stored", told), re.search(r"errors: (\d+)", told)
    assert states and errors, told
    return int(states[1]), int(errors[1])


@pytest.mark.parametrize(("model", "defines"), ROWS, ids=[row[0] for row in ROWS])
def test_the_same_states(model: str, defines: dict[str, str], tmp_path: Path) -> None:
    program = porcini.load(MODELS / f"{model}.pml", defines=defines)
    options = Options(reduction="none", optimise=False)
    safety = ("deadlock-free", "failure-free")
    report = porcini.explore(program, engine="graph", properties=safety, options=options)
    states, errors = spin(model, defines, tmp_path)
    assert report.counts.states == states
    assert (report.verdict == "violated") == (errors > 0)


@pytest.mark.parametrize("formula", ["neighbours", "violated_first_eats"])
def test_the_same_verdict_on_formulas(formula: str, tmp_path: Path) -> None:
    program = porcini.load(MODELS / "phils_vars.pml", defines={"N": "3"})
    _, errors = spin("phils_vars", {"N": "3"}, tmp_path, formula=formula)
    assert (porcini.check(program, ltl=formula).verdict == "violated") == (errors > 0)
