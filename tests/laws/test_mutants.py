"""Seeded bugs that the laws must catch: a law that no mutant breaks proves nothing."""

from __future__ import annotations

import pytest

from helpers import all_runs, system_of
from laws.test_gcl_laws import footprints_hold, swaps_agree
from porcini.core.footprints import Footprint
from porcini.ir.analysis import footprint
from porcini.ir.flat import codegen

RACES = [
    "x |-> 0, True |> spawn(True |> x := 1); True |> x := 2",
    "x |-> 0, y |-> 0, True |> spawn(x == 0 |> y := 1); True |> x := 2",
    "x |-> 0, y |-> 0, True |> spawn(True |> y := x); True |> x := 2",
    "i |-> 0, a |-> [0, 0], True |> spawn(True |> a[i] := 1); True |> a[0] := 2",
    "x |-> 0, y |-> 0, True |> spawn(x < 1 and y < 1 |>* y := y + 1); True |> x := 2",
]


def laws_hold() -> None:
    for source in RACES:
        system = system_of(source)
        for trace, _, _ in all_runs(system):
            swaps_agree(system, trace)
            footprints_hold(system, trace)


def forget_write_write(self: Footprint, other: Footprint) -> bool:
    return not self.writes.isdisjoint(other.reads) or not self.reads.isdisjoint(other.writes)


def forget_read_write(self: Footprint, other: Footprint) -> bool:
    return not self.writes.isdisjoint(other.writes)


def test_the_laws_hold_without_a_mutant() -> None:
    laws_hold()


@pytest.mark.parametrize("mutant", [forget_write_write, forget_read_write])
def test_forgetting_a_conflict_is_caught(monkeypatch, mutant) -> None:
    monkeypatch.setattr(Footprint, "conflicts", mutant)
    with pytest.raises(AssertionError):
        laws_hold()


def test_forgetting_that_a_guard_reads_is_caught(monkeypatch) -> None:
    real = footprint._touched
    monkeypatch.setattr(footprint, "_touched", lambda read, *rest: real(read[1:], *rest))
    with pytest.raises(AssertionError):
        laws_hold()


def test_forgetting_the_cells_that_are_written_is_caught(monkeypatch) -> None:
    real = codegen.cells
    monkeypatch.setattr(codegen, "cells", lambda reads, writes, slots: real(reads, (), slots))
    with pytest.raises(AssertionError):
        laws_hold()
