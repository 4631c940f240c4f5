"""Native code searches the product with a claim as the reference does: the same nodes in the same order, the same
verdict, the same lasso."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pytest

import porcini
from conformance.promela.everything import generate
from porcini.core.errors import InputError, Place
from porcini.engines.machines import ClaimSearch, NotForNativeCode
from porcini.engines.native_product import NativeProduct
from porcini.engines.options import Options
from porcini.engines.product import Lasso, Product
from porcini.engines.stats import SearchStats
from porcini.engines.stubborn import StubbornSets
from porcini.ir.packed.claims import AcceptanceCycles, NonProgressCycles
from porcini.native import compiling, library
from porcini.native.library import ALL_BITS
from porcini.properties.ltl import formula as ltl
from porcini.properties.ltl.automaton import translate
from porcini.properties.ltl.claim import FormulaClaim
from porcini.properties.ltl.lassos import holds
from porcini.properties.ltl.parser import parse
from strategies import PROGRAMS

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("gcc", "clang", "cc", "tcc"))), reason="there is no C compiler"
)
MOST = 3_000
MODELS = Path(__file__).parents[2] / "benchmarks" / "promela"


@dataclass
class Asked:
    """A claim about a model, with the graph that it is about."""

    graph: Any
    claim: Any
    reduction: StubbornSets | None = None
    fair: bool = False
    stutter: bool = True

    def by_reference(self, most: int) -> Any:
        stats = SearchStats(porcini.Limits(max_states=most))
        fair = self.graph if self.fair else None
        product = Product(self.graph, self.claim, stats, self.reduction, fair, stutter=self.stutter)
        return found_by(product, stats)

    def by_native_code(self, most: int, hash_mask: int = ALL_BITS) -> Any:
        """It learns of bits that change when they first do: in the middle of the search."""
        stats = SearchStats(porcini.Limits(max_states=most))
        how = {"fair": self.fair, "stutter": self.stutter, "hash_mask": hash_mask}
        return found_by(NativeProduct(self.graph, self.claim, stats, self.reduction, **how), stats)  # type: ignore[arg-type]


def found_by(search: Any, stats: SearchStats) -> Any:
    found: list[Lasso[int] | None] = []
    stats.explore(lambda _: found.append(search.search()))
    return found, stats.stopped, stats.limit, stats.counts.states, stats.counts.events


def is_same(asked: Asked, most: int = MOST, hash_mask: int = ALL_BITS) -> Any:
    """The same nodes and steps, up to a limit as well; and the same lasso."""
    wanted = asked.by_reference(most)
    assert asked.by_native_code(most, hash_mask) == wanted
    return wanted


def asked_of(model: porcini.Model, text: str, *, reduced: bool = False, fair: bool = False) -> Asked:
    """A formula, as `check --ltl` asks it."""
    formula = parse(text, file="", source=text, spin=True)
    atoms = list(dict.fromkeys(ltl.atoms(formula)))
    propositions = [model.proposition(atom.text, Place(1, 1)) for atom in atoms]
    system = model.system()
    watched = system.watching(propositions)
    graph = system.state_graph(exact=fair)
    automaton = translate(ltl.nnf(formula, negated=True))
    claim: Any = FormulaClaim(automaton, [atom.text for atom in atoms], watched.letter, watched.parts)
    visible: Any = watched.visible
    return Asked(graph, claim, StubbornSets(graph, visible) if reduced else None, fair)


def shown_by(asked: Asked, formula: ltl.Formula, atoms: list[str], lasso: Lasso[int]) -> None:
    """The states of a lasso follow each other, and the word that they spell does not fulfil the formula."""
    states = (*lasso.stem, *lasso.loop)
    assert states[0] == asked.graph.initial() and lasso.loop and lasso.loop[-1] == lasso.stem[-1]
    for before, after in pairwise(states):
        following = asked.graph.successors(before)
        assert after in following or (before == after and not following)
    words = [spelt(asked.claim, atoms, state) for state in states]
    first = len(lasso.stem) - 1
    assert not holds(formula, words[:first], words[first:-1])


def spelt(claim: Any, atoms: list[str], state: int) -> frozenset[str]:
    letter = claim._letter(state)
    return frozenset(atom for number, atom in enumerate(atoms) if letter >> number & 1)


def generated(first: int, last: int) -> Iterator[tuple[porcini.Model, str, int]]:
    """Models with everything that the language has, and their formulas."""
    for seed in range(first, last):
        made = generate(Random(seed))
        try:
            model = porcini.loads(made.text(), "pml")
        except InputError:
            continue
        for text in made.formulas:
            try:
                asked_of(model, text)
            except InputError:  # names that only an `ltl` block of the model may use
                continue
            yield model, text, seed


KINDS = ({}, {"reduced": True}, {"fair": True})


@pytest.mark.parametrize("first", range(0, max(PROGRAMS // 3, 20), 20))
def test_formulas_of_generated_models(first: int) -> None:
    verdicts = {True: 0, False: 0}
    for model, text, seed in generated(first, first + 20):
        for kind in KINDS:
            asked = asked_of(model, text, **kind)
            try:
                found, stopped, *_ = is_same(asked, hash_mask=(ALL_BITS, 0xF)[seed % 2])
            except NotForNativeCode:
                continue
            if stopped == "exhausted":
                verdicts[found[0] is None] += 1
            if found and found[0] is not None:
                formula = parse(text, file="", source=text, spin=True)
                shown_by(asked, formula, [atom.text for atom in dict.fromkeys(ltl.atoms(formula))], found[0])
    assert min(verdicts.values()) > 8


def test_limits_in_the_middle() -> None:
    """Wherever a search is cut, as much has been done."""
    for model, text, seed in generated(300, 308):
        for kind in KINDS:
            for most in (1, 2, 10 + seed % 7, 100):
                try:
                    is_same(asked_of(model, text, **kind), most)
                except NotForNativeCode:
                    break


BENCHMARKS = [
    ("phils_vars", "N=5"),
    ("leader", "N=4"),
    ("token_ring", "N=3"),
    ("sliding_window", "W=2"),
    ("coherence", "N=2"),
    ("readers_writers", "N=4"),
    ("peterson", "N=3"),
]


@pytest.mark.parametrize(("name", "size"), BENCHMARKS)
def test_formulas_of_benchmarks(name: str, size: str) -> None:
    key, _, value = size.partition("=")
    model = porcini.load(MODELS / f"{name}.pml", defines={key: value})
    for claim in model.claims:
        for kind in KINDS:
            is_same(asked_of(model, claim.formula, **kind), 20_000)


@pytest.mark.parametrize("first", range(0, max(PROGRAMS // 8, 20), 20))
def test_labels_of_generated_models(first: int) -> None:
    """Acceptance cycles and cycles without progress, of processes that come and go."""
    violated = 0
    for model, _, seed in generated(first, first + 20):
        graph: Any = model.system().state_graph()
        for kind in (AcceptanceCycles, NonProgressCycles):
            asked = Asked(graph, kind(graph.space.system), None, bool(seed % 2), stutter=False)
            found, *_ = is_same(asked)
            violated += bool(found and found[0] is not None)
    assert violated


NEVER = """
never {{
    T0: do :: {a} -> goto accept_one :: {b} -> goto T1 :: true od;
    T1: do :: atomic {{ {b} -> if :: {a} -> goto accept_one :: else -> goto T0 fi }} :: else -> skip od;
    accept_one: do :: !({a}) -> goto T1 :: {b} && {c} -> break :: else od
}}
"""


def test_never_claims() -> None:
    violated = 0
    for seed in range(60):
        made = generate(Random(1000 + seed))
        values = dict(zip("abc", ("x == 1", "y > x", "x + y == 2"), strict=True))
        try:
            model: Any = porcini.loads(replace(made, formulas=()).text() + NEVER.format(**values), "pml")
        except InputError:
            continue
        system = model.system()
        graph = system.state_graph()
        claim = model.never_claim(system)
        try:
            found, *_ = is_same(Asked(graph, claim, fair=bool(seed % 2)))
        except NotForNativeCode:
            continue
        violated += bool(found and found[0] is not None)
    assert violated > 5


LATE = """
int late; byte n; bit b[70];
proctype Child(byte k) { n = k; late = late * 2 + k }
active proctype P() {
    do :: late < 300 -> late++ :: late >= 300 -> break od;
    run Child(7); late = 0; do :: late < 70 -> b[late] = 1; late++ :: else -> break od
}
active proctype Q() { timeout -> n = 9; do :: n = 10 :: n = 9 od }
"""


@pytest.mark.parametrize("text", ["[] (n != 10)", "[] (n < 11)", "<> [] (b[69] == 1)", "[] <> (n == 9)"])
@pytest.mark.parametrize("kind", KINDS)
def test_bits_that_change_late(text: str, kind: dict[str, bool]) -> None:
    """States become wider, and tables look at more of them, while hundreds of nodes are on the stack."""
    model = porcini.loads(LATE, "pml")
    assert is_same(asked_of(model, text, **kind))[3] > 600
    is_same(asked_of(model, text, **kind), hash_mask=0)


def test_the_way_of_check(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small products are left to the reference; each report names the machine, and each lasso is replayed."""
    model = porcini.load(MODELS / "token_ring.pml", defines={"N": "3"})
    for few, machine, expected in (
        (20_000, "auto", "python"),
        (20, "auto", "native"),
        (20_000, "native", "native"),
    ):
        monkeypatch.setattr("porcini.engines.native_graph.FEW_STATES", few)
        for fair in (False, True):
            for name, verdict in (
                ("token_moves", "holds"),
                ("exclusive", "holds"),
                ("violated_line_used", "violated"),
            ):
                options = Options(machine=machine, fair=fair)  # type: ignore[arg-type]
                report = porcini.check(model, ltl=name, options=options)
                plain = porcini.check(model, ltl=name, options=replace(options, machine="python"))
                assert report.machine == expected and plain.machine == "python"
                assert (report.verdict, report.counts.states) == (plain.verdict, plain.counts.states)
                assert report.reduction == plain.reduction
                assert fair or report.verdict == verdict
                if report.trail is not None:
                    stem, loop = report.trail.stem.schedule, report.trail.loop.schedule
                    assert plain.trail is not None and plain.trail.stem.schedule == stem
                    assert plain.trail.loop.schedule == loop
                    assert porcini.replay(model, stem, loop=loop).property == "endless"


@pytest.mark.parametrize("fair", [False, True])
def test_limits_of_check(fair: bool) -> None:
    model = porcini.load(MODELS / "phils_vars.pml", defines={"N": "9"})
    for limits, memory, told in (
        (porcini.Limits(max_states=30_000), None, "the limit of 30,000 states"),
        (porcini.Limits(timeout=0.01), None, "the time limit of 0.01 s"),
        (porcini.Limits(), 1 << 20, "the limit of 0.0 GB of memory"),
    ):
        options = Options(machine="native", max_memory=memory, fair=fair, reduction="none")
        report = porcini.check(model, ltl="neighbours", limits=limits, options=options)
        assert (report.verdict, report.stopped, report.limit) == ("unknown", "limit", told)
        if limits.timeout is None:
            assert report.machine == "native" and report.counts.states > 5_000


def test_what_depends_on_the_whole_state_is_left_to_the_reference() -> None:
    text = "byte x; active proctype P() { do :: x = 1 - x od }\nnever { accept_all: do :: np_ od }"
    model: Any = porcini.loads(text, "pml")
    system = model.system()
    search = ClaimSearch(system, system.state_graph(), model.never_claim(system), None, fair=False)
    stats = SearchStats()
    assert search.find(stats, Options(machine="native")) is not None and stats.machine == "python"


# Mutants of the code in C


class Mutant(NamedTuple):
    """A change of the code in C, and a question to which it gives the wrong answer."""

    file: str
    old: str
    new: str
    model: str
    claim: str
    fair: bool = False

    def asked(self) -> list[Asked]:
        model = porcini.loads(self.model, "pml")
        if self.claim == "acceptance":
            graph: Any = model.system().state_graph()
            return [Asked(graph, AcceptanceCycles(graph.space.system), fair=self.fair, stutter=False)]
        kinds = [{"fair": True}] if self.fair else KINDS[:2]
        return [asked_of(model, self.claim, **kind) for kind in kinds]


ROUND = "byte x, y; active proctype P() { byte k; do :: k = 1 - k od }\nactive proctype Q() { x = 1 }"
APART = "byte x, y; active proctype P() { x = 1; x = 2 }\nactive proctype Q() { y = 1; y = 2 }"
TURNS = "byte x; active proctype P() { do :: x = 0; accept_one: x = 1; x = 2 od }"
WAITS = "byte x, y; active proctype P() { do :: x = 1 - x od }\nactive proctype Q() { x == 1 -> y = 1 }"
INSIDE = """byte x, y;
active proctype P() { do :: d_step { y == 0 -> x = 1 }; accept_one: d_step { y == 0 -> x = 0 } od }
active proctype Q() {
    do
    :: d_step { x == 1 && y == 0 -> y = 2 } :: d_step { x == 0 && y == 0 -> y = 1 } :: d_step { y == 1 -> y = 0 }
    od
}"""
"""The only step from the label that leads back closes a loop; the other process moves on another one."""
ENDS = "byte x, y; init { x = 1 }"
MUTANTS = {
    "C3": Mutant("depth.h", "i = 0; chosen && i <", "i = 0; 0 && i <", ROUND, "[] (x == 0)"),
    "C2": Mutant(
        "stubborn.h", "meets(c.found, enabled, set_of(r, 1), words)", "0", APART, "[] !(x == 1 && y == 1)"
    ),
    "marks between components": Mutant(
        "product.h", "add_marks(p, merged, inside + words);", "", TURNS, "acceptance"
    ),
    "marks inside of components": Mutant(
        "product.h", "add_marks(p, merged, inside);", "", INSIDE, "acceptance", True
    ),
    "who cannot move": Mutant(
        "product.h",
        "p->processes[w] & ~(p->able[w] & ~crew[p->words + w])",
        "crew[p->words + w]",
        WAITS,
        "<> (y == 1)",
        True,
    ),
    "who must move": Mutant("depth.h", "add_marks(p, p->everyone, p->able);", "", ROUND, "<> (x == 1)", True),
    "runs that end": Mutant("depth.h", "else if (p->stutters)", "else if (0)", ENDS, "<> (x == 2)"),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them gives another verdict than the reference."""
    mutant = MUTANTS[name]
    for asked in mutant.asked():
        assert is_same(asked)[1] == "exhausted"
    sources = [tmp_path / each for each in compiling.SOURCES]
    for source in sources:
        text = (compiling.HERE / source.name).read_text()
        if source.name == mutant.file:
            assert text.count(mutant.old) == 1
            text = text.replace(mutant.old, mutant.new)
        source.write_text(text)
    made = compiling.compile_library("mutant", sources[0], sources)
    monkeypatch.setattr(library, "load_library", lambda: library.load_from(made))
    assert any(
        (asked.by_reference(MOST)[0] == [None]) != (asked.by_native_code(MOST)[0] == [None])
        for asked in mutant.asked()
    )
