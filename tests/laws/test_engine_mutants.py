"""Seeded bugs in the engines: each must be caught by comparing with `exhaustive` on these few programs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from laws.test_engine_laws import engines_agree
from porcini.core.errors import InternalError
from porcini.core.footprints import Footprint
from porcini.engines import search, wakeup, wakeup_sequences
from porcini.ir.analysis import footprint

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "dpor"))

from programs import PROGRAMS, TRAPS

SOURCES = [source for source, _, _ in TRAPS.values()] + [
    PROGRAMS["lastzero"](3),
    PROGRAMS["counter"](2),
    PROGRAMS["floating_read"](2),
    "x |-> 0, y |-> 0, True |> spawn(x == 0 |> y := 1); True |> spawn(True |> x := 1); True |> x := 2",
]


def all_agree() -> None:
    for source in SOURCES:
        engines_agree(source)


def test_without_a_mutant_all_engines_agree() -> None:
    all_agree()


def test_forgetting_write_write_conflicts(monkeypatch) -> None:
    def mutant(self: Footprint, other: Footprint) -> bool:
        return not self.writes.isdisjoint(other.reads) or not self.reads.isdisjoint(other.writes)

    monkeypatch.setattr(Footprint, "conflicts", mutant)
    caught()


def test_forgetting_that_a_guard_reads(monkeypatch) -> None:
    real = footprint._touched
    monkeypatch.setattr(footprint, "_touched", lambda read, *rest: real(read[1:], *rest))
    caught()


def test_skipping_blocked_processes(monkeypatch) -> None:
    real = wakeup_sequences.cuts
    monkeypatch.setattr(
        wakeup_sequences,
        "cuts",
        lambda execution, pid, step, at: () if step is None else real(execution, pid, step, at),
    )
    caught()


def test_reversing_neighbours_only(monkeypatch) -> None:
    monkeypatch.setattr(wakeup_sequences, "cuts", lambda *_: ())
    caught()


def test_dropping_one_wakeup_sequence(monkeypatch) -> None:
    real, dropped = wakeup.insert, []

    def mutant(tree, sequence, dependence):
        if not dropped and len(sequence) > 1:
            dropped.append(sequence)
            return False
        return real(tree, sequence, dependence)

    monkeypatch.setattr("porcini.engines.optimal.insert", mutant)
    caught()


def test_forgetting_to_wake_sleepers(monkeypatch) -> None:
    real = search.Search._open

    def mutant(self, run, actions, sleep, plan):
        sleep = self.nodes[-1].sleep if self.nodes else sleep
        return real(self, run, actions, dict(sleep), plan)

    monkeypatch.setattr(search.Search, "_open", mutant)
    caught()


def caught() -> None:
    with pytest.raises((AssertionError, InternalError, StopIteration)):
        all_agree()
