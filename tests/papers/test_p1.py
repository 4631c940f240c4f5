"""P1, rewriting semantics: its tables' reductions on models of the same kind, and its errata as theories.

The authors' models are not public, so it is the ratios that are compared: states of the theory as it is against
states of the transformed theory, both counted by Maude.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import pytest

from laws.test_maude_laws import (
    BOTH_WRITE,
    ERRATUM_1,
    LATE_CHOICE,
    SENT_LATER,
    kept,
    mutated,
    only_here,
    original,
    reduced,
)
from porcini.engines.options import Ample
from porcini.langs import maude
from porcini.langs.maude import bindings, steps
from porcini.langs.maude.reduction import _Reduction

EXAMPLES = Path(__file__).parents[2] / "examples" / "maude"


def example(name: str, initial: str, por: str | None = None) -> maude.Model:
    """A model of another size."""
    text = (EXAMPLES / f"{por or name}.toml").read_text()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "size.toml"
        path.write_text(re.sub(r'initial = ".*"', f'initial = "{initial}"', text))
        return maude.load(str(EXAMPLES / f"{name}.maude"), str(path))


def states(start: Any) -> int:
    graph = bindings.maude().RewriteGraph(start)
    number = 0
    while number < graph.getNrStates():
        follower = 0
        while graph.getNextState(number, follower) != -1:
            follower += 1
        number += 1
    return number


def whole(model: maude.Model) -> int:
    return states(model.initial_in(model.engine_module()))


def part(model: maude.Model, heuristic: Ample = "closure") -> int:
    start = model.reduced_module(heuristic, ()).parseTerm("Start")
    start.reduce()
    return states(start)


# Tables


def test_table_1_the_sieve() -> None:
    """61,842 states to 174: a factor of 355. Ours is a pipeline of four stages, with numbers up to 22."""
    model = example("sieve", "sieve(4, 22, 2)")
    assert part(model, "single") == part(model, "closure") == 172
    assert whole(model) > 300 * 172


def test_table_2_philosophers_by_size() -> None:
    """DP(5) 56,212 to 3,033 (18), DP(6) 27: the more philosophers, the more is saved."""
    ratios = []
    for size in (3, 4, 5):
        model = example("table", f"dp({size}, 1)")
        ratios.append(whole(model) / part(model))
    assert ratios == sorted(ratios) and ratios[-1] > 8


def test_table_3_a_dependence_that_fits_the_program() -> None:
    """6,991 to 2,690 states (2.6): memory that is not shared is left out of the dependence."""
    counts = {}
    for kind in ("_basic", "", "_notshared"):
        model = example("shared_philosophers", "table(3, 1)", f"shared_philosophers{kind}")
        counts[kind] = part(model)
        assert whole(model) == 912
    assert counts["_basic"] > 2.6 * counts["_notshared"]
    assert counts["_notshared"] == counts[""], "a location for each cell is as good, and right for any program"


# Errata: the form that is printed, next to the one that is right


def test_erratum_1_disabled_threads(monkeypatch) -> None:
    """q waits for a lock and then reads x: p may not go first alone, though q is not enabled."""
    model = ERRATUM_1.loaded(maude.load)
    ends = original(model, ["y(0)", "y(1)"])
    assert ends is not None and {ends.letters[s] for s, after in ends.after.items() if not after} == {1, 2}
    assert kept(ERRATUM_1, ["y(0)", "y(1)"])
    mutated(monkeypatch, r"if Apart\(U, Us\)", "if Apart(U, Es)")
    model = ERRATUM_1.loaded(maude.load)
    ends = reduced(model, "single", [])
    assert ends is not None and len(ends.ends) == 1, "as printed: the run in which q reads 0 is lost"


def test_erratum_2_threads_with_choices(monkeypatch) -> None:
    """A thread may have several transitions, and some that are not enabled yet: they belong together."""
    assert kept(LATE_CHOICE, [])
    real = steps.Steps._touches
    monkeypatch.setattr(
        steps.Steps,
        "_touches",
        lambda self: [
            "  eq Now(U) = Going(Offered(U)) ." if line.startswith("  eq Now(U)") else line for line in real(self)
        ],
    )
    assert not kept(LATE_CHOICE, [])


@pytest.mark.parametrize("printed", [False, True])
def test_erratum_3_every_thread_of_a_set_is_marked(monkeypatch, printed: bool) -> None:
    """Two pairs of threads that write one cell each: from a set of two, both must be marked."""
    if printed:
        one = "\n  op One : ThreadList -> ThreadList .\n  eq One(U ;; Us) = U ."
        mutated(monkeypatch, r"ready\(Mark\(C, Cs\)\)", "ready(Mark(C, One(Cs)))", one)
    found = reduced(BOTH_WRITE.loaded(maude.load), "closure", [])
    assert found is not None and len(found.ends) == (2 if printed else 4)


@pytest.mark.parametrize("printed", [False, True])
def test_invisible_is_invisible_in_every_state(monkeypatch, printed: bool) -> None:
    """C2 as section 3.3 checks it, in a state and after the step, and as section 2 defines it, in each state.

    A send that leaves the first message alone here changes it after a receive: that order is left out.
    """
    if printed:
        monkeypatch.setattr(_Reduction, "_visible", only_here)
    found = reduced(SENT_LATER.loaded(maude.load), "single", ["first(0)"])
    assert found is not None and (0 in found.letters.values()) == (not printed)
