"""The kinds of programs that are generated and judged, by the language that they are written in.

Each kind draws most of its programs from a generator, and the others by editing programs that people wrote: a
generator makes only what its author thinks of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from unittest.mock import patch

import porcini
from conformance import laws, oracle, trees
from conformance.actors import bases as actor_bases
from conformance.actors import edits as actor_edits
from conformance.actors import programs as actor_programs
from conformance.actors import syntax as actor_syntax
from conformance.coroutines import edits as coroutine_edits
from conformance.coroutines import judge as coroutine_judge
from conformance.coroutines import programs as coroutine_programs
from conformance.coroutines import wrong
from conformance.coroutines.recalling import recalled_as_run
from conformance.coroutines.states import NotUnderstood
from conformance.gcl import edits as gcl_edits
from conformance.gcl import parser as gcl_parser
from conformance.gcl import programs as gcl_programs
from conformance.laws import Search
from conformance.par import edits as par_edits
from conformance.par import parser as par_parser
from conformance.par import programs as par_programs
from conformance.promela import chains as promela_chains
from conformance.promela import claims as promela_claims
from conformance.promela import comparison as promela_comparison
from conformance.promela import edits as promela_edits
from conformance.promela import everything as promela_everything
from conformance.promela import judge as promela_judge
from conformance.promela import machines as promela_machines
from conformance.promela import programs as promela_programs
from conformance.promela import spin
from conformance.promela import text as promela_text
from conformance.promela.classics import CLASSICS
from conformance.promela.judge import Judge as PromelaJudge
from conformance.rewriting import plain_maude
from conformance.rewriting import program as rewriting
from conformance.rewriting.judge import Judge as RewritingJudge
from conformance.theories import judge as theory_judge
from conformance.theories import writer as theory_writer
from helpers import Collecting
from porcini.commands.all_inputs import explore_symbolically
from porcini.coroutines import code
from porcini.coroutines.code import search
from porcini.coroutines.plain import NotPlain, use_plain_locks
from porcini.coroutines.quiet import quiet
from porcini.coroutines.session import session
from porcini.engines.catalogue import ENGINES, Options
from porcini.engines.stats import SearchStats
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import Datum, Expr
from porcini.langs.aio import commuting

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "benchmarks" / "dpor"))

from programs import PROGRAMS, TRAPS  # noqa: E402


class Program(Protocol):
    """A generated program."""

    def text(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Kind:
    """Programs of one language: how many `make conformance` looks at, how one is made, and what must hold of it.

    `check` says how many classes a program has, and may be told which engines to ask. `smaller` gives programs
    with less in them.
    """

    name: str
    programs: int
    draw: Callable[[Random], Program]
    check: Callable[..., int]
    smaller: Callable[[Any], Iterator[Any]] = lambda program: program.smaller()
    classes: bool = True
    """Does its judge count classes? Else engines are compared with each other."""


def _searches(engines: Sequence[str] | None, more: Sequence[Search] = ()) -> Sequence[Search]:
    """All, or those by some engines, in that order."""
    every = (*laws.SEARCHES, *more)
    return [search for engine in engines for search in every if search.engine == engine] if engines else every


def _examples(language: str) -> list[str]:
    return [path.read_text("utf-8") for path in sorted((ROOT / "examples" / language).glob(f"*.{language}"))]


# Guarded commands, and the parallel language --------------------------------------------------------------------

WIDE = """
x |-> 0, y |-> 0, p |-> 0, q |-> 0, r |-> 0,
True |> spawn(True |> p := x); True |> spawn(True |> y := 10 * y + 3); True |> spawn(True |> r := q);
True |> spawn(True |> x := 5); True |> spawn(True |> y := 10 * y + x);
True |> spawn(True |> q := q + 1; True |> q := q + 1)
"""
SMALL = ["readers", "lastzero", "lastwrite", "floating_read", "await_chain", "spinlock", "counter", "independent"]
PAR = [
    "y := x || z := x || x := 2",
    "(x := 1; y := 1) || y := 2 || x := 2",
    "y := 1 || x := 3 || if x <= 1 {y := 2} {y := 3}",
    "p1 := x || z := 0 || x := 0 || z := 0 || p6 := z || p7 := x",
    "x := 1; y := 2; (x := y || y := x || (z := x; if z > 1 { x := 10 * x + 1 } { y := 3 }))",
    "x := 0; f := 0; ((x := x + 1 || x := 10 * x); f := 1 || if f == 1 { p := x } { p := 7 } || f := f + 1)",
]


@cache
def _gcl_bases() -> list[Any]:
    traps = [source for source, _, _ in TRAPS.values()]
    return [
        gcl_parser.parse(text)
        for text in (*_examples("gcl"), *traps, *(PROGRAMS[name](3) for name in SMALL), WIDE)
    ]


@cache
def _par_bases() -> list[Any]:
    return [par_parser.parse(text) for text in (*_examples("par"), *PAR)]


def _gcl_program(random: Random) -> Program:
    if random.random() < 0.75:
        return gcl_programs.generate(random)
    return gcl_edits.mutate(random, random.choice(_gcl_bases()))


def _par_program(random: Random) -> Program:
    if random.random() < 0.75:
        return par_programs.generate(random)
    return par_edits.mutate(random, random.choice(_par_bases()))


def _as_pairs(stats: Collecting) -> Iterator[tuple[str, tuple[Any, ...]]]:
    return ((final.kind, tuple(sorted(final.state.items()))) for _, final, _ in stats.runs)


def _check_gcl(program: Any, engines: Sequence[str] | None = None) -> int:
    system = porcini.loads(program.text()).system(program.inputs())
    return laws.compared(system, program.machine(), _as_pairs, _searches(engines, (Search("fagiani"),)), most=400)


def _check_par(program: Any, engines: Sequence[str] | None = None) -> int:
    system = porcini.loads(program.text(), "par").system(program.inputs())
    return laws.compared(system, program.machine(), _as_pairs, _searches(engines), most=400)


def _check_gcl_commuting(program: Any, engines: Sequence[str] | None = None) -> int:
    system = porcini.loads(program.text()).system(program.inputs())
    outcomes = oracle.outcomes(program.machine(), most=3_000)
    return laws.commuting(system, outcomes, _as_pairs, _searches(engines), most=200)


def _check_par_commuting(program: Any, engines: Sequence[str] | None = None) -> int:
    system = porcini.loads(program.text(), "par").system(program.inputs())
    outcomes = oracle.outcomes(program.machine(), most=3_000)
    return laws.commuting(system, outcomes, _as_pairs, _searches(engines), most=200)


def _check_symbolic(program: Any, engines: Sequence[str] | None = None) -> int:
    """For the program's inputs, the paths whose conditions hold are its classes. (A cell that is not known before
    is the whole array, so there may be more than one path for a class.)"""
    machine = program.machine()
    wanted = oracle.classes(machine, most=4_000)
    stats = SearchStats(porcini.Limits(max_depth=60, max_executions=300, timeout=20))
    found = explore_symbolically(porcini.loads(program.text()), stats)
    if stats.stopped != "exhausted":
        raise oracle.TooMany
    store = found.store(program.inputs())
    taken = [path for path in found.paths if evaluate(path.condition, store)]
    if {oracle.normal_form(machine, path.schedule) for path in taken} != set(wanted):
        raise laws.Broken("symbolic: other classes than the judge's")
    ends = {
        (path.kind, tuple(sorted((name, evaluate(value, store)) for name, value in found.observed(path).items())))
        for path in taken
    }
    if ends != set(wanted.values()):
        raise laws.Broken("symbolic: other outcomes than the judge's")
    return len(wanted)


# Actors ---------------------------------------------------------------------------------------------------------

TRANSDPOR = tuple(
    Search("transdpor", Options(actors=by, tasks=tasks), once=False)
    for by in ("first", "stable")
    for tasks in ("all", "independent")
)


def _actor_program(random: Random) -> Program:
    if random.random() < 0.75:
        return actor_programs.generate(random)
    return actor_edits.mutate(random, random.choice(actor_bases.BASES))


def _as_sets(stats: Collecting) -> Iterator[tuple[str, frozenset[Any]]]:
    return ((final.kind, frozenset(final.state.items())) for _, final, _ in stats.runs)


def _check_actors(program: Any, engines: Sequence[str] | None = None) -> int:
    system = porcini.loads(program.text(), "abs").system()
    searches = _searches(engines, (*TRANSDPOR, Search("fagiani")))
    return laws.compared(system, program.machine(), _as_sets, searches, most=400)


def _check_actors_commuting(program: Any, engines: Sequence[str] | None = None) -> int:
    system = porcini.loads(program.text(), "abs").system()
    outcomes = oracle.outcomes(program.machine(), most=3_000)
    return laws.commuting(system, outcomes, _as_sets, _searches(engines), most=100)


def _check_actors_with_input(program: Any, engines: Sequence[str] | None = None) -> int:
    """One of the numbers in a program is made an input. For each number in its place, the paths whose conditions
    hold are the classes of the program that has this number there."""
    numbers = sorted({part.value for part in trees.parts(program) if _is_number(part)})
    if not numbers:
        raise oracle.TooMany
    input_ = numbers[len(program.text()) % len(numbers)]
    stats = SearchStats(porcini.Limits(max_executions=300, timeout=20))
    found = explore_symbolically(porcini.loads(_with_input(program, input_), "abs"), stats)
    if stats.stopped != "exhausted":
        raise oracle.TooMany
    classes = 0
    for number in (-1, 0, 1, 2, 7):
        machine = _with_number(program, input_, actor_syntax.Const(number)).machine()
        wanted = oracle.classes(machine, most=4_000)
        taken = [path for path in found.paths if evaluate(path.condition, {"n": number})]
        if {oracle.normal_form(machine, path.schedule) for path in taken} != set(wanted):
            raise laws.Broken(f"symbolic: other classes than the judge's for {number} instead of {input_}")
        ends = {
            (path.kind, frozenset((name, _at(value, number)) for name, value in found.observed(path).items()))
            for path in taken
        }
        if ends != set(wanted.values()):
            raise laws.Broken(f"symbolic: other outcomes than the judge's for {number} instead of {input_}")
        classes += len(wanted)
    return classes


def _is_number(part: Any) -> bool:
    return isinstance(part, actor_syntax.Const) and type(part.value) is int


def _with_number(program: Any, old: int, new: Any) -> Any:
    """A program with something else wherever it has a number."""
    return trees.mapped(program, lambda part: new if _is_number(part) and part.value == old else part)


def _with_input(program: Any, number: int) -> str:
    """A program with an input wherever it has a number; its lines keep their numbers."""
    head = "import * from ABS.StdLib;"
    return (
        _with_number(program, number, actor_syntax.Local("n()")).text().replace(head, f"{head} def Int n() = 1;")
    )


def _at(value: Expr, number: int) -> Any:
    return value.value if isinstance(value, Datum) else evaluate(value, {"n": number})


# Promela --------------------------------------------------------------------------------------------------------


def _promela_model(random: Random) -> Program:
    shape = promela_programs.Shape(meets_in_atomic=random.random() < 0.3, meets_in_d_step=random.random() < 0.3)
    if random.random() < 0.75:
        return promela_programs.generate(random, shape)
    return promela_edits.mutate(random, random.choice(CLASSICS))


def _check_promela(model: Any, engines: Sequence[str] | None = None) -> int:
    judge = PromelaJudge(model)
    if promela_judge.endless(judge, most=2_500):
        raise oracle.TooMany
    outcomes = oracle.outcomes(judge)
    system = porcini.loads(model.text(), "pml").system()
    return laws.agreeing(system, outcomes, _as_pairs, _searches(engines), most=60)


def _check_promela_commuting(model: Any, engines: Sequence[str] | None = None) -> int:
    judge = PromelaJudge(model)
    if promela_judge.endless(judge, most=2_500):
        raise oracle.TooMany
    system = porcini.loads(model.text(), "pml").system()
    return laws.commuting(system, oracle.outcomes(judge), _as_pairs, _searches(engines), most=60)


def _check_against_spin(model: Any, engines: Sequence[str] | None = None) -> int:
    """Is the judge right? As many as there are outcomes."""
    judge = PromelaJudge(model)
    if promela_judge.endless(judge, most=2_500):
        raise oracle.TooMany
    outcomes = oracle.outcomes(judge)
    if outcomes != spin.outcomes(model):
        raise laws.Broken("the judge of Promela finds other outcomes than SPIN")
    return len(outcomes)


def _compare_with_spin(model: Any, engines: Sequence[str] | None = None) -> int:
    """Models over the whole language, with endless runs: SPIN itself is the judge. As many as there are states."""
    return promela_comparison.compare(model)


def _compare_claims_with_spin(claimed: Any, engines: Sequence[str] | None = None) -> int:
    return promela_claims.compare(claimed)


def _wide_or_small_model(random: Random) -> Program:
    """Of the whole language, or models of nothing but steps that move several processes."""
    return promela_chains.generate(random) if random.random() < 0.2 else promela_everything.generate(random)


def _compare_machines(model: Any, engines: Sequence[str] | None = None) -> int:
    return promela_machines.compare(model)


# Rewrite theories -----------------------------------------------------------------------------------------------


def _rewriting_program(random: Random) -> Program:
    return rewriting.generate(random)


def _as_terms(stats: Collecting) -> Iterator[oracle.Outcome]:
    return ((final.kind, rewriting.observed(final.state)) for _, final, _ in stats.runs)


def _check_rewriting(program: Any, engines: Sequence[str] | None = None) -> int:
    with TemporaryDirectory() as folder:
        description = Path(folder, "program.toml")
        description.write_text(program.description(), "utf-8")
        system = porcini.load(str(rewriting.THEORY), por=str(description)).system()
    return laws.compared(system, RewritingJudge(program), _as_terms, _searches(engines), most=100)


def _check_theory(theory: Any, engines: Sequence[str] | None = None) -> int:
    """Languages rather than programs: plain Maude itself is the judge. As many as there are ends."""
    return theory_judge.check(theory)


def _check_against_maude(program: Any, engines: Sequence[str] | None = None) -> int:
    """Is the judge right? As many as there are outcomes."""
    outcomes = oracle.outcomes(RewritingJudge(program), most=5_000)
    (found,) = plain_maude.outcomes([program])
    if outcomes != found:
        raise laws.Broken("the judge of the rewrite theory finds other outcomes than Maude")
    return len(outcomes)


# Coroutines -----------------------------------------------------------------------------------------------------


def _coroutine_program(random: Random) -> Program:
    if random.random() < 0.75:
        return coroutine_programs.generate(random)
    return coroutine_edits.mutate(random, random.choice(coroutine_edits.bases()))


def _check_coroutines(program: Any, engines: Sequence[str] | None = None) -> int:
    """The judge comes last, since it takes longest. Objects live longer under Porcini, which docs/asyncio.md says:
    what they do when they end is not judged."""
    if "__del__" in program.text():
        raise oracle.TooMany
    main = coroutine_judge.main_of(program.text())
    found: dict[str, set[oracle.Outcome]] = {}
    classes = None
    as_far_as_it_goes = patch.object(commuting, "_CHEAP", 10**9)  # else it depends on the order of the search
    no_excuse = patch.object(code, "use_plain_locks", _use_plain_locks)
    with quiet(), session(main) as opened, recalled_as_run(), as_far_as_it_goes, no_excuse:
        for asked in _searches(engines):
            stats = SearchStats(porcini.Limits(max_executions=300))
            stats = search(opened.program("any"), ENGINES[asked.engine], stats, Options())
            if stats.stopped != "exhausted":
                raise oracle.TooMany
            classes = stats.counts.classes if classes is None else classes
            laws.check_counts(asked, stats.counts, classes)
            found[asked.engine] = {
                (end.kind, str(*end.state.values()) if end.kind == "terminated" else "") for end in stats.outcomes
            }
    try:
        outcomes = coroutine_judge.outcomes(main, most=1_000)
    except (coroutine_judge.NotRepeatable, NotUnderstood):
        raise oracle.TooMany from None
    for engine, ends in found.items():
        if ends != outcomes:
            raise laws.Broken(f"{engine}: other outcomes than the judge's")
    return classes or 0


def _use_plain_locks(program: Any, stats: SearchStats) -> None:
    """No run with guarded locks may be none with asyncio's own: users are spared that, the law is not."""
    try:
        use_plain_locks(program, stats)
    except NotPlain as problem:
        raise laws.Broken(f"a run with guarded locks is none with asyncio's own: {problem}") from None


KINDS = {
    kind.name: kind
    for kind in (
        Kind("gcl", 3_000, _gcl_program, _check_gcl),
        Kind("par", 1_000, _par_program, _check_par),
        Kind("symbolic", 200, _gcl_program, _check_symbolic),
        Kind("abs", 1_500, _actor_program, _check_actors),
        Kind("abs symbolic", 200, _actor_program, _check_actors_with_input),
        Kind("pml", 1_200, _promela_model, _check_promela, promela_edits.smaller, classes=False),
        Kind("gcl semantic", 400, _gcl_program, _check_gcl_commuting, classes=False),
        Kind("par semantic", 200, _par_program, _check_par_commuting, classes=False),
        Kind("abs semantic", 150, _actor_program, _check_actors_commuting, classes=False),
        Kind("pml semantic", 150, _promela_model, _check_promela_commuting, promela_edits.smaller, classes=False),
        Kind("maude", 500, _rewriting_program, _check_rewriting),
        Kind("theories", 300, theory_writer.generate, _check_theory),
        Kind("asyncio", 750, _coroutine_program, _check_coroutines, classes=False),
        Kind("waiters", 250, coroutine_programs.generate_waiters, _check_coroutines, classes=False),
        Kind("faults", 150, wrong.generate, wrong.check, classes=False),
        Kind("spin", 150, promela_everything.generate, _compare_with_spin, promela_text.smaller),
        Kind("spin chains", 200, promela_chains.generate, _compare_with_spin, promela_text.smaller),
        Kind("spin claims", 200, promela_claims.generate, _compare_claims_with_spin, promela_claims.smaller),
        Kind("native", 1_000, _wide_or_small_model, _compare_machines, promela_text.smaller),
        # These two check judges:
        Kind("pml judge", 200, _promela_model, _check_against_spin, promela_edits.smaller),
        Kind("plain maude", 60, _rewriting_program, _check_against_maude),
    )
}
NEED_SPIN = {"spin", "spin chains", "spin claims", "pml judge"}
