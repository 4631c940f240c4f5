"""Checking formulas and claims against models: the parts of `check`.

    NamedFormula      a formula from the command line, or from an `ltl` block of a model
    FormulaQuestion   a model with the propositions of one formula: its states, its reduction, its letters
    trail_of          a lasso of states as two traces, with the propositions that change along it

Everything works on the graph of states, whatever the language.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any

from porcini.core.errors import InputError, Place
from porcini.core.events import Event
from porcini.core.languages import Checker, CheckerOptions, Model
from porcini.core.reports import Counts, Cycles, Trail
from porcini.core.systems import OwnReduction, Restart, System, Watched
from porcini.core.traces import Trace
from porcini.engines.equivalence import Comparison, build, compare
from porcini.engines.graph import StateReduction
from porcini.engines.machines import ClaimSearch
from porcini.engines.options import USUAL, Options
from porcini.engines.product import Lasso
from porcini.engines.reductions import choose_reduction
from porcini.engines.replaying import follow
from porcini.engines.stats import SearchStats
from porcini.properties.ltl import formula as ltl
from porcini.properties.ltl.automaton import translate
from porcini.properties.ltl.claim import FormulaClaim
from porcini.properties.ltl.parser import parse
from porcini.subjects import Subject

CheckResult = tuple[Trail | None, tuple[str, ...]]
"""A run that violates a formula, if there is one; and notes for the user."""

MOST_COMPARED = 100_000
"""The largest graph that is compared with its reduction, in states."""


@dataclass(frozen=True, slots=True)
class NamedFormula:
    """A formula with its name, and the text that the places of its atoms refer to."""

    name: str
    formula: ltl.Formula
    file: str
    source: str


def formulas_of(model: Model) -> list[NamedFormula]:
    """The formulas in a model."""
    return [
        NamedFormula(
            f"ltl {claim.name}",
            parse(claim.formula, file=model.file, start=claim.place, source=model.source, spin=True),
            model.file,
            model.source,
        )
        for claim in model.claims
    ]


def own_formula(name: str, model: Model) -> NamedFormula:
    """One of the model's own formulas, by its name."""
    for named in formulas_of(model):
        if named.name == f"ltl {name}":
            return named
    known = ", ".join(claim.name for claim in model.claims) or "it has none"
    raise InputError(f"no formula `{name}` in the model", file=model.file, hint=f"its formulas: {known}")


def given_formula(text: str, model: Model) -> NamedFormula:
    """A formula from the command line: a text, or the name of one of the model's own."""
    for number, claim in enumerate(model.claims):
        if claim.name == text.strip():
            return formulas_of(model)[number]
    return NamedFormula(f"ltl {text}", parse(model.formula(text), file="--ltl", source=text), "--ltl", text)


@dataclass(slots=True)
class FormulaQuestion:
    """One formula asked of one model."""

    system: System
    graph: Any
    watched: Watched[Any]
    reduction: StateReduction[Any] | None
    proposition_texts: list[str]
    """The propositions as a user would write them."""
    notes: tuple[str, ...] = ()

    @property
    def letter(self) -> Callable[[Any], int]:
        return self.watched.letter

    @property
    def irreducible(self) -> str | None:
        """Why no reduction is possible for this formula; None if one is."""
        return self.watched.why


def build_question(
    subject: Subject,
    named: NamedFormula,
    atoms: Sequence[ltl.Atom],
    options: Options,
    stats: SearchStats,
    instead: System | None = None,
) -> FormulaQuestion:
    """The states of a model with the propositions of a formula, and a reduction that preserves them. `instead` is
    searched instead of what the model is usually compiled to."""
    model, notes = subject.model, tuple[str, ...]()
    counts_steps = ltl.has_next(named.formula)
    if counts_steps:
        options = replace(options, reduction="none")
        notes = ("X counts steps: no reduction, and private steps are not merged",)
    if options.fair and options.reduction != "none":
        options = replace(options, reduction="none")
        notes = (*notes, "fairness is about who could move: no reduction")
    # This comes first, since what propositions read must not be optimised away.
    propositions = [model.proposition(atom.text, atom.place or Place(1, 1)) for atom in atoms]
    system = instead or subject.system(optimise=options.optimise and not counts_steps)
    watched = system.watching(propositions)
    graph = system.state_graph(exact=options.fair)
    if options.fair and not system.state_graph(exact=False).exact:
        notes = (
            *notes,
            "fairness is about who moves: all keep their names, and an endless program has endless states",
        )
    reduction, stats.reduction = choose_reduction(system, graph, options, watched)
    if watched.why and options.reduction != "none":
        notes = (*notes, f"no reduction: {watched.why}")
    shown = [model.show_proposition(a.text) for a in atoms]
    return FormulaQuestion(system, graph, watched, reduction, shown, notes)


def _answer(
    ask: Callable[[System | None], FormulaQuestion],
    search: Callable[[FormulaQuestion, SearchStats], None],
    stats: SearchStats,
) -> FormulaQuestion:
    """Ask a question and search for its answer; again, if another program must be searched instead."""
    instead: System | None = None
    while True:
        question = ask(instead)
        try:
            stats.explore(partial(search, question))
        except Restart as restart:
            assert isinstance(restart.program, System)
            instead = restart.program
            stats.begin_again()
        else:
            return question


def check_formula(subject: Subject, named: NamedFormula, stats: SearchStats, options: Options) -> CheckResult:
    """Search for a run that violates a formula, in the product of its negation with the states."""
    negated = ltl.nnf(named.formula, negated=True)
    atoms = list(dict.fromkeys(ltl.atoms(named.formula)))
    found: list[Lasso[Any] | None] = []

    def ask(instead: System | None) -> FormulaQuestion:
        with _in_formula(named):
            return build_question(subject, named, atoms, options, stats, instead)

    def work(question: FormulaQuestion, stats: SearchStats) -> None:  # the automaton can be too large as well
        letters = question.letter, question.watched.parts
        claim = FormulaClaim(translate(negated), [atom.text for atom in atoms], *letters)
        search = ClaimSearch(question.system, question.graph, claim, question.reduction, options.fair)
        found.append(search.find(stats, options))

    question = _answer(ask, work, stats)
    lasso = found[0] if found else None
    notes = (*subject.model.notes, *question.notes, *question.system.runtime_notes())
    if lasso is None:
        return None, notes
    trail = trail_of(question, lasso)
    if question.graph.exact:
        return unoptimised_trail(subject.system(), trail), notes
    if any(event.spawned for event in trail.loop):
        notes = (*notes, "each round of the loop starts new processes, with names of their own")
    return trail, notes


def propositions_of(model: Model, named: NamedFormula) -> tuple[str, ...]:
    """The propositions of a formula, which the model must know."""
    atoms = list(dict.fromkeys(ltl.atoms(named.formula)))
    with _in_formula(named):
        for atom in atoms:
            model.proposition(atom.text, atom.place or Place(1, 1))
    return tuple(atom.text for atom in atoms)


@contextmanager
def _in_formula(named: NamedFormula) -> Iterator[None]:
    """Let errors about a proposition refer to the text of its formula."""
    try:
        yield
    except InputError as problem:
        problem.file, problem.source = named.file, named.source
        raise


def check_by_own_checker(
    checker: Checker, subject: Subject, named: NamedFormula, stats: SearchStats, options: Options
) -> CheckResult:
    """The same with the language's own checker."""
    model = subject.model
    atoms = list(dict.fromkeys(ltl.atoms(named.formula)))
    notes = model.notes
    if options.fair:
        raise InputError(f"{checker.title}'s checker knows no fairness", hint=f"--engine {USUAL['check']}")
    if options.reduction != "none" and ltl.has_next(named.formula):
        options = replace(options, reduction="none")
        notes = (*notes, "X counts steps: no reduction")
    whole = replace(options, reduction="none", optimise=False)  # its run is shown step by step
    with _in_formula(named):
        question = build_question(subject, named, atoms, whole, stats)
    reduced = options.reduction != "none" and question.irreducible is None
    if options.reduction != "none" and not reduced:
        notes = (*notes, f"no reduction: {question.irreducible}")
    ample = options.ample if reduced else None
    stats.reduction = "ample" if reduced else "none"
    limits = CheckerOptions(stats.counts, ample, stats.limits.timeout, stats.limits.max_states)
    found: list[Lasso[Any] | None] = []

    def work(_: SearchStats) -> None:
        text = show_formula(named.formula, checker.signs)
        lasso = checker.check(question.system, text, [atom.text for atom in atoms], limits)
        found.append(None if lasso is None else Lasso(*lasso))

    stats.explore(work)
    if not found or found[0] is None:
        return None, notes
    return trail_of(question, found[0]), notes


def show_formula(formula: ltl.Formula, signs: Mapping[str, str]) -> str:
    """A formula with the operators of another tool."""
    match formula:
        case ltl.Constant(value):
            return signs["true" if value else "false"]
        case ltl.Atom(text):
            return f"({text})"
        case ltl.Not(operand):
            return f"({signs['!']} {show_formula(operand, signs)})"
        case ltl.Next(operand):
            return f"({signs['X']} {show_formula(operand, signs)})"
        case ltl.And(left, right) | ltl.Or(left, right) | ltl.Until(left, right) | ltl.Release(left, right):
            sign = signs[{ltl.And: "&&", ltl.Or: "||", ltl.Until: "U", ltl.Release: "V"}[type(formula)]]
            return f"({show_formula(left, signs)} {sign} {show_formula(right, signs)})"


def check_never(subject: Subject, stats: SearchStats, options: Options) -> CheckResult:
    """Search for a run that the never claim accepts."""
    system = subject.system()
    note = "a never claim may count steps: no reduction"
    return _check_claim(system, subject.model.never_claim(system), stats, options, note)


def check_cycles(subject: Subject, cycles: Cycles, stats: SearchStats, options: Options) -> CheckResult:
    """Search for an infinite run that labels describe. A run that ends does not count."""
    system = subject.system()
    note = "labels are looked at in every state: no reduction"
    return _check_claim(system, subject.model.cycle_claim(system, cycles), stats, options, note, stutter=False)


def _check_claim(
    system: System, claim: Any, stats: SearchStats, options: Options, note: str, *, stutter: bool = True
) -> CheckResult:
    graph: Any = system.state_graph()
    stats.reduction = "none"
    search = ClaimSearch(system, graph, claim, None, options.fair, stutter)
    found: list[Lasso[Any] | None] = []
    stats.explore(lambda _: found.append(search.find(stats, options)))
    notes = (note, *system.runtime_notes())
    if not found or found[0] is None:
        return None, notes
    return trail_of(FormulaQuestion(system, graph, Watched(lambda _: 0), None, []), found[0]), notes


def lost_by_reduction(
    subject: Subject, formulas: Sequence[NamedFormula], stats: SearchStats, options: Options
) -> tuple[str | None, tuple[str, ...]]:
    """Compare the whole graph with the reduced one, up to the propositions of some formulas; returns what was
    lost, if anything. A reduction that the language builds into its programs is compared as well, and so are the
    verdicts of its own checker."""
    atoms = list(dict.fromkeys(atom for named in formulas for atom in ltl.atoms(named.formula)))
    named = formulas[0] if formulas else NamedFormula("", ltl.TRUE, "", "")
    most = min(stats.limits.states, MOST_COMPARED)
    found: list[Comparison] = []
    lost: list[str] = []

    def ask(instead: System | None) -> FormulaQuestion:
        with _in_formula(named):
            question = build_question(subject, named, atoms, replace(options, fair=False), stats, instead)
        if question.reduction is None:
            raise _nothing_to_verify(subject, options)
        return question

    def work(question: FormulaQuestion, _: SearchStats) -> None:
        whole = build(question.graph, None, most)
        reduced = build(question.graph, question.reduction, most)
        stats.counts.states = len(whole)
        found.append(compare(whole, reduced, question.letter))
        if question.irreducible is None:
            watched = [atom.text for atom in atoms]
            own = subject.model.own_reduction(question.system, options.ample, watched, most)
            if own is not None:
                found.append(_compare_own(whole, own, question.letter))
            if not any(each.problem for each in found):
                lost.extend(_other_verdicts(subject.model.checker, question, formulas, watched, stats, options))

    question = _answer(ask, work, stats)
    if not found:
        return None, question.notes
    told = f"the whole graph has {found[0].whole:,} states, the reduced one {found[0].reduced:,}"
    if len(found) > 1:
        told += f", that of the transformed program {found[1].reduced:,}"
    lost[:0] = [each.problem for each in found if each.problem]
    return (lost[0] if lost else None), (told, *question.notes)


def _nothing_to_verify(subject: Subject, options: Options) -> InputError:
    chosen = options.reduction != "none"
    hint = (
        f"programs in .{subject.language} are searched without one" if chosen else "--reduction stubborn or ample"
    )
    return InputError("there is no reduction to verify", hint=hint)


def _compare_own(
    whole: Mapping[Any, Sequence[Any]], own: OwnReduction[Any], letter: Callable[[Any], int]
) -> Comparison:
    """The graph of the transformed program, which must be a part of the whole one, and lose nothing."""
    by_number = dict(enumerate(own.after))
    if own.problem is None:
        found = compare(whole, by_number, letter, state_of=own.states.__getitem__, identity=own.identity)
    else:
        found = Comparison(len(whole), len(by_number), own.problem)
    return replace(found, problem=found.problem and f"of the transformed program, {found.problem}")


def _other_verdicts(
    checker: Checker | None,
    question: FormulaQuestion,
    formulas: Sequence[NamedFormula],
    watched: Sequence[str],
    stats: SearchStats,
    options: Options,
) -> Iterator[str]:
    """The verdicts of the language's own checker that differ with and without its reduction."""
    for named in formulas if checker is not None else ():
        assert checker is not None
        text = show_formula(named.formula, checker.signs)
        verdicts = []
        for ample in (None, options.ample):
            limits = CheckerOptions(Counts(), ample, stats.limits.timeout, stats.limits.max_states)
            holds = checker.check(question.system, text, watched, limits) is None
            verdicts.append("holds" if holds else "is violated")
        if verdicts[0] != verdicts[1]:
            plain, reduced = verdicts
            yield f"a verdict: {checker.title} says that {named.name} {plain}, and with the reduction {reduced}"


def examine_all(subject: Subject, formulas: Sequence[NamedFormula], stats: SearchStats) -> tuple[str, ...]:
    """Check in every state whether what a program declares about its steps is true."""
    atoms = list(dict.fromkeys(atom for named in formulas for atom in ltl.atoms(named.formula)))
    named = formulas[0] if formulas else NamedFormula("", ltl.TRUE, "", "")
    with _in_formula(named):
        question = build_question(subject, named, atoms, Options(reduction="none", optimise=False), stats)
    most = min(stats.limits.states, MOST_COMPARED)

    def work(_: SearchStats) -> None:
        for state in build(question.graph, None, most):
            stats.counts.states += 1
            stats.check_limits()
            question.system.examine(state, question.watched)

    stats.explore(work)
    return question.notes


def trail_of(question: FormulaQuestion, lasso: Lasso[Any]) -> Trail:
    """A lasso as events; a run that has ended has no events in its loop."""
    atoms = question.proposition_texts
    first = question.letter(lasso.stem[0])
    notes = [_holding(first, atoms)]
    parts: list[list[Event]] = []
    letter = first
    for states in (lasso.stem, (lasso.stem[-1], *lasso.loop)):
        events: list[Event] = []
        for before, after in pairwise(states):
            if before == after and after not in question.graph.successors(before):
                continue  # the run has ended, and repeats its last state
            steps = list(question.graph.events_between(before, after))
            events += steps
            notes += [""] * (len(steps) - 1) + [_changes(letter, question.letter(after), atoms)]
            letter = question.letter(after)
        parts.append(events)
    named = question.graph.with_run_names([*parts[0], *parts[1]])
    return Trail(Trace(named[: len(parts[0])]), Trace(named[len(parts[0]) :]), tuple(notes))


def unoptimised_trail(system: System, trail: Trail) -> Trail:
    """The same trail for the original program, in which variables keep values that make no difference any more: it
    may take a few rounds of the loop until these repeat as well."""
    run = system.start()
    follow(run, trail.stem.schedule)
    stem, size = list(trail.stem), len(trail.stem)
    notes = list(trail.notes)
    for _ in range(_MOST_ROUNDS if trail.loop else 0):
        before = system.state_of(run)
        follow(run, trail.loop.schedule)
        if system.state_of(run) == before:
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
