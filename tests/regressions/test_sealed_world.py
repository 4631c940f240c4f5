"""A clock that an object had kept since before the test told real time, beside a virtual `sleep`: a circuit
breaker
never opened again. Times of files were real, what a run changed in the environment was there in the next one, and
random numbers of numpy and names of temporary files were others in every run.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import porcini

EPOCH = 1_767_225_600


class Breaker:
    def __init__(self, clock: Any = time.monotonic) -> None:
        self.clock = clock


class Slotted:
    __slots__ = ("clock",)

    def __init__(self) -> None:
        self.clock = time.perf_counter


KEPT = Breaker()
SLOTTED = Slotted()
CLOCKS: dict[str, Any] = {"time": time.time, "all": [time.monotonic, (time.time,)]}
PARTIAL = partial(time.clock_gettime, time.CLOCK_MONOTONIC)


async def keeps_clocks() -> Any:
    await asyncio.sleep(50)
    return KEPT.clock(), SLOTTED.clock(), CLOCKS["time"]() - EPOCH, CLOCKS["all"][0](), PARTIAL()


def test_a_clock_that_an_object_has_kept() -> None:
    (outcome,) = porcini.explore(keeps_clocks).outcomes
    assert outcome.state["result"] == "(50.0, 50.0, 50.0, 50.0, 50.0)"
    assert KEPT.clock is time.monotonic
    assert SLOTTED.clock is time.perf_counter
    assert {"time": time.time, "all": [time.monotonic, (time.time,)]} == CLOCKS
    assert PARTIAL.func is time.clock_gettime


def test_times_of_files(tmp_path: Path) -> None:
    old = tmp_path / "old"
    old.write_text("")
    os.utime(old, (time.time() - 1000,) * 2)

    async def ages() -> Any:
        new, moved, given = tmp_path / "new", tmp_path / "moved", tmp_path / "given"
        await asyncio.sleep(10)
        new.write_text("")
        given.write_text("")
        os.utime(given, (5, 6))
        await asyncio.sleep(100)
        new.rename(moved)
        found = moved.stat()
        assert found.st_mtime_ns == int(found.st_mtime * 1e9) and found[8] == int(found.st_mtime)
        return (
            time.time() - os.path.getmtime(moved),  # noqa: PTH204
            round(time.time() - os.stat(old).st_mtime, -1),  # noqa: PTH116
            given.stat().st_mtime,
            found.st_size,
        )

    (outcome,) = porcini.explore(ages).outcomes
    assert outcome.state["result"] == "(100.0, 1110.0, 6.0, 0)"
    assert abs(time.time() - (tmp_path / "moved").stat().st_mtime) < 600


def test_the_environment_and_the_folder_are_put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORCINI_KEPT", "1")
    folder = Path.cwd()

    async def changes() -> Any:
        found = os.environ.get("PORCINI_KEPT"), os.environ.get("PORCINI_NEW"), Path.cwd() == folder
        os.environ["PORCINI_NEW"] = "2"
        del os.environ["PORCINI_KEPT"]
        os.chdir("/")
        return found

    (outcome,) = porcini.explore(changes).outcomes
    assert outcome.state["result"] == "('1', None, True)"
    assert (os.environ.get("PORCINI_KEPT"), os.environ.get("PORCINI_NEW")) == ("1", None)
    assert Path.cwd() == folder


async def draws() -> Any:
    with tempfile.NamedTemporaryFile() as file:
        return file.name, os.getrandom(4), ssl.RAND_bytes(4)


def test_chance_in_c_and_names_of_files() -> None:
    first, second = (porcini.explore(draws).outcomes[0].state for _ in range(2))
    assert first == second


def test_chance_of_numpy() -> None:
    numpy = pytest.importorskip("numpy", reason="numpy is not installed")

    async def draw() -> float:
        return float(numpy.random.rand())

    before = numpy.random.get_state()[1].tolist()
    assert porcini.explore(draw).verdict == "holds"
    assert numpy.random.get_state()[1].tolist() == before


async def measures_with_real_time() -> bool:
    return time.time() > EPOCH + 1000 and KEPT.clock() > 0


def test_real_time_is_left_alone_where_it_is_asked_for() -> None:
    guards = porcini.Guards(real_time=True)
    assert porcini.explore(measures_with_real_time, guards=guards).outcomes[0].state["result"] is True
