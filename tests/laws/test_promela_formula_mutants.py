"""Seeded bugs in the formulas of Promela models: each must be caught by the laws on these few models."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

import porcini
from laws.test_promela_formulas import (
    do_not_commute,
    fagiani_agrees,
    options_agree,
    permutations_agree,
    semantic_agrees,
    symbolic_agrees,
)
from porcini.core.errors import InternalError
from porcini.engines import semantic
from porcini.engines.fagiani import Permuter
from porcini.ir import expr
from porcini.ir.expr import TRUE
from porcini.ir.operations import Assert
from porcini.ir.packed.formulas import lines, options
from porcini.ir.packed.formulas.lines import Lines
from porcini.ir.packed.formulas.options import WorldOptions
from porcini.ir.packed.formulas.outcomes import Outcomes
from porcini.ir.packed.formulas.reach import Reach
from porcini.ir.packed.formulas.recorded import RecordedRuns
from porcini.ir.packed.formulas.symbolic import SymbolicPacked
from porcini.ir.packed.view import PackedView

SHARED = "byte x; byte y; byte z; byte a;\n"
PROCESSES = "active proctype {}() {{ {} }}\n"


def model(*bodies: str, declared: str = "") -> str:
    processes = (PROCESSES.format(name, body) for name, body in zip("PQRS", bodies, strict=False))
    return SHARED + declared + "".join(processes)


MEETING, BUFFER = "chan r = [0] of { byte };\n", "chan c = [2] of { byte };\n"
BRANCH = "if :: z == 0 -> y = 5 :: else -> y = 6 fi"
MODELS = [
    # One choice conflicts with another process, the other one does not.
    model("if :: a = 1 :: z = 1 fi", BRANCH),
    model("if :: z = 1 :: a = 1 fi", BRANCH),
    model(BRANCH, "if :: a = 1 :: z = 1 fi"),
    # Who waits for a rendezvous may do something else instead.
    model("byte i; if :: r?i -> z = 1 :: y == 1 -> z = 2 fi", "r!3", "y = 1", declared=MEETING),
    model("y = 1", "r!3", "byte i; if :: y == 1 -> z = 2 :: r?i -> z = 1 fi", declared=MEETING),
    # A message is worked out before anything of it is stored.
    model("x = 1; y = 2; r!y,x", "r?x,y", declared="chan r = [0] of { byte, byte };"),
    # Inside `atomic`: the turn is lost, kept, handed on; a `timeout` does not count.
    model("atomic { x = 1; y == 1 -> x = 2 }", "y = 1", "z = x"),
    model("atomic { x = 1; timeout; x = 2 }", "y = x; z = x"),
    model("atomic { r!1; x = 1 }", "atomic { r?z; y = x }", "a = x", declared=MEETING),
    model("if :: x == 1 -> y = 1 :: z == 1 -> y = 2 :: else -> y = 3 fi", "x = 1", "z = 1"),
    model("d_step { if :: x > 1 -> y = 1 / (x - 2) :: else -> y = 2 fi; z = y }", "x = x + 1"),
    # Values wrap around.
    model("x = x + 255", "y = x; x < 5 -> z = 1"),
    model(
        "c!x + 254; c?y",
        "x = 3; if :: c??[1] -> z = 1 :: c?[255] -> z = 2 fi",
        declared=BUFFER,
    ),
    model("c!!x; c!!2; c!!0", "x = 1; c??2; c?y", declared="chan c = [3] of { byte };"),
    # Numbers of processes, and who gets them.
    "byte x; proctype R(byte g) { x = g }\nactive proctype P() { run R(1) } active proctype Q() { run R(2) }",
    # A number that is used again, by a process that is blocked in the end.
    "chan c = [1] of { byte }; byte x; proctype R() { c!1 }\ninit { run R(); _nr_pr == 1; run R(); x = _nr_pr }",
    # A choice that comes up, and one that goes.
    model("if :: y == 0 -> z = 1 :: x == 1 -> z = 2 fi", "x = 1"),
    model("x == 0 -> z = 1", "a = 1; x = 0"),
    model("assert(x != 2)", "x = x / y", "y = 1"),
]


def options_are_actions(loaded: porcini.Model) -> None:
    for seed in range(3):
        view = loaded.system()
        assert isinstance(view, PackedView)
        options_agree(view, Random(seed))


def permutations_are_runs(loaded: porcini.Model) -> None:
    for seed in range(3):
        permutations_agree(loaded, Random(seed))


def paths_are_runs(loaded: porcini.Model) -> None:
    symbolic_agrees(loaded, inputs={"x": range(4)})


LAWS = [options_are_actions, permutations_are_runs, fagiani_agrees, paths_are_runs, semantic_agrees]


def caught_by(law: Callable[[porcini.Model], None], known: int = 0) -> None:
    """By any of the models; the one that is known to do it comes first, which saves time only."""
    with pytest.raises((AssertionError, InternalError, porcini.InputError)):
        for source in [MODELS[known], *MODELS]:
            law(porcini.loads(source, "pml"))


@pytest.mark.parametrize("source", MODELS)
def test_the_laws_hold_without_a_mutant(source: str) -> None:
    for law in LAWS:
        law(porcini.loads(source, "pml"))


def test_forgetting_what_a_process_could_do_instead(monkeypatch) -> None:
    monkeypatch.setattr(Permuter, "_touched", lambda self, step, store: step.touched(store))
    caught_by(fagiani_agrees)


def test_forgetting_where_a_receiver_stood(monkeypatch) -> None:
    monkeypatch.setattr(RecordedRuns, "_points_of_moved", lambda self, *about: {})
    caught_by(fagiani_agrees)


def test_a_timeout_that_keeps_the_turn(monkeypatch) -> None:
    monkeypatch.setattr(WorldOptions, "patient", property(lambda self: self))
    monkeypatch.setattr(WorldOptions, "quiet", TRUE)
    caught_by(options_are_actions)


def test_always_keeping_the_turn(monkeypatch) -> None:
    monkeypatch.setattr(WorldOptions, "can_move", lambda self, me, point: TRUE)
    caught_by(options_are_actions)


def test_storing_a_message_piece_by_piece(monkeypatch) -> None:
    monkeypatch.setattr(expr, "free", lambda node: frozenset())
    caught_by(options_are_actions)


def test_values_without_bounds(monkeypatch) -> None:
    monkeypatch.setattr(lines, "wrapped", lambda term, bounds: term.value)
    caught_by(options_are_actions)


def test_numbers_for_processes_without_asking(monkeypatch) -> None:
    real = Lines._start
    monkeypatch.setattr(
        Lines, "_start", lambda self, *about: (op for op in real(self, *about) if not isinstance(op, Assert))
    )
    caught_by(permutations_are_runs)


def test_else_beside_what_can_be_done(monkeypatch) -> None:
    monkeypatch.setattr(options, "rivals", lambda edge, edges: [])
    caught_by(options_are_actions)


def test_choices_that_nobody_looks_at(monkeypatch) -> None:
    """Outcomes do not tell: engines look at choices that come up besides. Classes do."""
    monkeypatch.setattr(semantic, "keeps_guards", lambda *about: True)
    with pytest.raises(AssertionError):
        do_not_commute("if :: y == 1 -> z = 1 :: x == 1 -> z = 2 fi", "x = 1")


def test_forgetting_what_comes_later(monkeypatch) -> None:
    monkeypatch.setattr(Reach, "later", Reach.now)
    caught_by(paths_are_runs, known=12)


def test_inputs_without_bounds(monkeypatch) -> None:
    monkeypatch.setattr(SymbolicPacked, "assumed", TRUE)
    caught_by(paths_are_runs, known=12)


def test_effects_of_what_fails(monkeypatch) -> None:
    real = Outcomes._stopped
    monkeypatch.setattr(
        Outcomes, "_stopped", lambda self, who, line, *rest: real(self, who, (), *rest)
    )  # fmt: skip
    caught_by(paths_are_runs)
