"""What plain Maude says of a theory, and what Porcini says: each in a fork, since modules are global in a process.

Plain Maude reads the text as it is, searches for the states in which runs end (`=>!`), and checks the formulas on
the theory as it is. Porcini must find the same ends by its engines, and the same verdicts by Maude's checker on
the transformed theory and by its own; nothing may be lost by a reduction, and what it derives about steps must be
true.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import porcini
from conformance import laws, oracle
from conformance.laws import Broken
from conformance.theories.theory import NAME, Theory
from porcini import InputError, Limits
from porcini.api import check_annotations, verify_reduction
from porcini.core.children import run_in_child
from porcini.core.systems import SystemGraph
from porcini.engines.catalogue import Options
from porcini.engines.equivalence import build
from porcini.langs.maude import bindings

MOST_STATES, MOST_RUNS = 400, 400
"""Theories with more states are left out, and so are engines with more runs."""
LIMITS = Limits(max_executions=2_000, max_states=5_000, timeout=20)


class _Refused(Exception):
    """Plain Maude has something to say about a theory: it is not what was meant."""


def check(theory: Theory, engines: object = None) -> int:
    """As many as there are ends."""
    bindings.maude()
    with TemporaryDirectory() as folder:
        path = Path(folder, "theory.maude")
        path.write_text(theory.text(), "utf-8")
        path.with_suffix(".toml").write_text(theory.description(), "utf-8")
        plain = run_in_child(lambda: _plain(theory, path))
        if isinstance(plain, str):
            raise oracle.TooMany
        try:
            found = _Found(*run_in_child(lambda: _ours(theory, path)))
        except InputError as problem:
            raise Broken(f"refused: {problem.message}") from None
        except (ValueError, KeyError, TypeError, StopIteration, RuntimeError) as problem:
            raise Broken(f"{type(problem).__name__}: {problem}") from None
        ends = run_in_child(lambda: _same_ends(theory, path, found.ends))
        searched = run_in_child(lambda: _searched(theory, path))
    for engine, same in ends.items():
        if not same:
            raise Broken(f"{engine}: other ends than plain Maude's")
    for engine, holds in found.verdicts.items():
        if holds != plain[0]:
            says = "holds" if holds else "does not hold"
            raise Broken(f"{engine}: `{theory.formula()}` {says}, unlike in plain Maude")
    _compare_searches(theory, found.searches, searched)
    if found.loses:
        raise Broken("--verify-reduction finds a loss")
    return plain[1]


# Plain Maude --------------------------------------------------------------------------------------------------


def _module(path: Path, name: str) -> Any:
    """A module of a theory as Maude reads it, without a word."""
    import maude

    with TemporaryDirectory() as folder:
        said = Path(folder, "said")
        descriptor = os.open(said, os.O_WRONLY | os.O_CREAT)
        os.dup2(descriptor, 2)
        maude.load(str(path))
        found = maude.getModule(name)
        if found is None or said.read_text("utf-8", errors="replace").strip():
            raise _Refused(said.read_text("utf-8", errors="replace"))
    return found


def _plain(theory: Theory, path: Path) -> tuple[bool, int] | str:
    """What it says of the formula, and how many ends there are; or why it cannot be asked."""
    import maude

    try:
        module = _module(path, f"{NAME}-PROPS")
    except _Refused as problem:
        return f"refused: {problem}"
    maude.load(str(Path(maude.__file__).with_name("model-checker.maude")))
    maude.input(f"mod {NAME}-ASKED is including {NAME}-PROPS . including MODEL-CHECKER . endm")
    module = maude.getModule(f"{NAME}-ASKED")
    start = module.parseTerm(theory.variables.get("init", "init"))
    start.reduce()
    graph = maude.RewriteGraph(start)
    state, ends = 0, 0
    while state < graph.getNrStates():
        if state > MOST_STATES:
            return "too many states"
        follower = 0
        while graph.getNextState(state, follower) != -1:
            follower += 1
        ends += follower == 0
        state += 1
    formula = module.parseTerm(theory.formula())
    if formula is None:
        return f"no formula: {theory.formula()}"
    formula.reduce()
    return maude.RewriteGraph(start).modelCheck(formula).holds, ends


def _same_ends(theory: Theory, path: Path, found: dict[str, list[str]]) -> dict[str, bool]:
    """Are the ends that each engine has found all those that a search finds, and no others?"""
    import maude

    module = _module(path, NAME)
    start = module.parseTerm(theory.variables.get("init", "init"))
    anything = module.parseTerm(f"Anything:{theory.sort('Conf')}")
    wanted = {state for state, *_ in start.search(maude.NORMAL_FORM, anything)}
    same = {}
    for engine, texts in found.items():
        terms = [module.parseTerm(text) for text in texts]
        for term in terms:
            if term is not None:
                term.reduce()
        same[engine] = None not in terms and set(terms) == wanted
    return same


def _searched(theory: Theory, path: Path) -> tuple[int, int, int]:
    """What `search` finds: the number of solutions, of states with solutions, and of steps to the first."""
    import maude

    arrows = {
        "=>*": maude.ANY_STEPS,
        "=>+": maude.AT_LEAST_ONE_STEP,
        "=>1": maude.ONE_STEP,
        "=>!": maude.NORMAL_FORM,
    }
    module = _module(path, f"{NAME}-PROPS")
    start = module.parseTerm(theory.variables.get("init", "init"))
    text, such_that = theory.pattern(with_sorts=True)
    pattern = module.parseTerm(text)
    condition = []
    if such_that is not None:
        test = such_that.removesuffix(" = true")
        condition = [maude.EqualityCondition(module.parseTerm(test), module.parseTerm("true"))]
    found = [(state, len(way()) // 2) for state, _, way, _ in _all(start, arrows, theory, pattern, condition)]
    return len(found), len({state for state, _ in found}), found[0][1] if found else 0


def _all(start: Any, arrows: dict[str, int], theory: Theory, pattern: Any, condition: list[Any]) -> Any:
    arrow = arrows[theory.sought[0]]
    return start.search(arrow, pattern, condition=condition) if condition else start.search(arrow, pattern)


def _compare_searches(
    theory: Theory, ours: dict[str, tuple[int, int, int, bool]], plain: tuple[int, int, int]
) -> None:
    """All that a search counts must be the same; of a reduced one, whether there is anything to be found."""
    for how, (solutions, states, steps, exact) in ours.items():
        same = (solutions, states, steps) == plain if exact and how == "none" else (solutions, states) == plain[:2]
        if not exact:
            same = (solutions > 0) == (plain[0] > 0) and solutions <= plain[0]
        if not same:
            told = f"{solutions} solutions in {states} states after {steps} steps, plain Maude {plain}"
            raise Broken(f"search ({how}) of {theory.sought}: {told}")


# Porcini ------------------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    """What Porcini finds: the ends by each engine, the verdicts, and whether a reduction loses anything."""

    ends: dict[str, list[str]]
    verdicts: dict[str, bool]
    loses: bool
    searches: dict[str, tuple[int, int, int, bool]]
    """By reduction: solutions, states, steps to the first, and whether these are all."""


def _ours(theory: Theory, path: Path) -> tuple[Any, ...]:
    model = porcini.load(path)
    system: Any = model.system()
    graph = SystemGraph(system)
    whole = build(graph, None, 5 * MOST_STATES)
    ends = {"all states": [_text(state) for state, after in whole.items() if not after]}
    stats = laws.ran(system, laws.Search("optimal"), MOST_RUNS)
    if stats is not None:
        ends["optimal"] = [_text(state) for state in {graph.state_after(trace) for trace, _, _ in stats.runs}]
    told: dict[str, Any] = {"ltl": theory.formula(), "limits": LIMITS, "options": Options(ample=theory.ample)}
    verdicts = {
        engine: porcini.check(model, engine=engine, **told).verdict == "holds" for engine in ("maude", "graph")
    }
    try:
        loses = verify_reduction(model, **told).verdict == "violated"
    except InputError as problem:  # of a soup without identity, propositions may look at all of it
        if "no reduction" not in problem.message:
            raise
        loses = False
    check_annotations(model, ltl=theory.formula(), limits=LIMITS)
    searches = {how: _our_search(theory, model, how) for how in ("none", theory.ample)}
    return ends, verdicts, loses, searches


def _our_search(theory: Theory, model: Any, how: str) -> tuple[int, int, int, bool]:
    text, condition = theory.pattern(with_sorts=False)
    asked = f"{theory.sought[0]} {text}" + (f" such that {condition}" if condition else "")
    options = Options(reduction="none") if how == "none" else Options(ample=how)
    report = porcini.check(model, pattern=asked, limits=LIMITS, options=options)
    found = report.search
    return found.count, found.states, len(found.first[0].trace) if found.first else 0, found.exact


def _text(state: Any) -> str:
    """A state in a form that can be read in one way only."""
    return str(state.term.prettyPrint(bindings.maude().PRINT_DISAMBIG_CONST))
