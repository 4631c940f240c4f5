"""The laws of rewrite theories on generated programs in three languages: Proposition 1 and Theorem 1 of P1 by
building both graphs, verdicts of Maude and of Porcini's engines, classes against `exhaustive`, and mutants."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import helpers
import porcini
from helpers import all_runs
from laws.test_gcl_laws import swaps_agree
from maude_strategies import (
    Program,
    TheoryText,
    gcl_programs,
    maude_programs,
    stutter_free_formulas,
    talking_programs,
    theories,
)
from porcini.commands.formulas import given_formula, show_formula
from porcini.core.errors import InputError, InternalError, Place
from porcini.core.events import Schedule
from porcini.core.languages import CheckerOptions
from porcini.core.reports import Counts
from porcini.core.systems import Watched
from porcini.core.traces import Trace, normal_form
from porcini.engines.catalogue import Options
from porcini.engines.equivalence import _UnionGraph
from porcini.engines.options import Ample
from porcini.langs import maude
from porcini.langs.maude import bindings, derived, reduction, steps, visibility
from porcini.langs.maude import model as model_module
from porcini.langs.maude.reduction import _Reduction
from porcini.langs.maude.terms import Variable
from porcini.langs.maude.text import Printer
from porcini.langs.maude.visibility import Visibility
from porcini.langs.maude.worker import Asked, answer
from porcini.langs.maude.written import Written
from porcini.properties.ltl.formula import Formula, atoms
from porcini.properties.ltl.lassos import holds as holds_on
from strategies import PROGRAMS

ENGINES = ("optimal", "source", "dpor", "sleep")
HEURISTICS = get_args(Ample)
MOST = 150
MOST_STATES = 1_500


def some(share: int) -> settings:
    return settings(max_examples=max(PROGRAMS // share, 3), deadline=None, suppress_health_check=list(HealthCheck))


# Graphs, by the bindings


@dataclass
class Drawn:
    """A graph of states: each with its successors, and with what the propositions say about it."""

    start: Hashable
    after: dict[Hashable, list[Hashable]]
    letters: dict[Hashable, int]
    shown: dict[Hashable, tuple]
    """What each state is without marks and without what is remembered."""

    @property
    def ends(self) -> set[tuple]:
        return {self.shown[state] for state, after in self.after.items() if not after}

    @property
    def steps(self) -> set[tuple[tuple, tuple]]:
        return {(self.shown[one], self.shown[two]) for one, after in self.after.items() for two in after}


def erased(term: Any) -> tuple | str:
    """A term as data that does not depend on its module, without marks: sets are sorted."""
    name = str(term.symbol())
    if name == "enabled":
        return erased(next(iter(term.arguments())))
    args = list(term.arguments())
    if not args or name in ("s_", "-_"):
        return str(term).removeprefix("(").split(").")[0]
    inner = [erased(arg) for arg in args]
    if name in ("__", "_,_"):
        inner.sort(key=str)
    return (name.replace("`", ""), *inner)


def state_of(term: Any) -> Any:
    """The state in a state of the transformed theory."""
    while str(term.symbol()).replace("`", "") in ("{_|_}", "ready", "moved"):
        term = next(iter(term.arguments()))
    return term


def drawn(module: Any, start: Any, texts: list[str]) -> Drawn | None:
    """The graph that Maude rewrites; None if it is too large."""
    graph = bindings.maude().RewriteGraph(start)
    after: dict[Hashable, list[Hashable]] = {}
    number = 0
    while number < graph.getNrStates():
        if graph.getNrStates() > MOST_STATES:
            return None
        news: list[Hashable] = []
        while (new := graph.getNextState(number, len(news))) != -1:
            news.append(new)
        after[number] = news
        number += 1
    terms = [graph.getStateTerm(each) for each in range(number)]
    sees = [holds(module, terms[0], text) for text in texts]
    letters = {n: sum(1 << k for k, see in enumerate(sees) if see(term)) for n, term in enumerate(terms)}
    return Drawn(0, after, letters, {n: as_parts(term) for n, term in enumerate(terms)})


def as_parts(term: Any) -> tuple:
    found = erased(state_of(term))
    return found if isinstance(found, tuple) else (found,)


def holds(module: Any, example: Any, text: str):
    prop = module.parseTerm(text)
    kinds = [example.getSort().kind(), prop.getSort().kind()]
    symbol = next(
        each
        for each in module.getSymbols()
        if str(each) == "_|=_" and [each.domainKind(0), each.domainKind(1)] == kinds
    )

    def of(term: Any) -> bool:
        asked = symbol.makeTerm([term, prop])
        asked.reduce()
        return str(asked) == "true"

    return of


def original(model: maude.Model, texts: list[str]) -> Drawn | None:
    module = model.engine_module()
    return drawn(module, model.initial_in(module), texts)


def reduced(model: maude.Model, heuristic: Ample, texts: list[str]) -> Drawn | None:
    module = model.reduced_module(heuristic, tuple(texts))
    start = module.parseTerm(model.theory.names["Start"])
    start.reduce()
    return drawn(module, start, texts)


# P1


def one_step_bisimilar(model: maude.Model) -> None:
    """Proposition 1: with all threads marked, the marked theory takes the steps of the original."""
    plain, theory = model.engine_module(), model.reduced_module("single", ())
    start = theory.parseTerm(f"ready(Mark({model.description.initial}, Threads({model.description.initial})))")
    start.reduce()
    pairs = [(model.initial_in(plain), start)]
    seen = {as_parts(pairs[0][0])}
    while pairs:
        here, marked = pairs.pop()
        assert as_parts(here) == as_parts(marked)
        wanted, got = dict(plain_steps(model, here)), dict(marked_steps(theory, marked))
        assert wanted.keys() == got.keys()
        for key, after in wanted.items():
            if key[2] not in seen:
                seen.add(key[2])
                pairs.append((after, got[key]))
        assert len(seen) < MOST_STATES


def plain_steps(model: maude.Model, term: Any) -> Iterator[tuple[tuple, Any]]:
    tids = {rule.label: rule.tid.name for rule in model.theory.rules if isinstance(rule.tid, Variable)}
    for after, match, _, rule in term.apply(None):
        after.reduce()
        tid = match.find(tids[rule.getLabel()])
        yield (str(tid), rule.getLabel(), as_parts(after)), after


def marked_steps(module: Any, term: Any) -> Iterator[tuple[tuple, Any]]:
    for after, _, _, rule in term.apply(None):
        after.reduce()
        assert str(after.symbol()) == "moved"
        assert not list(after.apply(None)), "no rule applies after a step"
        state, tid = after.arguments()
        again = next(each for each in module.getSymbols() if str(each) == "ready").makeTerm(
            [all_marked(module, state)]
        )
        again.reduce()
        yield (str(tid), rule.getLabel(), as_parts(after)), again


def all_marked(module: Any, state: Any) -> Any:
    symbols = {str(each): each for each in module.getSymbols() if str(each) in ("Mark", "Threads")}
    return symbols["Mark"].makeTerm([state, symbols["Threads"].makeTerm([state])])


def lost(whole: Drawn, part: Drawn, *, branching: bool) -> str | None:
    """Theorem 1: what a reduced graph lost. `branching`: it must be bisimilar, not only have the same traces."""
    if not part.steps <= whole.steps:
        return "there are steps that there were not"
    if part.ends != whole.ends:
        return "other states in which nothing can move"
    one = {("whole", state): [("whole", new) for new in after] for state, after in whole.after.items()}
    two = {("part", state): [("part", new) for new in after] for state, after in part.after.items()}
    letters = {"whole": whole.letters, "part": part.letters}
    joined = _UnionGraph(one, two, lambda _, node: letters[node[0]][node[1]])
    first, second = joined.number[0, ("whole", whole.start)], joined.number[1, ("part", part.start)]
    if branching:
        blocks = stuttering_blocks(joined)
        return None if blocks[first] == blocks[second] else "not bisimilar"
    return joined.find_lost_sequence(joined.bisimulation_blocks(), first, second)


def stuttering_blocks(joined: _UnionGraph) -> list[int]:
    """Stuttering bisimilarity that minds divergence, by signatures (Blom and van de Pol)."""
    blocks = list(joined.letters)
    while True:
        signatures: dict[int, frozenset] = {}
        for node in sorted(range(len(blocks)), key=lambda each: joined.component[each]):
            seen = {"for ever"} if joined.diverges[node] else set()
            for new in joined.after[node]:
                inert = blocks[new] == blocks[node]
                seen |= signatures.get(joined.component[new], frozenset()) if inert else {blocks[new]}
            mine = joined.component[node]
            signatures[mine] = signatures.get(mine, frozenset()) | seen
        numbers: dict = {}
        finer = [
            numbers.setdefault((block, signatures[joined.component[node]]), len(numbers))
            for node, block in enumerate(blocks)
        ]
        if len(set(finer)) == len(set(blocks)):
            return blocks
        blocks = finer


def nothing_is_lost(model: maude.Model, texts: list[str], deterministic: bool, heuristics=HEURISTICS) -> bool:
    """Both heuristics keep the graph; where a thread has one step at most, `single` keeps how it branches, too."""
    whole = original(model, texts)
    if whole is None:
        return False
    for heuristic in heuristics:
        part = reduced(model, heuristic, texts)
        assert part is not None, "a reduced graph that is larger"
        problem = lost(whole, part, branching=deterministic and heuristic == "single")
        assert problem is None, (heuristic, texts, problem)
    return True


@some(50)
@given(maude_programs(), st.booleans(), st.data())
def test_marking_and_reduction(program: Program, derived: bool, data) -> None:
    """(a) Proposition 1; (b) Theorem 1, with what the tool derives and with what the user says."""
    model = program.loaded(maude.load, derived=derived)
    texts = data.draw(st.lists(st.sampled_from(program.atoms), max_size=2, unique=True))
    if nothing_is_lost(model, texts, program.language != "channels"):
        one_step_bisimilar(model)


def propositions_are_kept(program: Program, derived: bool, data) -> None:
    texts = data.draw(st.lists(st.sampled_from(program.atoms), min_size=1, max_size=2, unique=True))
    assert nothing_is_lost(program.loaded(maude.load, derived=derived), texts, deterministic=False)


@some(25)
@given(talking_programs(), st.booleans(), st.data())
def test_both_ends_of_a_channel(program: Program, derived: bool, data) -> None:
    """(b) where a step is seen after others only."""
    propositions_are_kept(program, derived, data)


# Verdicts


@some(15)
@given(theories())
def test_theories_of_all_sorts_of_syntax(theory: TheoryText) -> None:
    """Maude on the theory as it is and on the transformed one, and `graph`: one verdict."""
    try:
        model = theory.loaded(porcini.load)
    except InputError:
        return  # such as two readings of one statement, which is for the user to settle
    verdicts_agree(model, given_formula(theory.formula, model).formula)


def test_mutant_that_believes_its_own_text(monkeypatch) -> None:
    """Without brackets around what is loose, and without reading back what was written."""

    def believed(written: Written) -> str | None:
        return next((each.message for each in bindings.enter(written.text) if bindings.is_fatal(each)), None)

    monkeypatch.setattr(model_module, "enter", believed)
    monkeypatch.setattr(Printer, "argument", Printer.term)
    monkeypatch.setattr(Printer, "_within", lambda self, node, _: self.term(node))
    law = settings(some(15), database=None, phases=[Phase.generate], max_examples=100)(
        given(theories())(test_theories_of_all_sorts_of_syntax.hypothesis.inner_test)
    )
    with pytest.raises((AssertionError, InternalError)):
        seed(1)(law)()


def by_maude(module: Any, start: Any, formula: Formula) -> bool:
    term = module.parseTerm(show_formula(formula, maude.MaudeChecker.signs))
    assert term is not None, formula
    return bindings.maude().RewriteGraph(start).modelCheck(term).holds


def by_reduction(theory: maude.Model, heuristic: Ample, texts: list[str], formula: Formula) -> bool:
    module = theory.reduced_module(heuristic, tuple(texts))
    start = module.parseTerm(theory.theory.names["Start"])
    start.reduce()
    return by_maude(module, start, formula)


def verdicts_agree(model: porcini.Model, formula: Formula) -> bool | None:
    """Maude on the original and on the transformed theory, and `graph` with and without reduction."""
    theory, texts = model.graph, list(dict.fromkeys(atom.text for atom in atoms(formula)))
    assert isinstance(theory, maude.Model)
    plain = theory.engine_module()
    if original(theory, []) is None:
        return None
    wanted = by_maude(plain, theory.initial_in(plain), formula)
    for heuristic in HEURISTICS:
        assert by_reduction(theory, heuristic, texts, formula) == wanted, (heuristic, str(formula))
    for options in (Options(reduction="none"), *(Options(reduction="ample", ample=each) for each in HEURISTICS)):
        report = porcini.check(model, ltl=str(formula), engine="graph", options=options)
        assert (report.verdict, report.stopped != "limit") == ("holds" if wanted else "violated", True), options
        if report.trail is not None:
            refuted_by(model, formula, report.trail.stem.schedule, report.trail.loop.schedule)
            comes_back(model, report.trail)
    return wanted


def refuted_by(model: porcini.Model, formula: Formula, stem: Schedule, loop: Schedule) -> None:
    """A formula does not hold on a run, by the definition of its operators."""
    system, texts = model.system(), list(dict.fromkeys(atom.text for atom in atoms(formula)))
    lead, cycle = system.along(stem, loop)
    assert not loop or lead[-1] == cycle[-1], "the loop does not lead back"
    letter = system.watching([model.proposition(text, Place(1, 1)) for text in texts]).letter
    words = [
        [frozenset(text for number, text in enumerate(texts) if letter(state) >> number & 1) for state in part]
        for part in (lead, cycle)
    ]
    assert not holds_on(formula, *words)


def comes_back(model: porcini.Model, trail: Any) -> None:
    """(g) a run on which a formula does not hold, through text and back."""
    stem, loop = (porcini.show_schedule(part.schedule) for part in (trail.stem, trail.loop))
    assert porcini.parse_schedule(stem) == trail.stem.schedule
    again = porcini.replay(model, stem, loop=loop) if trail.loop else porcini.replay(model, stem)
    labels = [str(event.label) for event in (*trail.stem, *trail.loop)]
    found = [*again.trail.stem, *again.trail.loop] if trail.loop else again.outcomes[0].trace
    assert [str(event.label) for event in found] == labels


@some(50)
@given(maude_programs(), st.booleans(), st.data())
def test_verdicts_agree(program: Program, derived: bool, data) -> None:
    """(c) on formulas without X; (f) the graph ends in the same states with and without reduction."""
    model = program.loaded(porcini.load, derived=derived)
    formula = data.draw(stutter_free_formulas(program.atoms))
    if verdicts_agree(model, formula) is not None:
        ends_agree(model)


def ends_agree(model: porcini.Model) -> None:
    wanted = None
    for options in (Options(reduction="none"), *(Options(reduction="ample", ample=each) for each in HEURISTICS)):
        for search in ("dfs", "bfs"):
            report = porcini.explore(model, engine="graph", options=replace(options, search=search))
            found = {(outcome.kind, str(dict(outcome.state))) for outcome in report.outcomes}
            wanted = found if wanted is None else wanted
            assert found == wanted, (options, search)


@some(125)
@given(maude_programs(), st.data())
def test_the_checker_finds_the_steps_of_its_counterexamples(program: Program, data) -> None:
    """What the child answers, asked here: a run of the original theory, whichever theory was checked."""
    formula = data.draw(stutter_free_formulas(program.atoms))
    heuristic = data.draw(st.sampled_from([None, *HEURISTICS]))
    with tempfile.TemporaryDirectory() as folder:
        path = str(program.written(Path(folder)))
        model = porcini.load(path)
        if original(model.graph, []) is None:
            return
        texts = list(dict.fromkeys(atom.text for atom in atoms(formula)))
        asked = Asked(show_formula(formula, maude.MaudeChecker.signs), tuple(texts), heuristic)
        found = answer(model.graph, asked)
    wanted = porcini.check(model, ltl=str(formula), engine="graph", options=Options(reduction="none")).verdict
    assert found.holds == (wanted == "holds")
    if not found.holds:
        refuted_by(model, formula, found.stem, found.loop)


# Engines


@some(50)
@given(maude_programs(steps=5, endless=False), st.booleans(), st.randoms(use_true_random=False))
def test_engines_agree_on_outcomes_and_classes(program: Program, derived: bool, random) -> None:
    """(d) every stateless engine against `exhaustive`; swaps, footprints, schedules; where the graph ends."""
    model = program.loaded(porcini.load, derived=derived)
    system = model.system()
    found = helpers.engines_agree(system, ENGINES, MOST)
    if found is None:
        return
    report = porcini.explore(model, engine="graph", options=Options(reduction="none"))
    assert {(o.kind, str(dict(o.state))) for o in report.outcomes} == found[1]
    runs = all_runs(system, MOST)
    assert runs
    ends: dict = {}
    for trace, final, _ in runs:
        assert ends.setdefault(normal_form(trace), final) == final, "two final states in one class"
    for trace, _, _ in random.sample(runs, min(3, len(runs))):
        swaps_agree(system, trace)
        footprints_hold(system, trace)
    for outcome in porcini.explore(model).outcomes[:3]:
        text = porcini.show_schedule(outcome.schedule)
        assert porcini.parse_schedule(text) == outcome.schedule
        again = porcini.replay(model, text).outcomes[0]
        assert (again.kind, again.state) == (outcome.kind, outcome.state)


def footprints_hold(system: maude.MaudeSystem, trace: Trace) -> None:
    state = system.initial()
    for event in trace:
        (action,) = [a for a in system.actions(state) if a.move == event.move]
        after, done = system.fire(state, action)
        assert done.footprint.within(action.footprint)
        now, then = system.observe(state), system.observe(after)
        changed = {name.split()[-1] for name in now.keys() | then.keys() if now.get(name) != then.get(name)}
        if not done.footprint.opaque and "*" not in done.footprint.writes:
            written = " ".join(done.footprint.writes)
            assert all(f"'{name}" in written or "at-Store" in written for name in changed), (changed, written)
        state = after


def test_independent_spawns_lead_to_one_state() -> None:
    """Who is whose child is part of a state; in which order they were born is not."""
    program = Program(
        "gcl",
        "let 'x |-> 0 in (true |> spawn(true |> spawn(true |> 'x := 0)) ; true |> spawn(true |> 'x := 0))",
    )
    system = program.loaded(porcini.load).system()
    runs = all_runs(system, MOST)
    assert runs
    for trace, _, _ in runs:
        swaps_agree(system, trace)


# Guarded commands in both languages


def shapes(runs: list) -> set[tuple]:
    """Classes by which events of which processes they consist of."""
    return {tuple(frozenset(event for event, *_ in step) for step in normal_form(trace)) for trace, _, _ in runs}


@some(50)
@given(gcl_programs(endless=False))
def test_gcl_in_maude_is_gcl(program: Program) -> None:
    """(e) the same outcomes, interleavings and classes; what takes a step in one takes a step in the other."""
    assert program.gcl is not None
    native = all_runs(porcini.loads(program.gcl).system(), MOST)
    if native is None:
        return
    model = program.loaded(porcini.load)
    rewritten = all_runs(model.system(), MOST)
    assert rewritten is not None and len(rewritten) == len(native)
    ends = [{(final.kind, *sorted(final.state.items())) for _, final, _ in runs} for runs in (native, rewritten)]
    assert ends[0] == ends[1]
    if re.search(r"<\| *(True|False) *\|>", program.gcl):
        # One that is decided when it is read: guarded commands forget the other option, rewriting looks at it.
        assert len(shapes(native)) <= len(shapes(rewritten))
        return
    assert shapes(native) == shapes(rewritten)
    assert porcini.explore(model).counts.classes == len(shapes(native))


# Hard programs, and mutants that must not survive them

ERRATUM_1 = Program(
    "threads",
    "['x = 0] ['y = 5] lock('l, 1) < 0 | store 1 into 'x | empty > < 1 | release 'l | empty > "
    "< 2 | acquire 'l ; load 'x into 'r ; store 'r into 'y | 'r |-> 7 >",
)
ORDERED = Program("threads", "['x = 0] ['y = 0] < 0 | store 1 into 'x | empty > < 1 | store 1 into 'y | empty >")
ENDLESS = Program("threads", "['x = 0] < 0 | while true do yield end | empty > < 1 | store 1 into 'x | empty >")
BOTH_WRITE = Program(
    "threads",
    "['x = 0] ['y = 0] < 0 | store 1 into 'x | empty > < 1 | store 2 into 'x | empty > "
    "< 2 | store 1 into 'y | empty > < 3 | store 2 into 'y | empty >",
)
LATE_CHOICE = Program(
    "channels",
    "chan('c, 0, 1) chan('d, 1, nil) "
    "< 0 | if :: 'c ? 'v -> skip :: 'd ? 'v -> 'c ? 'v ; 'd ! 1 ; 'd ! 1 fi | 'v |-> 0 > "
    "< 1 | 'd ! 0 | 'v |-> 0 >",
)
FULL = Program(
    "channels",
    "chan('c, 1, nil) chan('d, 1, nil) < 0 | 'c ! 1 ; 'c ! 0 | empty > < 1 | 'c ? 'v ; 'd ! 'v | 'v |-> 0 > "
    "< 2 | if :: 'c ? 'v -> skip :: true -> 'd ! 1 fi | 'v |-> 0 >",
)
SPAWNED = Program(
    "gcl",
    "let 'x |-> 0 , 'y |-> 0 , 'b |-> false in (true |> spawn(true |> 'x := 1) ; "
    "true |> spawn(true |> 'b := true) ; true |> spawn((is 'b) |> spawn(true |> 'y := 'x)))",
)
FLIPPED = Program(
    "gcl",
    "let 'x |-> 0 , 'y |-> 1 , 'b |-> true in "
    "(true |> spawn((is 'b) |>* 'x := 1 - 'x) ; true |> spawn(true |> 'b := false))",
)
SENT_LATER = Program(
    "channels", "chan('c, 1, 0) chan('d, 1, nil) < 0 | 'c ? 'v | 'v |-> 0 > < 1 | 'c ! 0 | 'v |-> 0 >"
)
ECHO = Program(
    "threads", "['x = 1] ['y = 5] < 0 | load 'y into 'r | 'r |-> 0 > < 1 | store 0 into 'x | 'r |-> 0 >"
)
ACQUIRES = Program("threads", "['x = 0] lock('n, free) < 0 | acquire 'n | empty > < 1 | store 1 into 'x | empty >")
RELEASES = Program("threads", "['x = 0] lock('n, 0) < 0 | release 'n | empty > < 1 | store 1 into 'x | empty >")
HARD = [
    (ERRATUM_1, ["y(0)"]),
    (ORDERED, ["x(1)", "y(1)"]),
    (ENDLESS, ["x(1)"]),
    (BOTH_WRITE, []),
    (LATE_CHOICE, ["ends(0)"]),
    (FULL, ["ends(1)", "ends(2)"]),
    (SPAWNED, ["y(0)"]),
    (FLIPPED, ["b", "x(1)"]),
    (SENT_LATER, ["first(0)"]),
    (SENT_LATER, ["over(-1)"]),
    (SENT_LATER, ["left(1, 0)"]),
    (ECHO, ["echo(0)"]),
    (ECHO, ["turned(0)", "x(0)"]),
    (ACQUIRES, ["has(0)", "x(1)"]),
    (ACQUIRES, ["anyone", "x(1)"]),
    (RELEASES, ["has(0)", "x(1)"]),
]


def kept(program: Program, texts: list[str], *, derived: bool = False, heuristics=HEURISTICS) -> bool:
    """Does nothing get lost?"""
    model = program.loaded(maude.load, derived=derived)
    try:
        assert nothing_is_lost(model, texts, program.language != "channels", heuristics)
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("program, texts", HARD)
@pytest.mark.parametrize("derived", [False, True])
def test_hard_programs_lose_nothing(program: Program, texts: list[str], derived: bool) -> None:
    model = program.loaded(maude.load, derived=derived)
    assert nothing_is_lost(model, texts, program.language != "channels")
    one_step_bisimilar(model)


def mutated(monkeypatch, old: str, new: str, more: str = "") -> None:
    """What is the same for all theories, with something else in it. `old` is a pattern."""
    found = 0
    for section, text in steps._sections().items():
        changed, times = re.subn(old, new, text)
        if times:
            monkeypatch.setitem(steps._sections(), section, changed + more)
            found += times
    assert found, "the mutant mutates nothing"


def test_mutant_that_looks_at_enabled_threads_only(monkeypatch) -> None:
    """C'1 as printed in P1 (erratum 1)."""
    assert kept(ERRATUM_1, [])
    mutated(monkeypatch, r"if Apart\(U, Us\)", "if Apart(U, Es)")
    assert not kept(ERRATUM_1, [])


def test_mutant_without_c2(monkeypatch) -> None:
    monkeypatch.setattr(_Reduction, "_visible", lambda self: ["  eq Invisible(Cs, Ss, C) = true ."])
    assert kept(ORDERED, []) and not kept(ORDERED, ["x(1)", "y(1)"])


def only_here(self) -> list[str]:
    """C2 as one reads it at first: a step is invisible if it changes nothing where it is taken."""
    return [
        "  op Kept : PropList Conf Conf -> Bool .",
        f"  eq Watched = {' ;; '.join(f'({each})' for each in self.watched)} .",
        "  eq Invisible(Cs, noState, C) = true .",
        "  eq Invisible(Cs, state(C') ;; Ss, C) = Kept(Watched, C', C) and-then Invisible(Cs, Ss, C) .",
        "  eq Kept(noProp, C', C) = true .",
        "  eq Kept(P ;; Ps, C', C) = ((C' |= P) == true) == ((C |= P) == true) and-then Kept(Ps, C', C) .",
    ]


@pytest.mark.parametrize("text", ["first(0)", "over(-1)"])
def test_mutant_that_asks_only_here(monkeypatch, text: str) -> None:
    """A send leaves the first message alone while there is one; once it is received, the same send changes it."""
    assert kept(SENT_LATER, [text])
    monkeypatch.setattr(_Reduction, "_visible", only_here)
    assert not kept(SENT_LATER, [text])


def test_mutant_that_asks_only_here_is_caught_by_generated_programs(monkeypatch) -> None:
    monkeypatch.setattr(_Reduction, "_visible", only_here)
    law = given(talking_programs(), st.just(False), st.data())(propositions_are_kept)
    law = settings(some(25), database=None, phases=[Phase.generate], max_examples=24)(law)
    with pytest.raises(AssertionError):
        seed(1)(law)()


def test_mutant_that_asks_only_here_in_the_graph_engine(monkeypatch) -> None:
    real = maude.MaudeSystem.watching

    def careless(self, propositions):
        letter = real(self, propositions).letter
        return Watched(letter, lambda state, action: letter(self.fire(state, action)[0]) != letter(state))

    model, ample = SENT_LATER.loaded(porcini.load), Options(reduction="ample")
    assert porcini.check(model, ltl="[] first(0)", engine="graph", options=ample).verdict == "violated"
    monkeypatch.setattr(maude.MaudeSystem, "watching", careless)
    assert porcini.check(model, ltl="[] first(0)", engine="graph", options=ample).verdict == "holds"


def joint_patterns_are_alone(real: Visibility) -> Visibility:
    return replace(real, threads=[replace(each, alone=True) for each in real.threads])


def threads_are_not_seen(real: Visibility) -> Visibility:
    return replace(real, threads=[])


def nothing_is_whole(real: Visibility) -> Visibility:
    return replace(real, whole=[])


@pytest.mark.parametrize(
    "mutant, program, texts",
    [
        (joint_patterns_are_alone, ECHO, ["echo(0)"]),
        (joint_patterns_are_alone, ECHO, ["turned(0)", "x(0)"]),
        (threads_are_not_seen, ORDERED, ["ends(0)", "ends(1)"]),
        (nothing_is_whole, ACQUIRES, ["anyone", "x(1)"]),
    ],
)
def test_mutants_that_overlook_what_propositions_look_at(monkeypatch, mutant, program, texts) -> None:
    assert kept(program, texts)
    monkeypatch.setattr(reduction, "look_at", lambda theory: mutant(visibility.look_at(theory)))
    assert not kept(program, texts)


@pytest.mark.parametrize("side, program", [(0, ACQUIRES), (1, RELEASES)])
def test_mutants_that_look_at_one_side_of_a_rule(monkeypatch, side: int, program: Program) -> None:
    """The lock is somebody's after it is acquired, and before it is released."""
    assert kept(program, ["has(0)", "x(1)"])
    real = visibility.paired
    monkeypatch.setattr(
        visibility, "paired", lambda theory, rule: [(pair[side], None) for pair in real(theory, rule)]
    )
    assert not kept(program, ["has(0)", "x(1)"])


def test_mutant_that_takes_any_variable_for_the_rest(monkeypatch) -> None:
    assert kept(ACQUIRES, ["anyone", "x(1)"])
    monkeypatch.setattr(visibility, "_stands_for_the_rest", lambda *_: True)
    assert not kept(ACQUIRES, ["anyone", "x(1)"])


@pytest.mark.parametrize(
    "old, new",
    [
        (r"ceq Waiting\(.* \.", ""),
        (r"eq LeaveOut\(U ;; Us, C\) = .*", "eq LeaveOut(U ;; Us, C) = noInfo ."),
        (r"Size\(Threads\(C\)\) < N", "true"),
    ],
)
def test_mutants_without_c3(monkeypatch, old: str, new: str) -> None:
    """Whoever turns in a circle keeps the other from its step."""
    assert kept(ENDLESS, ["x(1)"])
    mutated(monkeypatch, old, new)
    assert not kept(ENDLESS, ["x(1)"])


def test_mutant_that_forgets_nobody_moved(monkeypatch) -> None:
    """Who was left out and then moved may be left out again: C3 asks for no more, and states would be split."""
    mutated(monkeypatch, r"eq Moved\(T, left-out\(T, C\) ;; I\) = .*", "")
    assert kept(ENDLESS, ["x(1)"]), "it only costs states"


def test_mutant_that_marks_one_thread_of_a_set(monkeypatch) -> None:
    """Erratum 3: the conditions are checked for a set, and one of it is marked."""
    assert kept(BOTH_WRITE, [])
    first = "\n  op One : ThreadList -> ThreadList .\n  eq One(U ;; Us) = U ."
    mutated(monkeypatch, r"ready\(Mark\(C, Cs\)\)", "ready(Mark(C, One(Cs)))", first)
    assert not kept(BOTH_WRITE, [], heuristics=["closure"])


def test_mutant_that_waits_for_nothing(monkeypatch) -> None:
    """Erratum 2: an alternative that cannot go yet is lost if nobody is given the chance to offer it."""
    real = steps.Steps._touches

    def careless(self) -> list[str]:
        return [
            "  eq Now(U) = Going(Offered(U)) ." if line.startswith("  eq Now(U)") else line for line in real(self)
        ]

    monkeypatch.setattr(steps.Steps, "_touches", careless)
    assert not kept(LATE_CHOICE, [])


def test_mutant_that_forgets_what_is_written(monkeypatch) -> None:
    real = derived._access
    monkeypatch.setattr(derived, "_access", lambda found, pair: replace(real(found, pair), writes=False))
    assert not kept(BOTH_WRITE, [], derived=True)


def test_mutant_that_forgets_the_future(monkeypatch) -> None:
    real = steps.Steps._futures
    monkeypatch.setattr(steps.Steps, "_futures", lambda self: [*real(self)[:1], "  eq Future(U) = Now(U) ."])
    assert not kept(ERRATUM_1, [])


def test_the_child_and_the_graph_agree_on_hard_programs() -> None:
    """The real thing, once for each way: a child with Maude's checker."""
    with tempfile.TemporaryDirectory() as folder:
        for heuristic, (program, texts) in zip((None, *HEURISTICS), (HARD[0], HARD[2], HARD[1]), strict=True):
            model = maude.load(str(program.written(Path(folder))))
            asked = CheckerOptions(Counts(), heuristic)
            lasso = maude.MaudeChecker(model).check(maude.MaudeSystem(model), f"[] ~ ({texts[0]})", texts, asked)
            assert lasso is not None and asked.counts.states > 1
            assert len(lasso[0]) > 1  # more than the initial state
