"""A model file is data: nothing in it gets into the generated source or runs on the host."""

from __future__ import annotations

import io
import keyword
import tokenize

import pytest

import porcini

WORDS = {"f", "s", "b", "k", "index", "spawn", "tuple", "ZeroDivisionError", "IndexError", "True", "False"}

HOSTILE = [
    "__import__",
    "exec",
    "eval",
    "s",
    "b",
    "f",
    "k",
    "index",
    "spawn_",
    "None",
    "lambda_",
    "__builtins__",
    "os",
    "del_",
    "ﬁ",  # a ligature that Python would read as `fi`
    "µ",
    "名前",
    "x" * 5000,
]


@pytest.mark.parametrize("name", HOSTILE, ids=lambda name: name[:12])
def test_names_never_reach_the_generated_source(name: str) -> None:
    source = f"""{name} |-> 0, a |-> [1, -2], {name}2 |-> true,
        proc {name} {{ {name} < 3 |>* {name} := {name} + a[{name} % 2] }}
        True |> {name}(); {{{name}3 |-> 4, {name}2 |> spawn({name}3 == 4 |> a[{name}] := {name}3 / {name})}};
        assert {name}2 <| {name} == 0 |> {name} := 1"""
    system = porcini.loads(source).system()
    assert words_of(system.source) <= WORDS
    report = porcini.run(porcini.loads(source), limits=porcini.Limits(max_depth=50))
    assert report.counts.events >= 3, "it does run, whatever its variables are called"


@pytest.mark.parametrize(
    "literal",
    [
        "1);__import__('os')",
        "'x'",
        '"""',
        "0x10",
        "1e9",
        "1_0",
        "1j",
        "0b1",
        "f(1)",
        "\\n1",
        "1 if x else 2",
        "lambda: 1",
    ],
)
def test_literals_are_digits(literal: str) -> None:
    with pytest.raises(porcini.InputError):
        porcini.loads(f"x |-> 0, True |> x := {literal}")


def test_leading_zeros_are_decimal() -> None:
    assert porcini.run(porcini.loads("x |-> 007, True |> x := x + 010")).outcomes[0].state["x"] == 17


def words_of(source: str) -> set[str]:
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    found = list(tokens)
    assert not [t for t in found if t.type == tokenize.STRING]
    names = {t.string for t in found if t.type == tokenize.NAME}
    return {name for name in names if not keyword.iskeyword(name) or name in ("True", "False", "None")}
