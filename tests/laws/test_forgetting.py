"""Variables that are not read any more are forgotten, and no others. That searches of states with this pass find
what all runs do is a law of `test_graph_laws` (gcl, abs) and of `test_promela_laws`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from unittest.mock import patch

import pytest

import porcini
from porcini.engines.catalogue import Options
from porcini.ir.operations import If, While
from porcini.ir.passes import forgetting

PLAIN = Options(reduction="none")

GCL_LINE = """x |-> 0, y |-> 0,
True |> spawn({t |-> 0, True |> t := x; y >= 0 |> y := y + 1; True |> x := t + 1; True |> y := y + 2});
True |> spawn({t |-> 0, True |> t := x; y >= 0 |> y := y + 1; True |> x := t + 1; True |> y := y + 2})"""
GCL_LOOP = """x |-> 0, y |-> 0,
True |> spawn({t |-> 1, i |-> 0, i < 2 |>* (True |> y := y + t; True |> t := x; True |> i := i + 1);
True |> y := y * 2; True |> y := y + 1}); True |> x := 5"""
ABS_BRANCH = """interface I { Unit m(); } class C implements I { Int x = 0;
Unit m() { Int t = this.x + 1; suspend; if (this.x == 0) { this.x = t; } else { this.x = t + 10; } suspend;
this.x = this.x % 3; } }
{ I c = new C(); c!m(); c!m(); }"""
ABS_LOOP = """interface I { Unit m(); } class C implements I { Int x = 0;
Unit m() { Int i = 0; Int t = 1; while (i < 2) { this.x = this.x + t; t = this.x; suspend; i = i + 1; }
this.x = this.x % 3; suspend; } }
{ I c = new C(); c!m(); c!m(); }"""
PML_LOOP = """byte x; active [2] proctype P() { byte t = 1, i;
do :: i < 2 -> x = x + t; t = x + 1; i++ :: else -> break od; x = x % 3; x = x + 1 }"""


def _found(source: str, language: str, optimise: bool = True) -> tuple[set[tuple[str, str]], int]:
    model = porcini.loads(source, language)
    report = porcini.explore(model, engine="graph", options=replace(PLAIN, optimise=optimise))
    return {(o.kind, str(sorted(o.state.items()))) for o in report.outcomes}, report.counts.states


def _next_step_only(template: Any) -> list[frozenset[Any]]:
    """Does not see what is read after the next step."""
    nothing: frozenset[Any] = frozenset()
    return [
        nothing.union(*(forgetting._live_before_edge(edge, nothing) for edge in point.edges))
        for point in template.points
    ]


def _without(kind: type, real: Any = forgetting._live_before) -> Any:
    """Does not see what operations of a kind have inside."""

    def live_before(op: Any, after: Any) -> Any:
        if isinstance(op, kind):
            return after | forgetting._read(forgetting.reads_of(op))
        return real(op, after)

    return live_before


PROGRAMS = [
    (GCL_LINE, "gcl"),
    (GCL_LOOP, "gcl"),
    (ABS_BRANCH, "abs"),
    (ABS_LOOP, "abs"),
    (PML_LOOP, "pml"),
]


@pytest.mark.parametrize(("source", "language"), PROGRAMS)
def test_there_are_fewer_states_with_the_same_ends(source: str, language: str) -> None:
    ends, states = _found(source, language)
    plain_ends, plain_states = _found(source, language, optimise=False)
    assert ends == plain_ends
    assert states < plain_states


@pytest.mark.parametrize(
    ("source", "language", "name", "mutant"),
    [
        (GCL_LINE, "gcl", "_live_at", _next_step_only),
        (GCL_LOOP, "gcl", "_live_at", _next_step_only),
        (PML_LOOP, "pml", "_live_at", _next_step_only),
        (ABS_BRANCH, "abs", "_live_before", _without(If)),
        (ABS_LOOP, "abs", "_live_before", _without(While)),
        (GCL_LINE, "gcl", "_read", lambda exprs: frozenset()),
    ],
)
def test_forgetting_what_is_still_read_is_caught(source: str, language: str, name: str, mutant: Any) -> None:
    wanted, _ = _found(source, language, optimise=False)
    with patch.object(forgetting, name, mutant):
        try:
            ends, _ = _found(source, language)
        except Exception:  # a task that counts with None
            return
    assert ends != wanted


def test_what_others_may_read_is_kept() -> None:
    source = """byte x; active proctype P() { byte t; t = 3; x = 1; end: x == 5 }
    active proctype Q() { x == 1; x = 2 }
    ltl { [] (x == 2 -> P:t == 3) }"""
    model = porcini.loads(source, "pml")
    assert porcini.check(model, options=PLAIN).verdict == "holds"
