"""`make bench-promela`: the graph engine on Promela models, beside SPIN and beside what P1 reports.

Counts without reduction (are they SPIN's?), with reduction, the growth of deadlock searches, speed, memory, LTL.
Without `spin` and `gcc` on the PATH our own figures alone; `--quick` takes the small sizes only; `-` is what was
not to be had, within `LONGEST` seconds or at all.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import porcini
from porcini import load
from porcini.engines.catalogue import Options

MODELS = Path(__file__).parent / "promela"
HAVE_SPIN = bool(shutil.which("spin") and shutil.which("gcc"))
LONGEST = 120.0
PATIENCE = 20.0
"""A column of growing sizes ends with the first that took longer than this."""

Row = tuple[str, str, str]
"""Model, size as in `-D`, the verdict that is meant."""

ROWS: list[tuple[str, str, tuple[int, ...], tuple[int, ...], str]] = [
    ("phils_vars", "N", (5, 6), (8,), "holds"),
    ("phils_deadlock", "N", (6,), (10,), "violated"),
    ("phils_chan", "N", (4, 5), (6,), "holds"),
    ("peterson", "N", (2, 3), (), "holds"),
    ("bakery", "N", (2,), (3,), "holds"),
    ("sieve", "MAX", (12,), (20, 24), "holds"),
    ("leader", "N", (4, 5), (7,), "holds"),
    ("token_ring", "N", (3, 4), (5,), "holds"),
    ("sliding_window", "W", (1, 2), (3,), "holds"),
    ("coherence", "N", (2, 3), (4,), "holds"),
    ("readers_writers", "N", (3, 6), (9,), "holds"),
    ("handshake", "N", (2, 3), (4,), "holds"),
]
"""Model, what sets its size, small and large sizes, the verdict on assertions and deadlock that is meant."""

PAPER = {"phils_vars N=5": "18", "phils_vars N=6": "27"} | {f"sieve MAX={most}": "355" for most in (12, 20, 24)}
"""States without over states with reduction, in P1; its models are not ours, nor all of these sizes."""

REDUCTIONS = {"ample single": "single", "ample closure": "closure", "stubborn": "stubborn"}
MODES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "plain": (("-o1", "-o2", "-o3"), ("-DNOREDUCE",)),
    "optimised": ((), ("-DNOREDUCE",)),
    "reduced": ((), ()),
}
"""For `spin -a`, and for gcc."""
FIGURES = (r"(\d+) states, st", r"errors: (\d+)", r"elapsed time (\S+) s", r"([\d.]+)\tactual memory usage for st")


class Found(NamedTuple):
    states: int
    seconds: float
    verdict: str
    building: float = 0.0
    """Seconds for SPIN to generate its verifier and for gcc to compile it."""
    megabytes: float = 0.0


@cache
def ours(
    model: str,
    size: str,
    *,
    reduction: str,
    optimise: bool = True,
    search: str = "dfs",
    ltl: str | None = None,
) -> Found | None:
    """The one place where Porcini is called; the search goes on past violations, but for those of a formula."""
    program = load(MODELS / f"{model}.pml", defines=dict([size.split("=")] if size else []))
    ample = {"reduction": "ample", "ample": reduction} if reduction in ("single", "closure") else {}
    options = Options(**{"search": search, "reduction": reduction, "optimise": optimise, **ample})
    limits = porcini.Limits(timeout=LONGEST, max_states=10_000_000)
    if ltl is not None:
        report = porcini.check(program, options=options, ltl=ltl, limits=limits)
    else:  # the formulas have a table of their own
        safety = ("deadlock-free", "failure-free")
        report = porcini.explore(program, engine="graph", properties=safety, options=options, limits=limits)
    if report.stopped == "limit":
        return None
    return Found(report.counts.states, report.seconds, report.verdict)


@cache
def spin(model: str, size: str, mode: str, ltl: str | None = None) -> Found | None:
    """The faster of two runs; errors do not end the search (`-c0`), but for those of a formula."""
    if not HAVE_SPIN:
        return None
    generating, compiling = MODES[mode]
    for_safety = () if ltl else ("-DSAFETY", "-DNOCLAIM")
    source = (MODELS / f"{model}.pml").resolve()
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        for command in (
            ["spin", "-a", *generating, *([f"-D{size}"] if size else []), str(source)],
            ["gcc", "-O2", "-w", "-DVECTORSZ=2048", *for_safety, *compiling, "-o", "pan", "pan.c"],
        ):
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
        building = time.perf_counter() - started
        command = ["./pan", "-m4000000", "-w22", *(("-a", "-N", ltl) if ltl else ("-c0",))]
        runs: list[Found] = []
        for _ in range(2):
            try:
                done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=LONGEST)
            except subprocess.TimeoutExpired:
                return None
            if "max search depth too small" in done.stdout:
                return None
            figures = (re.search(pattern, done.stdout) for pattern in FIGURES)
            states, errors, seconds, megabytes = (float(figure[1]) for figure in figures if figure)
            runs.append(Found(int(states), seconds, "violated" if errors else "holds", building, megabytes))
    return min(runs, key=lambda found: found.seconds)


def count(found: Found | None, whole: Found | None = None) -> str:
    if not found:
        return "-"
    return f"{found.states:,}" + (f" ({whole.states / found.states:.1f})" if whole else "")


def title(text: str, *columns: str) -> None:
    print(f"\n{text}\n")
    line(*columns)


def line(first: str, *cells: str) -> None:
    print(f"{first:<40}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


def unreduced(rows: list[Row]) -> None:
    for mode, optimise in (("plain", False), ("optimised", True)):
        title(f"States without reduction, {mode}", "model", "SPIN", "here", "", "verdict")
        for model, size, wanted in rows:
            theirs, here = spin(model, size, mode), ours(model, size, reduction="none", optimise=optimise)
            equal = "" if not (theirs and here) else "=" if theirs.states == here.states else "differ"
            right = all(found.verdict == wanted for found in (theirs, here) if found)
            line(f"{model} {size}", count(theirs), count(here), equal, wanted if right else f"not {wanted}!")


def reduced(rows: list[Row]) -> None:
    title("States with reduction (how many times fewer)", "model", "SPIN's", *REDUCTIONS, "P1's times")
    for model, size, _ in rows:
        theirs = count(spin(model, size, "reduced"), spin(model, size, "optimised"))
        whole = ours(model, size, reduction="none")
        here = (count(ours(model, size, reduction=reduction), whole) for reduction in REDUCTIONS.values())
        line(f"{model} {size}", theirs, *here, PAPER.get(f"{model} {size}", ""))


def growth(most: int) -> None:
    title("Philosophers that deadlock", "", "SPIN", "SPIN's reduced", "here", "stubborn", "seconds")
    model = "phils_deadlock"
    searches: dict[str, Callable[[str], Found | None]] = {
        "SPIN": lambda size: spin(model, size, "optimised"),
        "SPIN's reduced": lambda size: spin(model, size, "reduced"),
        "here": lambda size: ours(model, size, reduction="none"),
        "stubborn": lambda size: ours(model, size, reduction="stubborn"),
    }
    for n in range(5, most + 1):
        cells = []
        for column, search in list(searches.items()):
            found = search(f"N={n}")
            cells.append(count(found))
            if found is None or found.seconds > PATIENCE:
                searches[column] = lambda size: None
        line(f"n = {n}", *cells, f"{found.seconds:.2f}" if found else "-")


def speed(rows: list[Row]) -> None:
    columns = ("SPIN's states/s", "here", "here/SPIN", "SPIN built+run s", "here s")
    title("Speed without reduction, the best of two; SPIN's clock ticks every 0.01 s", "model", *columns)
    for model, size, _ in rows:
        theirs = spin(model, size, "optimised")
        runs = [ours.__wrapped__(model, size, reduction="none") for _ in range(2)]
        here = min((found for found in runs if found), key=lambda found: found.seconds, default=None)
        rates = [found.states / max(found.seconds, 0.01) if found else 0 for found in (theirs, here)]
        cells = [f"{rate:,.0f}" for rate in rates] + [f"{rates[1] / rates[0]:.3f}" if rates[0] else "-"]
        cells += [f"{found.building + found.seconds:.2f}" if found else "-" for found in (theirs, here)]
        line(f"{model} {size}", *cells)


def memory(sizes: list[int]) -> None:
    title("Bytes per state without reduction, philosophers", "", "states", "SPIN", "here")
    for size in sizes:
        theirs = spin("phils_vars", f"N={size}", "optimised")
        command = [sys.executable, __file__, "--peak", str(size)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        of_spin = f"{theirs.megabytes * 2**20 / theirs.states:.0f}" if theirs else "-"
        line(f"n = {size}", f"{int(told[0]):,}", of_spin, f"{int(told[1]) / int(told[0]):.0f}")


def peak(size: int) -> None:
    """In a process of its own: states, and by how many bytes they raise the peak above a small run's."""
    ours("phils_vars", "N=3", reduction="none")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = ours("phils_vars", f"N={size}", reduction="none")
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(found.states if found else 1, (after - before) * 1024)


def formulas() -> None:
    title("LTL, reduced", "model: formula", "SPIN", "states", "here", "states")
    for file in sorted(MODELS.glob("*.pml")):
        for formula in re.findall(r"^ltl (\w+)", file.read_text(), re.MULTILINE):
            theirs = spin(file.stem, "", "reduced", formula)
            here = ours(file.stem, "", reduction="closure", ltl=formula)
            cells = [cell for found in (theirs, here) for cell in (found.verdict if found else "-", count(found))]
            line(f"{file.stem}: {formula}", *cells)


def main() -> int:
    if "--peak" in sys.argv:
        peak(int(sys.argv[-1]))
        return 0
    quick = "--quick" in sys.argv
    if not HAVE_SPIN:
        print("no spin or no gcc on the PATH: our own figures only")
    sizes = [
        (model, define, few[-1:] if quick else few, many, wanted) for model, define, few, many, wanted in ROWS
    ]
    small = [(model, f"{define}={n}", wanted) for model, define, few, _, wanted in sizes for n in few]
    large = [(model, f"{define}={n}", wanted) for model, define, _, many, wanted in sizes for n in many]
    rows = small if quick else small + large
    unreduced(rows)
    reduced(rows)
    growth(7 if quick else 12)
    speed(small if quick else large)
    memory([9] if quick else [10, 11])
    formulas()
    return 0


if __name__ == "__main__":
    sys.exit(main())
