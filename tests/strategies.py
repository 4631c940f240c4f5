"""GCL programs made by Hypothesis, as text: small, over the whole language, and full of traps.

Guards come and go, guards divide by zero, indices leave their array, processes spawn in branches and loops,
assertions fail, scopes shadow. Programs stay small enough for `exhaustive`.
"""

from __future__ import annotations

import os

from hypothesis import strategies as st

PROGRAMS = int(os.environ.get("PROGRAMS", "200"))
"""On how many programs the quickest laws are tried; the others take a share of it. `make conformance` has
thousands, and PROGRAMS=2000 make test asks the laws about ten times as many."""

BINDINGS = "x |-> 0, y |-> 1, b |-> true, a |-> [0, 1],"
INT = ["0", "1", "2", "x", "y", "x + 1", "y - x", "2 * x", "-y", "a[0]", "a[x]", "a[y % 2]", "x / y", "y % x"]
BOOL = [
    "True",
    "b",
    "not b",
    "x == 0",
    "x < 2",
    "y >= x",
    "x != y",
    "b and x < 2",
    "b or a[1] == 1",
    "a[x] < 2",
    "x != 0 and y / x > 0",
    "a[a[0]] == 0",
    "not (b and x == y)",
    "b == (x > 0)",
]
TARGETS = ["x", "y", "a[0]", "a[1]", "a[x]", "a[y % 2]"]
LOCAL_INT = ["i", "i + 1", "x + i", "a[i]", "i * y"]
LOCAL_BOOL = ["i < 2", "i == x", "b and i > 0"]


class _Budget:
    """How many events a program may still ask for."""

    def __init__(self, left: int) -> None:
        self.left = left


def _guard(draw: st.DrawFn, local: bool) -> str:
    if draw(st.integers(0, 2)) == 0:
        return "True"
    return draw(st.sampled_from(BOOL + LOCAL_BOOL * local))


def _simple(draw: st.DrawFn, budget: _Budget, depth: int, local: bool) -> str:
    kinds = ["int", "int", "int", "bool", "bool", "skip", "assert", "local" if local else "int"]
    if depth < 2 and budget.left > 1:
        kinds += ["spawn", "nested", "call"]
    kind = draw(st.sampled_from(kinds))
    budget.left -= 1
    value = st.sampled_from(INT + LOCAL_INT * local)
    if kind == "int":
        return f"{draw(st.sampled_from(TARGETS + ['a[i]'] * local))} := {draw(value)}"
    if kind == "local":
        return f"i := {draw(value)}"
    if kind == "bool":
        return f"b := {draw(st.sampled_from(BOOL + LOCAL_BOOL * local))}"
    if kind == "assert":
        return f"assert {draw(st.sampled_from(BOOL))}"
    if kind == "spawn":
        return f"spawn({_statements(draw, budget, depth + 1, local, 2)})"
    if kind == "nested":
        return f"({_statements(draw, budget, depth + 1, local, 2)})"
    return "p()" if kind == "call" else "skip"


def _statement(draw: st.DrawFn, budget: _Budget, depth: int, local: bool) -> str:
    kinds = ["guarded"] * 5 + ["choice", "choice", "skip", "loop"]
    if depth < 2:
        kinds += ["scope"]
    kind = draw(st.sampled_from(kinds))
    if kind == "skip":
        return "skip"
    if kind == "scope":
        return f"{{i |-> {draw(st.integers(0, 1))}, {_statements(draw, budget, depth + 1, True, 2)}}}"
    if kind == "loop":
        # Each round must come closer to the end; the guard can still be turned off by others.
        variable = "i" if local else draw(st.sampled_from("xy"))
        return f"{variable} < {draw(st.integers(1, 2))} |>* {variable} := {variable} + 1"
    guard = _guard(draw, local)
    first = _simple(draw, budget, depth, local)
    if kind == "guarded":
        return f"{guard} |> {first}"
    return f"{first} <| {guard} |> {_simple(draw, budget, depth, local)}"


def _statements(draw: st.DrawFn, budget: _Budget, depth: int, local: bool, most: int) -> str:
    parts = [_statement(draw, budget, depth, local)]
    while budget.left > 0 and len(parts) < most and draw(st.booleans()):
        parts.append(_statement(draw, budget, depth, local))
    return "; ".join(parts)


@st.composite
def programs(draw: st.DrawFn, processes: int = 3, events: int = 7) -> str:
    """A program in which the initial process spawns a few others and then goes on itself."""
    budget = _Budget(events)
    procedure = _statements(draw, _Budget(1), 2, False, 2)
    body = []
    for _ in range(draw(st.integers(1, processes))):
        body.append(f"True |> spawn({_statements(draw, budget, 1, False, 3)})")
    if draw(st.booleans()):
        body.append(_statement(draw, budget, 0, False))
    return f"{BINDINGS}\nproc p {{ {procedure} }}\n" + ";\n".join(body)


GUARDS = [
    *("True", "True", "b", "not b", "c", "b and c", "b or c", "not b and c", "x == 1", "x == 1 or x == 3"),
    *("x < 2", "x >= y", "b and x > 0", "c == (x > 1)", "a[x % 2] == 0", "a[0] == a[1]", "b and c and y == 1"),
]
EFFECTS = [
    *("b := true", "b := false", "c := not c", "c := b", "x := x + 1", "x := 0", "y := x", "y := 1 - y"),
    *("a[0] := 1", "a[x % 2] := y", "a[1] := a[0]", "skip"),
]


@st.composite
def guard_programs(draw: st.DrawFn, processes: int = 3, steps: int = 3) -> str:
    """Processes of a few guarded steps over switches, counters and an array: guards are turned off and on."""

    def step() -> str:
        guard, effect = draw(st.sampled_from(GUARDS)), draw(st.sampled_from(EFFECTS))
        shape = draw(st.integers(0, 5))
        if shape == 0:
            return f"{effect} <| {guard} |> {draw(st.sampled_from(EFFECTS))}"
        if shape == 1:
            inner = draw(st.sampled_from(GUARDS))
            return f"({inner} |> {effect}) <| {guard} |> {draw(st.sampled_from(EFFECTS))}"
        return f"{guard} |> {effect}"

    body = []
    for _ in range(draw(st.integers(2, processes))):
        body.append(f"True |> spawn({'; '.join(step() for _ in range(draw(st.integers(1, steps))))})")
    initial = (
        f"b |-> {draw(st.sampled_from(['true', 'false']))}, c |-> {draw(st.sampled_from(['true', 'false']))},"
    )
    return f"{initial} x |-> 0, y |-> 1, a |-> [0, 1],\n" + ";\n".join(body)
