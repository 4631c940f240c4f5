"""Declarations of Promela: lists of values, records in messages, mtypes, scopes.

All counts are those of SPIN 6.5.2 with `-o1 -o2 -o3` and `-DNOREDUCE`; what is refused here, SPIN refuses, but for
the limit on the length of messages, which is ours."""

from __future__ import annotations

import pytest

import porcini
from porcini import Report
from porcini.core.errors import InputError
from porcini.engines.catalogue import Options

PLAIN = Options(reduction="none", optimise=False)
PAIR = "typedef M { byte a; byte b }; "
BOXES = "typedef M { byte a; byte y[2] }; "


def plain(source: str) -> Report:
    return porcini.check(porcini.loads(source, "pml"), options=PLAIN)


def states(source: str) -> int:
    """How many states there are, of a model that nothing goes wrong in."""
    report = plain(source)
    assert report.verdict == "holds", source
    return report.counts.states


def error(source: str) -> str:
    with pytest.raises(InputError) as caught:
        porcini.loads(source, "pml")
    assert caught.value.place is not None
    return caught.value.message


# Lists of initial values


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("byte a[3] = {1, 2, 3}; init { assert(a[0] == 1 && a[2] == 3) }", 3),
        ("mtype = {u, v}; mtype a[2] = {u, v}; init { skip; assert(a[1] == v) }", 4),
        (
            "typedef T { byte a[3] = {4, 5, 6}; byte b = 2 };"
            "T t[2]; init { assert(t[1].a[1] == 5 && t[1].b == 2) }",
            3,
        ),
        ("active proctype P() { byte a[3] = {1, 2, 3}; assert(a[2] == 3) }", 3),
        ("byte a[4] = {7, 5}; init { skip; assert(a[2] == 5 && a[3] == 5) }", 4),
        ("byte a[2] = {7, 5, 6}; init { assert(a[0] == 7 && a[1] == 5) }", 3),
        ("byte a[2] = {1, 300}; init { assert(a[1] == 44) }", 3),
    ],
)
def test_lists_of_values(source: str, count: int) -> None:
    assert states(source) == count


def test_a_list_that_does_not_fit_is_noted() -> None:
    assert plain("byte a[4] = {7, 5}; init { skip }").notes == (
        "`a` has 4 cells for 2 values: the last one is repeated",
    )
    assert plain("byte a[1] = {7, 5}; init { skip }").notes == (
        "`a` has 1 cells for 2 values: the rest is left out",
    )


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("byte a = {1}; init { skip }", "a list of values wants an array, and `a` is not one"),
        ("init { skip; byte a[2] = {1, 2}; skip }", "a list of values must come before the first statement"),
        ("init { if :: byte a[2] = {1, 2}; skip fi }", "a list of values must come before the first statement"),
        ("byte n; byte a[2] = {1, m}; init { n = 1 }", "undeclared variable: m"),
    ],
)
def test_lists_in_the_wrong_place(source: str, message: str) -> None:
    assert message in error(source)


# Records in messages and as parameters


@pytest.mark.parametrize(
    ("source", "count"),
    [
        (
            PAIR
            + "chan c = [2] of { M }; init { M m; m.a = 3; m.b = 4; c!m; M k; c?k; assert(k.a == 3 && k.b == 4) }",
            8,
        ),
        (
            "mtype = {x}; " + PAIR + "chan c = [2] of { mtype, M };"
            "init { M m; m.a = 3; m.b = 4; c!x(m); M k; c?x(k); assert(k.a == 3 && k.b == 4) }",
            8,
        ),
        (PAIR + "chan c = [2] of { M, M }; init { M k[2]; c!3, 4, k[0]; c?k[1], k[0]; assert(k[1].a == 3) }", 5),
        (
            "typedef I { byte x; byte y }; typedef M { byte a; I i }; chan c = [2] of { M };"
            "init { M k[2]; c!3, 4, 5; c?k[1]; assert(k[1].i.y == 5) }",
            5,
        ),
        (
            BOXES + "chan c = [2] of { M };"
            "init { M m; m.y[0] = 4; m.y[1] = 5; c!m; byte p, q, r; c?p, q, r; assert(!p && q == 4 && r == 5) }",
            10,
        ),
        (PAIR + "chan c = [2] of { M }; init { M m; m.a = 3; m.b = 4; c!m; assert(c?[m]); c?<m> }", 7),
        (
            PAIR + "chan c = [0] of { M }; active proctype A() { M m; m.a = 1; m.b = 2; c!m }"
            "active proctype B() { M m; c?m; assert(m.b == 2) }",
            7,
        ),
        (
            PAIR + "proctype P(byte x; M m) { assert(m.a == 3 && m.b == 4 && x == 1) }"
            "init { M m; m.a = 3; m.b = 4; run P(1, m) }",
            7,
        ),
        (PAIR + "proctype P(M m) { assert(m.a == 3 && m.b == 4) } init { run P(3, 4) }", 5),
    ],
)
def test_a_record_stands_for_its_fields(source: str, count: int) -> None:
    assert states(source) == count


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (PAIR + "chan c = [1] of { M }; init { M m; c!m, 1 }", "channel `c` takes 2 values, not 3"),
        (PAIR + "chan c = [1] of { M }; init { M m[2]; c!m }", "array `m` is used without an index"),
        (PAIR + "chan c = [1] of { M }; init { M m; c!m.d }", "typedef M has no field `d`"),
        (PAIR + "chan c = [1] of { M }; init { M m; c!m; c?eval(m) }", "`m` is a M: one of its fields is wanted"),
        (PAIR + "M g; init { M m; g = m }", "`g` is a M: one of its fields is wanted"),
        (PAIR + "proctype P(M m) { skip } init { M m; run P(m, m) }", "P takes 2 arguments, not 4"),
        (PAIR + "proctype P(M m[2]) { skip } init { skip }", "parameter `m` is an array, or has one in it"),
        (BOXES + "proctype P(M m) { skip } init { skip }", "parameter `m` is an array, or has one in it"),
        ("typedef M { byte a[300] }; chan c = [1] of { M }; init { skip }", "messages of more than 255 values"),
    ],
)
def test_records_in_the_wrong_place(source: str, message: str) -> None:
    assert message in error(source)


# Mtypes


@pytest.mark.parametrize(
    "source",
    [
        "mtype = {a, b}; mtype = {c, d}; init { assert(a == 2 && b == 1 && c == 4 && d == 3) }",
        "mtype = {a, b,}; init { assert(a == 2 && b == 1) }",
        "mtype = {a\nb}; init { assert(a == 2 && b == 1) }",
        "mtype {\n a b\n}; init { assert(a == 2 && b == 1) }",
        "mtype:f = {a, b}; mtype = {c, d, e}; mtype:g = {h}; init { assert(a == 2 && c == 3 && h == 1) }",
    ],
)
def test_mtypes_count_from_the_end_of_each_declaration(source: str) -> None:
    assert states(source) == 3


def test_sets_of_mtypes_are_printed_by_their_own_names() -> None:
    source = """
        mtype = {red, green}; mtype:fruit = {apple, pear};
        mtype:fruit x = pear; mtype y = green; chan c = [1] of { mtype:fruit, mtype };
        init { x = apple; c!pear, red }
    """
    (outcome,) = plain(source).outcomes
    assert dict(outcome.state) == {"x": "apple", "y": "green", "c": (("pear", "red"),)}


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("mtype = {a, b}; mtype = {b}; init { skip }", "`b` is in an mtype twice"),
        ("mtype:f = {a}; mtype = {c}; mtype:f x; init { x = c }", "`c` is not in `mtype:f`"),
        ("init { mtype = {a}; skip }", "syntax error"),
        (
            f"mtype = {{{', '.join(f'n{i}' for i in range(256))}}}; init {{ skip }}",
            "more than 255 names in one mtype",
        ),
    ],
)
def test_mtypes_that_are_wrong(source: str, message: str) -> None:
    assert message in error(source)


# Where a declaration stands


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("active proctype P() { byte x; }", 2),
        ("chan c = [1] of { byte }; active proctype P() { xr c; }", 2),
        ("active proctype P() { { byte x; } }", 3),
        ("active proctype P() { { byte x; }; byte y; }", 4),
        ("active proctype P() { { byte x; x = 3 } }", 4),
        ("active proctype P() { { byte x = 3; x = 4 } }", 4),
        ("active proctype P() { atomic { byte x } }", 3),
        ("active proctype P() { atomic { byte x; x = 3 } }", 3),
        ("inline f() { byte x; x = 3 } active proctype P() { f() }", 4),
        ("active proctype P() { if :: byte x; x = 3 fi }", 4),
        ("active proctype P() { skip; byte x[2]; x[1] = 3 }", 5),
        ("active proctype P() { skip; chan q; skip }", 5),
        ("typedef T { byte x }; active proctype P() { if :: T t; fi }", 3),
        ("typedef T { byte x }; active proctype P() { skip; T t; t.x = 1 }", 5),
        (
            "active proctype P() { byte i; do :: i < 2 -> byte a[2]; a[0] = a[0] + 1; a[1] = a[1] + 1; i++"
            ":: else -> break od; assert(a[0] == 1 && a[1] == 2) }",
            14,
        ),
        (
            "typedef T { byte x = 3 }; active proctype P() { byte i; do :: i < 2 -> T t; t.x++; i++"
            ":: else -> break od; assert(t.x == 5) }",
            12,
        ),
        ("active proctype P() { byte x; if :: skip; byte y = 1 :: y = 2; x = y; assert(x == 2) fi; y = 3 }", 9),
        ("inline f(a) { byte x = a; assert(x == a) } active proctype P() { f(1); f(2) }", 6),
        ("active proctype P(byte n) { assert(n == 0) }", 3),
        ("active [2] proctype P(byte n; chan c) { n++; assert(n == 1) }", 13),
        ("active proctype P(byte n) { byte x; } init { run P(3) }", 5),
    ],
)
def test_a_declaration_within_a_body_is_a_step(source: str, count: int) -> None:
    assert states(source) == count


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("active proctype P() { byte x; if :: { byte y = 1 } :: x = y fi }", "undeclared variable: y"),
        ("active proctype P() { if :: byte x = 1 :: byte x = 2 fi }", "variable x is declared twice"),
        ("active proctype P() { { chan q = [1] of { byte }; q!3 } }", "declared before the first statement"),
        ("inline f(a) { byte x = a } active proctype P() { f(1); x = 2 }", "undeclared variable: x"),
    ],
)
def test_only_braces_make_a_scope(source: str, message: str) -> None:
    assert message in error(source)


# Messages


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("chan c = [2] of { byte, byte }; init { c!1; byte x, y; c?x, y }", "c takes 2 values, not 1"),
        ("chan c = [2] of { byte, byte }; init { c!1, 2; byte x; c?x }", "c takes 2 values, not 1"),
        ("chan c = [2] of { byte }; init { c!1; byte x, y; c?x, y }", "c takes 1 values, not 2"),
        (
            "chan c = [0] of { byte, byte }; active proctype A() { c!1 } active proctype B() { byte x; c?x, x }",
            "c takes 2 values, not 1",
        ),
        (
            "chan c = [0] of { byte, byte }; active proctype A() { c!1, 2 } active proctype B() { byte x; c?x }",
            "c takes 2 values, not 1",
        ),
    ],
)
def test_a_statement_with_another_number_of_values_fails_when_it_is_run(source: str, text: str) -> None:
    report = plain(source)
    assert {outcome.kind for outcome in report.outcomes} == {"assertion"}
    assert report.notes == (f"line 1: channel {text}",)


def test_messages_of_too_many_values_are_refused() -> None:
    assert error("chan c = [2] of { byte }; init { c!1, 2 }") == "channel `c` takes 1 values, not 2"


@pytest.mark.parametrize(
    ("source", "count"),
    [
        (PAIR + "chan c = [3] of { M }; init { M m; c!1, 2; c!3, 4; for (m in c) { assert(m.a > 0) } }", 16),
        (
            PAIR + "chan c = [3] of { M }; init { M m; c!1, 2; c!3, 4;"
            'for (m in c) { printf("%d", m.a) }; for (m in c) { assert(m.a > 0) } }',
            28,
        ),
        ("chan c = [2] of { byte }; init { c!3; byte x = 1, y; c?eval(x + 2) }", 6),
        ("chan c = [2] of { byte, byte, byte }; init { c!3(4, 5); byte x, y; c?3(x, y); assert(y == 5) }", 7),
    ],
)
def test_messages(source: str, count: int) -> None:
    assert states(source) == count


def test_a_loop_over_a_channel_wants_a_record() -> None:
    assert error("byte i; chan c = [3] of { byte }; init { for (i in c) { skip } }") == "`c` is not an array"


def test_a_body_may_be_long() -> None:
    assert states("byte x; init { " + "x = 1; x = 2; " * 1500 + "}") == 3002
