"""Expressions of Promela as formulas against the code that is generated for them, on random states."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import porcini
from porcini.ir import expr as ir
from porcini.ir.evaluation import evaluate
from porcini.ir.expr import FALSE, TRUE, Expr, binary, const, free, not_, number_of, substitute, truth_of
from porcini.ir.packed.code import Coder, Constants
from porcini.ir.packed.formulas import operators
from porcini.ir.packed.formulas.operators import Term, wrapped
from porcini.ir.packed.formulas.terms import Terms
from porcini.ir.packed.formulas.world import World
from porcini.ir.packed.layout import RunError
from porcini.ir.packed.system import PackedSystem
from porcini.ir.program import Variable
from porcini.ir.symbolic.commuting import Terms as SolverTerms
from porcini.solvers.smt import Smt
from strategies import PROGRAMS

SOURCE = """
bit b; byte x; short s; int n; unsigned u : 3; byte a[3] = 2;
init { b = 0; x = 0; s = 0; n = 0; u = 0; a[0] = 1 }
"""
PROGRAM = porcini.loads(SOURCE, "pml").graph.program
VARS: dict[str, Variable] = {var.name: var for var in PROGRAM.variables}
SCALARS = [var for var in PROGRAM.variables if not var.array]
NUMBERS = [0, 1, 2, 3, 5, 7, 8, 15, 31, 32, 255, 256, 65535, -1, -2, -3, -7, -256]
BINARY = ["+", "-", "*", "quot", "rem", "<<", ">>", "<", "<=", ">", ">=", "==", "!=", "&", "^", "|"]


def extend(inner: st.SearchStrategy[Expr]) -> st.SearchStrategy[Expr]:
    """Numbers made of numbers; a truth value is 1 or 0 wherever a number is wanted."""
    truths = inner.map(truth_of)
    made = st.one_of(
        st.builds(ir.not_, truths),
        st.builds(ir.neg, inner),
        st.builds(binary, st.sampled_from(BINARY), inner, inner),
        st.builds(lambda join, a, b: join(a, b), st.sampled_from([ir.conj, ir.disj]), truths, truths),
        st.builds(ir.ite, truths, inner, inner),
        st.builds(lambda index: ir.select(VARS["a"].var, index), inner),
        st.builds(lambda index: ir.checked(index, 4), inner),
    )
    return made.map(number_of)


EXPRESSIONS = st.recursive(
    st.one_of(st.sampled_from(NUMBERS).map(const), st.sampled_from(SCALARS).map(lambda v: v.var)),
    extend,
    max_leaves=6,
)
STATES = st.fixed_dictionaries(
    {
        var: st.one_of(st.sampled_from([0, 1, bounds.low, bounds.high]), st.integers(bounds.low, bounds.high))
        for var in SCALARS
        for bounds in [var.bounded]
    }
)


def translated(system: PackedSystem, expr: Expr) -> Term:
    return Terms(World(system, 1, {}), None, lambda: FALSE)(expr)


def agree(expr: Expr, values: dict[Variable, int]) -> None:
    system = PackedSystem(PROGRAM, values)
    state = system.initial()
    store = World(system, 1, {}).store(state, (1,))
    term = translated(system, expr)
    try:
        wanted = int(
            Coder(system.layout, 0, Constants(None, {}, system.layout.declared), system, {}).function(expr)(state)
        )
    except RunError:
        assert evaluate(term.ok, store) is False
        return
    assert evaluate(term.ok, store) is True
    assert evaluate(term.value, store) == wanted
    assert evaluate(term.truth, store) == bool(wanted)
    assert term.low <= wanted <= term.high
    for var in SCALARS:
        size, signed = var.bounded.bits, var.bounded.signed
        bits = wanted & (1 << size) - 1
        held = bits - (1 << size) if signed and bits >> (size - 1) else bits
        assert evaluate(wrapped(term, var.bounded), store) == held


@settings(max_examples=PROGRAMS, deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, STATES)
def test_expressions_mean_what_the_code_says(expr: Expr, values: dict[Variable, int]) -> None:
    agree(expr, values)


@settings(max_examples=max(PROGRAMS // 20, 20), deadline=None, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS, STATES)
def test_the_solver_agrees(expr: Expr, values: dict[Variable, int]) -> None:
    """What a formula is for one state, a solver can prove."""
    system = PackedSystem(PROGRAM, values)
    store = World(system, 1, {}).store(system.initial(), (1,))
    value = translated(system, expr).value
    known = {variable: const(store[variable.name]) for variable in free(value) if variable.type == "int"}
    if any(variable not in known for variable in free(value)):
        return
    claim = binary("==", substitute(value, known), const(evaluate(value, store)))
    smt = Smt(5)
    assert smt.proves(SolverTerms(smt)(claim)) and not smt.proves(SolverTerms(smt)(not_(claim)))


@pytest.mark.parametrize(
    ("name", "mutant"),
    [
        ("_absolute", lambda value: value),
        ("_bit", lambda a, k: binary("==", binary("%", a.value, const(2)), const(1))),
        ("_divisor", lambda b: (b.value, TRUE)),
    ],
)
def test_mutants_are_caught(monkeypatch, name: str, mutant) -> None:
    monkeypatch.setattr(operators, name, mutant)
    n, s = VARS["n"].var, VARS["s"].var
    with pytest.raises((AssertionError, ZeroDivisionError)):
        for op in ("quot", "rem", "&", "|", "^"):
            for one, two in ((-7, 2), (6, 0), (5, 3), (7, -2)):
                agree(binary(op, n, s), {VARS["n"]: one, VARS["s"]: two})
