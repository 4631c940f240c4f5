"""`make bench-maude`: rewrite theories in Maude, next to what P1 reports.

Tables 1, 2 and 3 of P1: the sieve, the philosophers and a dependence that leaves out what a program does not
share; what the reduction costs for each state; and how fast Maude and Porcini's own graphs are. Counts are those
of whole graphs: every reachable state of the theory as it is, and of the theory that `porcini transform` prints.

Every graph is built in a process of its own, within `LONGEST` seconds and `MOST` bytes; `-` is what was not to be
had. Seconds of Maude's graphs are those of the processor, which others may share. `--quick` takes small sizes;
`--full` adds DP(8) without reduction, which takes minutes and gigabytes. P1's models are not public: ours are the
same in kind, so the ratios are to be compared, not the counts.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from porcini import api
from porcini.engines.catalogue import Options
from porcini.engines.limits import Limits
from porcini.langs.maude import MaudeModel, bindings
from porcini.langs.maude.description import read_description
from porcini.langs.maude.model import Model
from porcini.langs.maude.theory import read_theory

EXAMPLES = Path(__file__).parent.parent / "examples" / "maude"
LONGEST = 1200.0
MOST = 8 * 2**30

PAPER_DP = {5: (56_212, 3_033), 6: (623_644, 22_822), 7: (None, 168_565), 8: (None, 1_412_908)}
PAPER_SIEVE = (61_842, 174)
PAPER_MEMORY = (6_991, 2_690)

ALL_MARKED = """
mod {module}-ALL-MARKED is
  including {marked} .
  sort All .
  ops at after : MState -> All [frozen] .
  op all : {state} -> {state} .
  op Begin : -> All .
  var C : {state} .  var T : {tid} .  var U : {thread} .  var B : Bool .  vars M M' : MState .
  crl [step] : at(M) => after(M') if M => M' /\\ M =/= M' .
  eq after(moved(C, T)) = at(ready(C)) .
  eq all(enabled(U, B) C) = enabled(U, true) all(C) .
  eq all(C) = C [owise] .
  eq Begin = at(ready(all({initial}))) .
endm
"""
"""The marked theory alone: every thread is marked for ever, nothing is chosen."""


class Found(NamedTuple):
    states: int
    seconds: float
    verdict: str = ""

    @property
    def each(self) -> float:
        """Microseconds for a state."""
        return 1e6 * self.seconds / self.states


# In a process of its own


def model_of(name: str, por: str, initial: str) -> Model:
    description = read_description(EXAMPLES / f"{por}.toml")
    return Model(read_theory(EXAMPLES / f"{name}.maude", replace(description, initial=initial)))


def start_of(model: Model, mode: str) -> bindings.Term:
    """The initial state of a theory: as it is, marked, or reduced by a heuristic."""
    description = model.description
    if mode == "plain":
        return bindings.parse(bindings.module(description.module), description.initial, "initial")
    reduced = model.reduced_module("single" if mode == "marked" else mode, ())  # type: ignore[arg-type]
    if mode != "marked":
        return bindings.parse(reduced, "Start", "initial")
    keys = ("module", "state", "thread", "tid", "initial")
    given = {key: getattr(description, key) for key in keys} | {"marked": model.theory.generated("MARKED")}
    bindings.enter(ALL_MARKED.format(**given))
    return bindings.parse(bindings.module(f"{description.module}-ALL-MARKED"), "Begin", "initial")


def whole_graph(model: Model, mode: str) -> Found:
    """Maude's graph, driven from Python through the bindings."""
    term = start_of(model, mode)
    started = time.process_time()
    term.reduce()
    graph = bindings.maude().RewriteGraph(term)
    state = 0
    while state < graph.getNrStates():
        follower = 0
        while graph.getNextState(state, follower) != -1:
            follower += 1
        state += 1
    return Found(state, time.process_time() - started)


def by_checker(model: Model) -> Found:
    """Maude's own checker on the plain theory, with a formula that it has to see every state for."""
    module = model.engine_module()
    term = model.initial_in(module)
    formula = bindings.parse(module, "[] ~ (eats(0) /\\ eats(1))", "formula")
    graph = bindings.maude().RewriteGraph(term)
    started = time.process_time()
    result = graph.modelCheck(formula)
    return Found(graph.getNrStates(), time.process_time() - started, "holds" if result.holds else "violated")


def by_engine(name: str, por: str, initial: str, reduction: str, ample: str) -> Found:
    """Porcini's graph engine over Maude terms: deadlocks, all states."""
    model = MaudeModel(name, "maude", "", model_of(name, por, initial))
    options = Options(reduction=reduction, ample=ample)  # type: ignore[arg-type]
    limits = Limits(timeout=LONGEST, max_states=10_000_000)
    report = api.explore(model, engine="graph", properties=("deadlock-free",), options=options, limits=limits)
    return Found(report.counts.states, report.seconds, report.verdict)


def answer(name: str, por: str, initial: str, mode: str) -> Found:
    if mode.startswith("graph"):
        _, reduction, ample = mode.split()
        return by_engine(name, por, initial, reduction, ample)
    model = model_of(name, por, initial)
    return by_checker(model) if mode == "checker" else whole_graph(model, mode)


# In the parent


def bounded() -> None:
    """In the child, before it begins: a stack as large as may be (the checker recurses), and so much memory."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))
    resource.setrlimit(resource.RLIMIT_AS, (MOST, MOST))


@cache
def ask(name: str, por: str, initial: str, mode: str) -> Found | None:
    command = [sys.executable, __file__, "--child", name, por, initial, mode]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LONGEST, preexec_fn=bounded, check=False
        )
    except subprocess.TimeoutExpired:
        return None
    if done.returncode > 0 and not any(word in done.stderr for word in ("MemoryError", "bad_alloc")):
        raise RuntimeError(done.stderr)
    return Found(*json.loads(done.stdout)) if done.returncode == 0 else None


def count(found: Found | None, whole: int | None = None) -> str:
    if not found:
        return "-"
    return f"{found.states:,}" + (f" ({whole / found.states:.1f})" if whole else "")


def seconds(found: Found | None) -> str:
    return f"{found.seconds:.1f}" if found else "-"


def title(text: str, *columns: str) -> None:
    print(f"\n{text}\n")
    line(*columns)


def line(first: str, *cells: str) -> None:
    print(f"{first:<34}" + "".join(f"{cell:>18}" for cell in cells), flush=True)


MODES = {"single": "single", "closure": "closure", "graph engine": "graph ample closure"}


def compared(
    label: str, name: str, por: str, initial: str, paper: tuple[int | None, int | None], *, plain: bool = True
) -> None:
    """One line of counts and one of seconds, with how many times fewer states there are."""
    whole = ask(name, por, initial, "plain") if plain else None
    found = [ask(name, por, initial, mode) for mode in MODES.values()]
    before, after = paper
    times = f"{before // after}" if before and after else "-"
    cells = (count(each, whole.states if whole else None) for each in found)
    line(label, count(whole), *cells, f"{after:,} ({times})" if after else "-")
    line("  seconds", seconds(whole), *map(seconds, found), "")


COLUMNS = ("", "plain", *MODES, "P1")


def philosophers(sizes: Iterable[int], full: bool) -> None:
    title("P1, Table 2: philosophers dp(N, 1), states (how many times fewer) and seconds", *COLUMNS)
    for n in sizes:
        compared(f"dp({n}, 1)", "table", "table", f"dp({n}, 1)", PAPER_DP[n], plain=n < 8 or full)
    if not full:
        print("P1: 18 times fewer for 5, 27 for 6; DP(8) took it 66 minutes. dp(8, 1) without reduction: --full")


def sieve(quick: bool) -> None:
    title("P1, Table 1: the sieve", *COLUMNS)
    sizes = ["sieve(3, 12, 2)"] if quick else ["sieve(3, 12, 2)", "sieve(4, 22, 2)"]
    for initial in sizes:
        compared(initial, "sieve", "sieve", initial, (None, None) if initial == sizes[0] else PAPER_SIEVE)
    print("A pipeline has one order of what it does: all but one order of each pair of steps can be left out")


def memory(quick: bool) -> None:
    initial = "table(4, 1)" if quick else "table(5, 1)"
    title(f"P1, Table 3: what the dependence says about memory, {initial}", *COLUMNS)
    name = "shared_philosophers"
    labels = {"_basic": "one location", "": "each cell", "_notshared": "left out"}
    found: dict[str, list[Found | None]] = {}
    for ending, label in labels.items():
        paper = PAPER_MEMORY[0] if ending == "_basic" else PAPER_MEMORY[1] if ending == "_notshared" else None
        compared(label, name, f"{name}{ending}", initial, (None, paper))
        found[ending] = [ask(name, f"{name}{ending}", initial, mode) for mode in MODES.values()]
    pairs = zip(found["_basic"], found["_notshared"], strict=True)
    times = [f"{one.states / two.states:.1f}" if one and two else "-" for one, two in pairs]
    line("one location / left out", "", *times, f"{PAPER_MEMORY[0] / PAPER_MEMORY[1]:.1f}")
    print("The same program; only the description differs")


def overhead(quick: bool) -> None:
    title("Microseconds for a state, in Maude (times plain)", "", "plain", "marked", "single", "closure")
    rows = [("table", "table", "dp(5, 1)")]
    if not quick:
        rows += [
            ("table", "table", "dp(6, 1)"),
            ("shared_philosophers", "shared_philosophers_basic", "table(5, 1)"),
        ]
    for name, por, initial in rows:
        found = [ask(name, por, initial, mode) for mode in ("plain", "marked", "single", "closure")]
        plain = found[0]
        cells = (f"{each.each:.0f} ({each.each / plain.each:.1f})" if each and plain else "-" for each in found)
        line(f"{por} {initial}", *cells)
    print("marked: flags, `step` and nothing to choose; the rest is the choice of who goes next")


def speed(size: int) -> None:
    title("States per second, no reduction", "", "states", "checker", "graph, bindings", "graph engine")
    initial = f"dp({size}, 1)"
    modes = ("checker", "plain", "graph none single")
    found = [ask("table", "table", initial, mode) for mode in modes]
    rates = (f"{each.states / each.seconds:,.0f}" if each else "-" for each in found)
    line(initial, count(found[0]), *rates)
    print("Maude's own checker; its graph, driven from Python; Porcini's engine, which also knows who moved")


def verdict(size: int) -> None:
    """A large model through the command, as a user would: the checker recurses, and must not take us with it."""
    title("A verdict on a large model: porcini check --no-reduction --ltl", "", "states", "seconds", "exit")
    text = (EXAMPLES / "table.toml").read_text(encoding="utf-8").replace("dp(5, 1)", f"dp({size}, 1)")
    with tempfile.TemporaryDirectory() as folder:
        por = Path(folder) / "large.toml"
        por.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "porcini", "check", str(EXAMPLES / "table.maude"), "--por", str(por)]
        command += ["--no-reduction", "--json", "--ltl", "[] ~ (eats(0) /\\ eats(1))"]
        started = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, timeout=LONGEST, check=False)
        spent = time.perf_counter() - started
    report = json.loads(done.stdout)
    line(
        f"dp({size}, 1): {report['verdict']}",
        f"{report['counts']['states']:,}",
        f"{spent:.1f}",
        str(done.returncode),
    )


def main() -> int:
    if "--child" in sys.argv:
        print(json.dumps(answer(*sys.argv[2:6])))
        return 0
    quick, full = "--quick" in sys.argv, "--full" in sys.argv
    tables: list[Callable[[], None]] = [
        lambda: philosophers((5,) if quick else range(5, 9), full),
        lambda: sieve(quick),
        lambda: memory(quick),
        lambda: overhead(quick),
        lambda: speed(5 if quick else 6),
        lambda: verdict(6 if quick else 7),
    ]
    for table in tables:
        table()
    return 0


if __name__ == "__main__":
    sys.exit(main())
