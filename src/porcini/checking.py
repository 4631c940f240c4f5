"""Formulas and claims against models: what `api.check` is made of.

    formulas     from the command line, or the `ltl` blocks of a model
    Question     a model with the propositions of one formula: its states, its reduction, its letters
    trail        a lasso of states as two traces, with the propositions that change on the way

Everything is asked of the graph of states, whatever the language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from porcini.core.errors import InputError, Place
from porcini.core.events import Event
from porcini.core.footprints import Location
from porcini.core.reports import Trail
from porcini.core.traces import Trace
from porcini.engines.ample import AmpleSets, SystemGraph
from porcini.engines.catalogue import Options
from porcini.engines.equivalence import Comparison, build, compare
from porcini.engines.graph import Chooser
from porcini.engines.product import Lasso, Product
from porcini.engines.replaying import follow
from porcini.engines.stubborn import PackedAmple, StubbornSets
from porcini.engines.tally import Tally
from porcini.ir import footprint
from porcini.ir.expr import evaluate, free
from porcini.ir.interpreter import GraphSystem
from porcini.ir.lookahead import GraphLookahead
from porcini.ir.packed.claims import NeverClaim
from porcini.ir.packed.graph import PackedGraph
from porcini.ir.packed.propositions import Propositions
from porcini.ir.packed.view import PackedView
from porcini.langs import gcl, maude, promela
from porcini.properties.ltl import formula as ltl
from porcini.properties.ltl.automaton import translate
from porcini.properties.ltl.claim import FormulaClaim
from porcini.properties.ltl.parser import parse

Maker = Callable[[bool], object]
"""Compiles the program, optimised or not."""

MOST_COMPARED = 100_000
"""States of a graph that is compared with its reduction."""


@dataclass(frozen=True, slots=True)
class Named:
    """A formula with its name, and the text that the places of its atoms are in."""

    name: str
    formula: ltl.Formula
    file: str
    source: str


def formulas_of(model: promela.Model) -> list[Named]:
    """The `ltl` blocks of a model."""
    return [
        Named(
            f"ltl {block.name}",
            parse(block.formula, file=model.file, start=block.place, source=model.source, spin=True),
            model.file,
            model.source,
        )
        for block in model.syntax.formulas
    ]


def given_formula(text: str, source: object) -> Named:
    """A formula from the command line: a text, or the name of one of the model's blocks."""
    if isinstance(source, promela.Model):
        for block in source.syntax.formulas:
            if block.name == text.strip():
                return next(named for named in formulas_of(source) if named.name == f"ltl {block.name}")
    read = text.replace("~", "!") if isinstance(source, maude.Model) else text  # as Maude writes it
    return Named(f"ltl {text}", parse(read, file="--ltl", source=text), "--ltl", text)


@dataclass(slots=True)
class Question:
    """One formula asked of one model."""

    graph: Any
    letter: Callable[[Any], int]
    reduction: Chooser[Any] | None
    shown: list[str]
    """The propositions as a person would write them."""
    notes: tuple[str, ...] = ()


def asked(source: object, make: Maker, named: Named, atoms: Sequence[ltl.Atom], options: Options) -> Question:
    """The states of a model as a formula sees them."""
    reduced = options.reduction != "none"
    notes: tuple[str, ...] = ()
    counts_steps = ltl.has_next(named.formula)
    if counts_steps:
        reduced, notes = False, ("X counts steps: no reduction, and every statement is a step",)
    if reduced and options.fair:
        reduced, notes = False, (*notes, "fairness is about who could move: no reduction")
    exprs: list[Any] = []
    if isinstance(source, promela.Model):  # first, since what they look at must not be optimised away
        exprs = [source.proposition(atom.text, atom.place or Place(1, 1)) for atom in atoms]
    system = make(options.optimise and not counts_steps)
    if isinstance(source, promela.Model) and isinstance(system, PackedView):
        propositions = Propositions(system.system, exprs)
        graph = PackedGraph(system, inside=True)
        chooser: Chooser[int] | None = None
        if reduced and options.reduction == "stubborn":
            chooser = StubbornSets(graph, propositions.visible)
        elif reduced:
            chooser = PackedAmple(graph, options.ample, propositions.visible)
        shown = [source.shown(atom.text) for atom in atoms]
        return Question(graph, propositions.letter, chooser, shown, notes)
    if isinstance(system, GraphSystem):
        return _asked_of_graph(system, atoms, options, reduced, notes)
    if isinstance(system, maude.MaudeSystem):
        return _asked_of_terms(system, atoms, options, reduced, notes)
    raise InputError("formulas are for .gcl, .par, .pml and .maude models")


def _asked_of_graph(
    system: GraphSystem, atoms: Sequence[ltl.Atom], options: Options, reduced: bool, notes: tuple[str, ...]
) -> Question:
    exprs = [gcl.proposition(system.graph, atom.text, atom.place or Place(1, 1)) for atom in atoms]

    def letter(state: Any) -> int:
        store = system.observe(state)
        return sum(1 << number for number, expr in enumerate(exprs) if evaluate(expr, store))

    seen: set[Location] = set()
    for expr in exprs:
        for variable in free(expr):
            seen.update(footprint.locations(variable))
    graph = SystemGraph(system)  # type: ignore[arg-type]
    lookahead: Any = GraphLookahead(system.graph)
    chooser = AmpleSets(graph, lookahead, options.ample, frozenset(seen)) if reduced else None
    return Question(graph, letter, chooser, [atom.text for atom in atoms], notes)


def _asked_of_terms(
    system: Any, atoms: Sequence[ltl.Atom], options: Options, reduced: bool, notes: tuple[str, ...]
) -> Question:
    """The states of a rewrite theory, with what its propositions see."""
    graph = SystemGraph(system)
    letter = system.letter([(atom.text, atom.place) for atom in atoms])
    ample = AmpleSets(graph, system, options.ample, letter=letter) if reduced else None
    return Question(graph, letter, ample, [atom.text for atom in atoms], notes)


def check_formula(
    source: object, make: Maker, named: Named, tally: Tally, options: Options
) -> tuple[Trail | None, tuple[str, ...]]:
    """A run on which a formula does not hold, if there is one; and what should be said with it."""
    negated = ltl.nnf(named.formula, negated=True)
    atoms = list(dict.fromkeys(ltl.atoms(named.formula)))
    with _in_formula(named):
        question = asked(source, make, named, atoms, options)
    found: list[Lasso[Any] | None] = []

    def work(tally: Tally) -> None:  # automata can be too large, too
        claim = FormulaClaim(translate(negated), [atom.text for atom in atoms], question.letter)
        fair = question.graph if options.fair else None
        found.append(Product(question.graph, claim, tally, question.reduction, fair).search())

    tally.explore(work)
    lasso = found[0] if found else None
    notes = question.notes
    if isinstance(question.graph, PackedGraph):
        notes += tuple(question.graph.view.noticed())
    if lasso is None:
        return None, notes
    return as_written(make, trail_of(question, lasso)), notes


def propositions_of(source: maude.Model, named: Named) -> tuple[str, ...]:
    """The propositions of a formula about a rewrite theory, which must know them."""
    atoms = list(dict.fromkeys(ltl.atoms(named.formula)))
    with _in_formula(named):
        maude.MaudeSystem(source).letter([(atom.text, atom.place) for atom in atoms])
    return tuple(atom.text for atom in atoms)


@contextmanager
def _in_formula(named: Named) -> Iterator[None]:
    """What is wrong with a proposition is wrong in the formula's text."""
    try:
        yield
    except InputError as problem:
        problem.file, problem.source = named.file, named.source
        raise


def check_by_maude(
    source: maude.Model, named: Named, tally: Tally, options: Options
) -> tuple[Trail | None, tuple[str, ...]]:
    """The same by Maude's own checker, on the theory with the reduction built in."""
    atoms = list(dict.fromkeys(ltl.atoms(named.formula)))
    notes: tuple[str, ...] = ()
    reduced = options.reduction != "none"
    if reduced and ltl.has_next(named.formula):
        reduced, notes = False, ("X counts steps: no reduction",)
    if options.fair:
        raise InputError("Maude's checker knows no fairness", hint="--engine graph")
    system = maude.MaudeSystem(source)
    with _in_formula(named):
        question = _asked_of_terms(system, atoms, options, False, ())
    answers: list[maude.Answer] = []

    def work(tally: Tally) -> None:
        try:
            answer = maude.ask(
                source,
                _in_maude(named.formula),
                [atom.text for atom in atoms],
                heuristic=options.ample if reduced else None,
                timeout=tally.limits.timeout,
                most=tally.limits.max_states,
            )
        except maude.TooMany as hit:
            tally.counts.states = hit.states
            raise
        answers.append(answer)

    tally.explore(work)
    if not answers:
        return None, notes
    tally.counts.states = answers[0].states
    if answers[0].holds:
        return None, notes
    return trail_of(question, Lasso(*system.along(answers[0].stem, answers[0].loop))), notes


def _in_maude(formula: ltl.Formula) -> str:
    """A formula in Maude's syntax."""
    match formula:
        case ltl.Constant(value):
            return "True" if value else "False"
        case ltl.Atom(text):
            return f"({text})"
        case ltl.Not(operand):
            return f"(~ {_in_maude(operand)})"
        case ltl.Next(operand):
            return f"(O {_in_maude(operand)})"
        case ltl.And(left, right) | ltl.Or(left, right) | ltl.Until(left, right) | ltl.Release(left, right):
            sign = {ltl.And: "/\\", ltl.Or: "\\/", ltl.Until: "U", ltl.Release: "R"}[type(formula)]
            return f"({_in_maude(left)} {sign} {_in_maude(right)})"


def check_never(
    model: promela.Model, make: Maker, tally: Tally, options: Options
) -> tuple[Trail | None, tuple[str, ...]]:
    """A run that a never claim describes, if there is one."""
    system = make(False)
    assert isinstance(system, PackedView)
    graph = PackedGraph(system, inside=True)
    claim = NeverClaim(system.system, model.nevers[0])
    product: Product[int] = Product(graph, claim, tally, None, graph if options.fair else None)
    found: list[Lasso[int] | None] = []
    tally.explore(lambda _: found.append(product.search()))
    notes = ("a never claim may count steps: no reduction", *system.noticed())
    if not found or found[0] is None:
        return None, notes
    return trail_of(Question(graph, lambda _: 0, None, []), found[0]), notes


def verify_reduction(
    source: object, make: Maker, formulas: Sequence[Named], tally: Tally, options: Options
) -> tuple[str | None, tuple[str, ...]]:
    """Both graphs, compared as far as the propositions of some formulas can tell: what was lost, if anything."""
    atoms = list(dict.fromkeys(atom for named in formulas for atom in ltl.atoms(named.formula)))
    named = formulas[0] if formulas else Named("", ltl.TRUE, "", "")
    with _in_formula(named):
        question = asked(source, make, named, atoms, replace(options, fair=False))
    if question.reduction is None:
        raise InputError("there is no reduction to verify", hint="--reduction stubborn or ample")
    most = min(tally.limits.states, MOST_COMPARED)
    found: list[Comparison] = []

    def work(_: Tally) -> None:
        whole = build(question.graph, None, most)
        reduced = build(question.graph, question.reduction, most)
        tally.counts.states = len(whole)
        found.append(compare(whole, reduced, question.graph.initial(), question.letter))

    tally.explore(work)
    if not found:
        return None, question.notes
    told = f"the whole graph has {found[0].whole:,} states, the reduced one {found[0].reduced:,}"
    return found[0].problem, (told, *question.notes)


def trail_of(question: Question, lasso: Lasso[Any]) -> Trail:
    """A lasso as events; a run that has ended goes on without any."""
    atoms = question.shown
    first = question.letter(lasso.stem[0])
    notes = [_holding(first, atoms)]
    parts: list[list[Event]] = []
    letter = first
    for states in (lasso.stem, (lasso.stem[-1], *lasso.loop)):
        events: list[Event] = []
        for before, after in pairwise(states):
            if before == after and after not in question.graph.successors(before):
                continue  # it has ended, and stays as it is
            steps = list(question.graph.way(before, after))
            events += steps
            notes += [""] * (len(steps) - 1) + [_changes(letter, question.letter(after), atoms)]
            letter = question.letter(after)
        parts.append(events)
    named = question.graph.named([*parts[0], *parts[1]])
    return Trail(Trace(named[: len(parts[0])]), Trace(named[len(parts[0]) :]), tuple(notes))


def as_written(make: Maker, trail: Trail) -> Trail:
    """The same trail for the program as it was written, where variables keep values that make no difference any
    more: it may take a few rounds until these come back too."""
    run = make(False).start()  # type: ignore[attr-defined]
    follow(run, trail.stem.schedule)
    stem, size = list(trail.stem), len(trail.stem)
    notes = list(trail.notes)
    for _ in range(_MOST_ROUNDS if trail.loop else 0):
        before = run.state
        follow(run, trail.loop.schedule)
        if run.state == before:
            break
        stem += trail.loop
        notes += trail.notes[1 + size :]
    return Trail(Trace(stem), trail.loop, tuple(notes))


_MOST_ROUNDS = 100


def _holding(letter: int, atoms: Sequence[str]) -> str:
    if not atoms:
        return "step by step"
    holding = [atom for number, atom in enumerate(atoms) if letter >> number & 1]
    return f"at first: {', '.join(holding)}" if holding else "at first none of its propositions holds"


def _changes(before: int, after: int, atoms: Sequence[str]) -> str:
    changed = before ^ after
    return ", ".join(
        atom if after >> number & 1 else f"!({atom})" for number, atom in enumerate(atoms) if changed >> number & 1
    )
