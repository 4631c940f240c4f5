"""Expressions: one meaning, whether evaluated, simplified, compiled, substituted or printed and read again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

import porcini
from porcini.ir.evaluation import defined, evaluate
from porcini.ir.expr import (
    TRUE,
    ArrayType,
    Expr,
    binary,
    conj,
    const,
    disj,
    free,
    ite,
    neg,
    not_,
    select,
    store,
    substitute,
    var,
)
from porcini.ir.flat import codegen
from porcini.ir.simplify import simplify
from porcini.ir.text import show

X, Y, B, C = var("x", "int"), var("y", "int"), var("b", "bool"), var("c", "bool")
A = var("a", ArrayType("int", 3))
ints = st.deferred(
    lambda: st.one_of(
        st.integers(-3, 4).map(const),
        st.sampled_from([X, Y]),
        st.builds(neg, ints),
        st.builds(binary, st.sampled_from("+-*/%"), ints, ints),
        st.builds(select, st.just(A), ints),
    )
)
bools = st.deferred(
    lambda: st.one_of(
        st.booleans().map(const),
        st.sampled_from([B, C]),
        st.builds(not_, bools),
        st.builds(conj, bools, bools, bools),
        st.builds(disj, bools, bools),
        st.builds(binary, st.sampled_from(["==", "!=", "<", "<=", ">", ">="]), ints, ints),
        st.builds(binary, st.sampled_from(["==", "!="]), bools, bools),
    )
)
written = st.builds(store, st.just(A), ints, ints)
with_writes = st.builds(select, st.builds(store, written, ints, ints), ints)
choices = st.builds(ite, bools, ints, ints)
exprs = st.one_of(ints, bools, with_writes, choices, st.builds(binary, st.just("<="), with_writes, choices))
stores = st.fixed_dictionaries(
    {
        "x": st.integers(-4, 4),
        "y": st.integers(-4, 4),
        "b": st.booleans(),
        "c": st.booleans(),
        "a": st.tuples(*[st.integers(-2, 3)] * 3),
    }
)
MANY = settings(max_examples=200, deadline=None)


@MANY
@given(exprs, stores)
def test_simplification_keeps_the_value(expr: Expr, values: dict) -> None:
    simple = simplify(expr)
    assert evaluate(simple, values) == evaluate(expr, values)
    assert simplify(simple) is simple
    assert free(simple) <= free(expr)


@MANY
@given(st.one_of(ints, bools), stores)
def test_compiled_code_has_the_same_value_exactly_where_it_is_defined(expr: Expr, values: dict) -> None:
    slots = codegen.Slots({"x": 0, "y": 1, "b": 2, "c": 3, "a": 4}, {})
    compute = codegen.Module().add([f"return {codegen.expression(expr, slots)}"], "s")
    cells = [values["x"], values["y"], values["b"], values["c"], *values["a"]]
    if evaluate(defined(expr), values):
        assert compute(cells) == evaluate(expr, values)
    else:
        try:
            compute(cells)
        except (ZeroDivisionError, IndexError):
            return
        raise AssertionError("undefined, but it has a value")


@MANY
@given(st.one_of(ints, bools), ints, stores)
def test_substitution_is_assignment(expr: Expr, value: Expr, values: dict) -> None:
    """e[v/x] before is e after x := v: the heart of weakest preconditions."""
    after = values | {"x": evaluate(value, values)}
    assert evaluate(substitute(expr, {X: value}), values) == evaluate(expr, after)


@settings(max_examples=100, deadline=None)
@given(bools.filter(lambda expr: expr.depth < 8))
def test_text_reads_back_as_the_same_expression(expr: Expr) -> None:
    names = "x |-> 0, y |-> 0, b |-> true, c |-> true, a |-> [0, 0, 0],"
    (main,) = porcini.loads(f"{names} {show(expr)} |> skip").program.templates
    (edge,) = main.points[main.entry].edges
    assert simplify(edge.guard) is simplify(expr)


@settings(max_examples=50, deadline=None)
@given(exprs)
def test_expressions_are_interned(expr: Expr) -> None:
    assert substitute(expr, {}) is expr and substitute(expr, {X: X}) is expr


def test_one_is_not_true() -> None:
    assert const(1) is not const(True)
    assert const(0) is not const(False)


def test_depth_is_no_matter() -> None:
    deep: Expr = X
    for i in range(20_000):
        deep = binary("*", deep, Y) if i % 2 else neg(deep)
    assert evaluate(deep, {"x": 1, "y": 1}) in (1, -1)
    assert show(deep)
    assert simplify(conj(TRUE, binary("==", deep, deep))) is TRUE


def test_sharing_does_not_explode() -> None:
    shared: Expr = binary("*", X, Y)
    for _ in range(200):
        shared = binary("*", shared, shared)
    assert evaluate(shared, {"x": 1, "y": 1}) == 1
    assert show(shared).startswith("... (")
