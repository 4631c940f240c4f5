"""P3's four semantics as configurations (s, τ), on programs made by Hypothesis.

Statements s are where the processes stand; traces are labels. What the paper calls a step is a step of the program
graph, taken by `SymbolicProgram` and by `FlatSystem`: nothing here knows the rules of Fig. 3. Guards have no value
here until somebody asks for a path condition, so unsatisfiable paths are paths, as in the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations, permutations, product

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from helpers import Collecting
from porcini import Limits
from porcini.core.events import Action, Schedule
from porcini.core.systems import Value
from porcini.core.traces import Trace
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.equivalences import EQUIVALENCES, equivalent
from porcini.engines.stats import SearchStats
from porcini.engines.symbolic import Path, Symbolic
from porcini.ir.analysis import footprint
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import FALSE
from porcini.ir.flat.interpreter import FlatSystem
from porcini.ir.operations import Assign
from porcini.ir.program import Program as IrProgram
from porcini.ir.symbolic.abstraction import (
    assignments,
    final_substitution,
    final_valuation,
    models,
    path_condition,
)
from porcini.ir.symbolic.commuting import Terms
from porcini.ir.symbolic.labels import Label
from porcini.ir.symbolic.program import PointStep, SymbolicProgram, SymbolicState
from porcini.langs import par
from porcini.solvers.smt import Smt
from strategies import PROGRAMS

SOME = settings(max_examples=max(PROGRAMS // 35, 5), deadline=None, suppress_health_check=list(HealthCheck))
FEW = settings(SOME, max_examples=max(PROGRAMS // 80, 5))
MOST = 80
"""Configurations that are looked at in one program."""
MOST_RUNS = 60

# Programs and valuations

VALUES = ["0", "1", "x", "y", "z", "x + 1", "y - x", "2 * z", "x * y"]
TESTS = ["x < 1", "y == x", "z != 0", "not (x <= y)", "x > 0 and y > 0", "z >= 1 or y < 0", "x <= 1", "true"]


@st.composite
def sources(draw: st.DrawFn, events: int = 5) -> str:
    """A program of a few events: `||` anywhere, branches, at times a loop of two rounds."""
    left, loops = draw(st.integers(2, events)), 0

    def assignment() -> str:
        return f"{draw(st.sampled_from('xyz'))} := {draw(st.sampled_from(VALUES))}"

    def statement(depth: int) -> str:
        nonlocal left, loops
        kinds = [":="] * 3 + ["skip"] + [";", "||", "||", "if", "if", "while"] * (depth < 4 and left > 0)
        kind = draw(st.sampled_from(kinds)) if depth else draw(st.sampled_from(["||", "||", "||", ";"]))
        left -= kind in (":=", "if")
        if kind in (";", "||"):
            return f"({statement(depth + 1)} {kind} {statement(depth + 1)})"
        if kind == "if":
            test = draw(st.sampled_from(TESTS))
            return f"if {test} {{{statement(depth + 1)}}} {{{statement(depth + 1)}}}"
        if kind == "while" and not loops:
            loops, left = 1, left - 4
            return f"(i := 0; while i < 1 {{{assignment()} || i := i + 1}})"
        return "skip" if kind == "skip" else assignment()

    return statement(0)


@dataclass
class Program:
    """A program with its symbolic system, and concrete ones by valuation."""

    source: str

    @cached_property
    def graph(self) -> IrProgram:
        return par.load(self.source, "p3.par")

    @cached_property
    def symbolic(self) -> SymbolicProgram:
        return SymbolicProgram(self.graph)

    def valuation(self, *values: int) -> dict[str, Value]:
        """V: the inputs get these values, one after another; other variables are what they start with."""
        given = dict(zip(self.graph.inputs, values, strict=False))
        return {v.name: given.get(v.name, 0) if v.value is None else v.value for v in self.graph.variables}

    def valuations(self, *range_: int) -> list[dict[str, Value]]:
        return [self.valuation(*values) for values in product(range_, repeat=len(self.graph.inputs))]

    def concrete(self, valuation: Mapping[str, Value]) -> FlatSystem:
        return FlatSystem(self.graph.with_inputs({name: valuation[name] for name in self.graph.inputs}))

    def __repr__(self) -> str:
        return f"Program({self.source!r})"


PROGRAM = sources().map(Program)
NUMBERS = st.tuples(*[st.integers(-2, 2)] * 4)
"""Values for the inputs of a program; it has four at most."""

# Configurations

Standing = frozenset
"""Where each process stands: what is left of the program."""


@dataclass(frozen=True)
class Symbolically:
    """(s, τ) of the symbolic semantics. The state is that of the trace, so τ may be any trace."""

    program: Program
    processes: Mapping
    trace: tuple[Label, ...]

    @cached_property
    def s(self) -> Standing:
        return Standing((pid, at.template, at.point, at.children) for pid, at in self.processes.items())

    @cached_property
    def state(self) -> SymbolicState:
        initial = self.program.symbolic.initial().values
        return SymbolicState(self.processes, final_substitution(self.trace, initial))

    def after(self, trace: Sequence[Label]) -> Symbolically:
        """The same statement with another trace."""
        return Symbolically(self.program, self.processes, tuple(trace))

    def steps(self) -> Iterator[tuple[PointStep, Symbolically]]:
        state, graph = self.state, self.program.symbolic
        for pid in graph.waiting(state):
            steps = graph.steps(state, pid)
            if all(graph.when(state, step) is FALSE for step in steps):
                continue  # it waits for the end of a `||`
            for step in steps:
                after = graph.take(state, step)
                yield step, Symbolically(self.program, after.processes, (*self.trace, step.label))


@dataclass(frozen=True)
class Concretely:
    """(s, τ) of the concrete semantics for a valuation; `labels` is the run with its guards."""

    system: FlatSystem
    valuation: Mapping[str, Value]
    state: tuple
    labels: tuple[Label, ...] = ()
    moves: Schedule = ()

    @cached_property
    def s(self) -> Standing:
        state = self.state
        return Standing((p.pid, p.template, state[p.base], state[p.base + 1]) for p in state[0].processes)

    @cached_property
    def trace(self) -> tuple[Assign, ...]:
        return assignments(self.labels)

    @cached_property
    def values(self) -> dict[str, Value]:
        """What the interpreter holds now."""
        return self.system.store(self.state)

    def steps(self) -> Iterator[tuple[Action, Concretely]]:
        for action in self.system.actions(self.state):
            if action.enabled:
                state, event = self.system.fire(self.state, action)
                labels, moves = (*self.labels, event.label), (*self.moves, event.move)
                yield action, Concretely(self.system, self.valuation, state, labels, moves)


def symbolic_start(program: Program) -> Symbolically:
    return Symbolically(program, program.symbolic.initial().processes, ())


def concrete_start(program: Program, valuation: Mapping[str, Value]) -> Concretely:
    system = program.concrete(valuation)
    return Concretely(system, valuation, system.initial())


def reached(start, most: int = MOST, depth: int = 99) -> list:
    """Configurations that can be reached, breadth first, `most` of them at most."""
    found = [start]
    for configuration in found:  # grows
        if len(_labels(configuration)) == depth:
            break
        for _, after in configuration.steps():
            if len(found) >= most:
                return found
            found.append(after)
    return found


# Equivalences of traces, each from a different source

_SMT = Smt(5.0)


def by_definition(one: Sequence[Label], two: Sequence[Label]) -> bool:
    """Def. 3.1 to the letter: final substitutions are equal whether or not the path is taken."""
    return Counter(one) == Counter(two) and (one == two or _by_definition(tuple(one), tuple(two)))


@lru_cache(maxsize=5000)
def _by_definition(one: tuple[Label, ...], two: tuple[Label, ...]) -> bool:
    term, final, other = Terms(_SMT), final_substitution(one), final_substitution(two)
    claims = [_SMT.apply("iff", term(path_condition(one)), term(path_condition(two)))]
    claims += [_SMT.apply("==", term(final.get(v, v)), term(other.get(v, v))) for v in final.keys() | other.keys()]
    return all(map(_SMT.proves, claims))


def where_taken(one: Sequence[Label], two: Sequence[Label]) -> bool:
    """The engine's: final substitutions are equal for the inputs that take the path."""
    return Counter(one) == Counter(two) and (one == two or _where_taken(tuple(one), tuple(two)))


@lru_cache(maxsize=5000)
def _where_taken(one: tuple[Label, ...], two: tuple[Label, ...]) -> bool:
    return equivalent(one, two, _SMT)


def interference_free(one: Label, two: Label) -> bool:
    """Def. 3.7, which does not ask whose the events are."""
    return not footprint.static(one.touched).conflicts(footprint.static(two.touched))


def by_swapping(one: Sequence[Label], two: Sequence[Label]) -> bool:
    """~IF: the same events, and any two that interfere come in the same order."""
    if Counter(one) != Counter(two):
        return False
    for a, b in combinations(dict.fromkeys(one), 2):
        if not interference_free(a, b) and [e for e in one if e in (a, b)] != [e for e in two if e in (a, b)]:
            return False
    return True


@lru_cache(maxsize=5000)
def swapped(trace: tuple[Label, ...], most: int = 40) -> tuple[tuple[Label, ...], ...]:
    """What adjacent swaps of interference-free events make of a trace, `most` traces at most."""
    found = {trace: None}
    left = [trace]
    for known in left:  # grows
        for i in range(len(known) - 1):
            other = (*known[:i], known[i + 1], known[i], *known[i + 2 :])
            if len(found) < most and other not in found and interference_free(known[i], known[i + 1]):
                found[other] = None
                left.append(other)
    return tuple(found)


TRACE_EQUIVALENCES: dict[str, Callable[[Sequence[Label], Sequence[Label]], bool]] = {
    "Def. 3.1": by_definition,
    "where taken": where_taken,
    "~IF": by_swapping,
}


VALUATIONS = [[(7 * i + 5 * j + i * j) % 5 - 1 for j in range(6)] for i in range(20)]


def agree_everywhere(one: Sequence[Label], two: Sequence[Label], names: Sequence[str]) -> bool:
    """Def. 3.1 by running both traces from many valuations, where they are taken: no solver, no substitution."""
    return Counter(one) == Counter(two) and _seen(tuple(one), tuple(names)) == _seen(tuple(two), tuple(names))


@lru_cache(maxsize=5000)
def _seen(trace: tuple[Label, ...], names: tuple[str, ...]) -> list:
    return [run_of(trace, dict(zip(names, values, strict=False))) for values in VALUATIONS]


def run_of(trace: Sequence[Label], start: Mapping[str, Value]) -> dict[str, Value] | None:
    """What becomes of a valuation, guard by guard; None if a guard stops it."""
    now = _WithFlags(start)
    for label in trace:
        guard = label.guards[label.taken]
        if not evaluate(guard, now):
            return None
        now = _WithFlags(final_valuation(label.effects, now))
    return dict(now)


class _WithFlags(dict):
    """A valuation in which hidden flags are up, if nobody says otherwise."""

    def __missing__(self, name: str) -> bool:
        assert "#" in name, name
        return True


def names_of(program: Program) -> list[str]:
    return [v.name for v in program.graph.variables if "#" not in v.name]


def equivalents(trace: Sequence[Label], relation: str, most: int = 24) -> Iterator[tuple[Label, ...]]:
    """The permutations of a trace that a relation holds to be the same, up to four events; else swaps of it."""
    if len(trace) > 4:
        candidates: Iterator = reversed(swapped(tuple(trace), most))
    else:
        candidates = permutations(trace)
    for _, other in zip(range(most), candidates, strict=False):
        if TRACE_EQUIVALENCES[relation](trace, other):
            yield other


# Def. 4.1: reduced semantics, in which a trace may be replaced by an equivalent one


class Reduced:
    """(s, τ) -> POR: a step from the representative of τ's class, the first one that was met.

    Classes of concrete traces are told apart by `Concretely.labels`, guards and all, so that the same equivalences
    serve; an equivalence of symbolic traces is one of the concrete traces in them.
    """

    def __init__(self, relation: str) -> None:
        self.same = TRACE_EQUIVALENCES[relation]
        self.classes: dict[Hashable, list] = {}

    def representative(self, configuration):
        labels = _labels(configuration)
        known = self.classes.setdefault((configuration.s, frozenset(Counter(labels).items())), [])
        for other in known:
            if self.same(_labels(other), labels):
                return other
        known.append(configuration)
        return configuration

    def steps(self, configuration) -> Iterator:
        yield from self.representative(configuration).steps()

    def reached(self, start, most: int = MOST, depth: int = 99) -> list:
        """One configuration of each class, by reduced steps only."""
        found, seen = [start], {id(self.representative(start))}
        for configuration in found:  # grows
            if len(_labels(configuration)) == depth:
                break
            for _, after in self.steps(configuration):
                one = self.representative(after)
                if id(one) not in seen and len(found) < most:
                    seen.add(id(one))
                    found.append(one)
        return found


def _labels(configuration) -> tuple[Label, ...]:
    return configuration.trace if isinstance(configuration, Symbolically) else configuration.labels


# The four corners of Fig. 4, by the engines


def concrete_runs(program: Program, valuation: Mapping[str, Value], engine: str, **options) -> list | None:
    """Complete concrete runs (trace, final values); None if there are too many."""
    system = program.concrete(valuation)
    stats = Collecting(Limits(max_executions=MOST_RUNS))
    stats.explore(lambda stats: ENGINES[engine](system, stats, Options(**options)))
    if stats.stopped != "exhausted":
        return None
    return [(trace, dict(final.state)) for trace, final, _ in stats.runs]


def symbolic_paths(program: Program, *, reduced: bool, equivalence: str = "syntactic") -> list[Path] | None:
    """Complete symbolic paths, pruned by a solver; None if there are too many."""
    stats = SearchStats(Limits(max_executions=MOST_RUNS))
    engine = Symbolic(program.symbolic, EQUIVALENCES[equivalence](), stats, reduced=reduced)
    stats.explore(lambda _: engine.search())
    return engine.paths if stats.stopped == "exhausted" else None


def taken_by(paths: Sequence[Path], valuation: Mapping[str, Value]) -> list[Path]:
    return [path for path in paths if models(valuation, path.condition)]


def final_of(path: Path, program: Program, valuation: Mapping[str, Value]) -> dict[str, Value]:
    """V ∘ τ⇓ of what a user sees."""
    observed = program.symbolic.observed(path.state)
    return {name: evaluate(value, valuation) for name, value in observed.items()}


def labels_of(trace: Trace) -> tuple[Label, ...]:
    return tuple(event.label for event in trace)
