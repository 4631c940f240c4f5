"""`make bench-native`: native code beside SPIN on the same files, in processor time; the best of two runs each.

Three columns of states per second: SPIN's without its reduction, ours without one, ours with stubborn sets. Then
the whole way of a command, with an empty cache and with a full one, beside SPIN's: generating, compiling, running.
Then formulas that hold: SPIN's `-a`, the reference, and ours without and with stubborn sets. `--quick` takes small
sizes, `--formulas` formulas alone.
"""

from __future__ import annotations

import math
import os
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

MODELS = Path(__file__).parent / "promela"
ROWS = [
    ("phils_vars", "N", 9, 12),
    ("phils_deadlock", "N", 9, 12),
    ("phils_chan", "N", 6, 8),
    ("peterson", "N", 3, 4),
    ("bakery", "N", 3, 3),
    ("sieve", "MAX", 20, 28),
    ("leader", "N", 6, 8),
    ("token_ring", "N", 5, 7),
    ("sliding_window", "W", 3, 5),
    ("coherence", "N", 4, 6),
    ("readers_writers", "N", 9, 13),
    ("handshake", "N", 4, 6),
]
FORMULAS = [
    ("phils_vars", "N", 8, 12, "neighbours"),
    ("peterson", "N", 3, 4, "exclusive"),
    ("leader", "N", 6, 8, "elected"),
    ("token_ring", "N", 5, 7, "token_moves"),
    ("sliding_window", "W", 3, 5, "window"),
    ("coherence", "N", 4, 6, "single_writer"),
    ("readers_writers", "N", 9, 13, "safe"),
]
CHECKED = """
import sys, time, porcini
from porcini.engines.catalogue import Options
model, define, size, formula, machine, reduction, fair = sys.argv[1:]
program = porcini.load(model, defines={define: size})
options = Options(reduction=reduction, machine=machine, fair=fair == "weak")
before = time.process_time()
limits = porcini.Limits(timeout=20 if machine == "python" else 300, max_states=10**9)
report = porcini.check(program, ltl=formula, options=options, limits=limits)
print(report.counts.states, time.process_time() - before, report.machine, report.verdict)
"""
OURS = """
import sys, time, porcini
from porcini.engines.catalogue import Options
model, define, size, reduction, workers = sys.argv[1:]
program = porcini.load(model, defines={define: size})
options = Options(reduction=reduction, machine="native", search="bfs", workers=int(workers))
before, started = time.process_time(), time.perf_counter()
report = porcini.explore(
    program, engine="graph", properties=("deadlock-free", "failure-free"), options=options,
    limits=porcini.Limits(timeout=300),
)
print(report.counts.states, time.process_time() - before, time.perf_counter() - started, report.stopped)
"""


def ours(model: str, define: str, size: int, reduction: str, workers: int = 1) -> tuple[int, float, float] | None:
    """States, seconds of the processor, and seconds on the clock."""
    command = [
        sys.executable,
        "-c",
        OURS,
        str(MODELS / f"{model}.pml"),
        define,
        str(size),
        reduction,
        str(workers),
    ]
    found = []
    for _ in range(2):
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        if said[3] != "exhausted":
            return None
        found.append((int(said[0]), float(said[1]), float(said[2])))
    return min(found, key=lambda each: each[1])


def checked(model: str, define: str, size: int, formula: str, *how: str) -> tuple[int, float]:
    """States of the product, and seconds of the processor. The reference may be stopped: its rate is enough."""
    arguments = [str(MODELS / f"{model}.pml"), define, str(size), formula, *how]
    found = []
    for _ in range(1 if how[0] == "python" else 2):
        command = [sys.executable, "-c", CHECKED, *arguments]
        states, seconds, machine, verdict = subprocess.run(
            command, capture_output=True, text=True, check=True
        ).stdout.split()
        assert machine == how[0] and (verdict == "holds" or machine == "python"), (model, formula, verdict)
        found.append((int(states), float(seconds)))
    return min(found, key=lambda each: each[1])


def print_formulas(chosen: list[str], quick: bool) -> None:
    columns = ("SPIN states", "SPIN/s", "reference/s", "states", "here/s", "times", "stubborn", "here/s", "fair/s")
    print(f"{'formula':<34}" + "".join(f"{each:>12}" for each in columns))
    ratios = []
    for model, define, small, large, formula in FORMULAS:
        if chosen and model not in chosen:
            continue
        size = small if quick else large
        asked = model, define, size, formula
        theirs, seconds, _ = spin(model, define, size, formula)
        rate = theirs / max(seconds, 0.01)
        reference = checked(*asked, "python", "none", "none")
        plain = checked(*asked, "native", "none", "none")
        reduced, fair = checked(*asked, "native", "stubborn", "none"), checked(*asked, "native", "none", "weak")
        ratios.append(plain[0] / plain[1] / rate)
        cells = [f"{theirs:,}", f"{rate:,.0f}", f"{reference[0] / reference[1]:,.0f}"]
        cells += [f"{plain[0]:,}", f"{plain[0] / plain[1]:,.0f}", f"{ratios[-1]:.1f}"]
        cells += [f"{reduced[0]:,}", f"{reduced[0] / reduced[1]:,.0f}", f"{fair[0] / fair[1]:,.0f}"]
        print(f"{f'{model} {size} {formula}':<34}" + "".join(f"{cell:>12}" for cell in cells), flush=True)
    print(f"geometric mean of the times: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.1f}")


def processor_time(command: list[str], folder: str | None = None, **environment: str) -> float:
    """What a command and its children take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, capture_output=True, env={**os.environ, **environment})
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def spin(model: str, define: str, size: int, formula: str | None = None) -> tuple[int, float, float]:
    """States, seconds of the search, and seconds for generating and compiling; for a formula, if there is one."""
    with tempfile.TemporaryDirectory() as folder:
        source = (MODELS / f"{model}.pml").resolve()
        building = processor_time(["spin", "-a", f"-D{define}={size}", str(source)], folder)
        flags = ["-O2", "-w", "-DVECTORSZ=2048", "-DNOREDUCE"] + (["-DSAFETY", "-DNOCLAIM"] if not formula else [])
        building += processor_time(["gcc", *flags, "-o", "pan", "pan.c"], folder)
        asked = f"-a -N {formula} -m10000000" if formula else "-m4000000"
        run = ["sh", "-c", f"./pan {asked} -w24 -c0 > said"]
        seconds = min(processor_time(run, folder) for _ in range(2))
        states = re.search(r"(\d+) states, st", Path(folder, "said").read_text())
        return int(states[1]) if states else 0, seconds, building


def main() -> int:
    quick = "--quick" in sys.argv
    chosen = [each for each in sys.argv[1:] if not each.startswith("-")]
    if "--formulas" in sys.argv:
        print_formulas(chosen, quick)
        return 0
    columns = ("SPIN/s", "states", "here/s", "times", "stubborn", "here/s", "cold s", "warm s", "SPIN s")
    print(f"{'model':<22}" + "".join(f"{each:>12}" for each in columns))
    ratios = []
    for model, define, small, large in ROWS:
        if chosen and model not in chosen:
            continue
        size = small if quick else large
        theirs, plain = spin(model, define, size), ours(model, define, size, "none")
        reduced = ours(model, define, size, "stubborn")
        command = [
            sys.executable,
            "-m",
            "porcini",
            "check",
            str(MODELS / f"{model}.pml"),
            "-D",
            f"{define}={size}",
        ]
        command += ["--reduction", "none", "--machine", "native", "--quiet"]
        with tempfile.TemporaryDirectory() as cache:
            cold, warm = (processor_time(command, XDG_CACHE_HOME=cache) for _ in range(2))
        rate = theirs[0] / max(theirs[1], 0.01)
        cells = [f"{rate:,.0f}"]
        for found in (plain, reduced):
            cells += [f"{found[0]:,}", f"{found[0] / found[1]:,.0f}"] if found else ["-", "-"]
            if found is plain:
                ratios.append(found[0] / found[1] / rate if found else 1.0)
                cells.append(f"{ratios[-1]:.1f}")
        cells += [f"{cold:.2f}", f"{warm:.2f}", f"{theirs[1] + theirs[2]:.2f}"]
        print(f"{model + ' ' + str(size):<22}" + "".join(f"{cell:>12}" for cell in cells), flush=True)
    print(f"geometric mean of the times: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.1f}\n")
    print_formulas([each for each in chosen if any(each == row[0] for row in FORMULAS)], quick)
    return 0


if __name__ == "__main__":
    sys.exit(main())
