"""Clocks were virtual in the user's modules only: a package that is not instrumented and has imported `time` or
`datetime` by name saw real time beside a virtual `sleep`, which is a wrong pass or a false alarm for a circuit
breaker. Random numbers of `random.Random()` and `uuid1` were those of the machine, too.
"""

from __future__ import annotations

import asyncio
import datetime
import importlib
import json
import os
import random
import subprocess
import sys
import time
import uuid
from typing import Any

import pytest

import porcini

PACKAGE = """
import random, time as clocks, uuid
from dataclasses import dataclass, field
from datetime import date, datetime, timezone
from functools import partial
from os import urandom
from time import clock_gettime, CLOCK_MONOTONIC, CLOCK_REALTIME, localtime, gmtime, monotonic, perf_counter
from time import strftime, time, time_ns

class Holding:
    clock = staticmethod(monotonic)

@dataclass
class Event:
    at: float = field(default_factory=time)

def by_default(clock=monotonic, *, other=time):
    return clock(), other() - EPOCH

def closing(clock):
    def tell(): return clock()
    return tell

in_a_closure = closing(monotonic)
EPOCH = 1_767_225_600

def elapsed():
    now = (
        time() - EPOCH, monotonic(), perf_counter(), time_ns() / 1e9 - EPOCH, clocks.time() - EPOCH,
        clock_gettime(CLOCK_MONOTONIC), clock_gettime(CLOCK_REALTIME) - EPOCH, Holding.clock(), Event().at - EPOCH,
        *by_default(), in_a_closure(),
        datetime.now().timestamp() - EPOCH, datetime.now(timezone.utc).timestamp() - EPOCH,
        datetime.utcnow().replace(tzinfo=timezone.utc).timestamp() - EPOCH, datetime.today().timestamp() - EPOCH,
        clocks.mktime(localtime()) - EPOCH, clocks.mktime(clocks.strptime(strftime("%c"))) - EPOCH,
    )
    return sorted({round(each, 3) for each in now})

def days():
    return str(date.today()), gmtime().tm_year

def chance():
    return urandom(4), random.Random().random(), random.SystemRandom().random(), uuid.uuid1().int, uuid.uuid4().int
"""


@pytest.fixture
def package(tmp_path, monkeypatch) -> Any:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "clocked_package.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "clocked_package", raising=False)
    return importlib.import_module("clocked_package")


def test_time_is_virtual_in_all_packages(package) -> None:
    async def waits() -> Any:
        before = package.elapsed()
        await asyncio.sleep(3600)
        return before, package.elapsed(), package.days()

    (outcome,) = porcini.explore(waits).outcomes
    assert outcome.state["result"] == "([0.0], [3600.0], ('2026-01-01', 2026))"


def test_chance_is_the_same_in_every_run(package) -> None:
    async def draws() -> Any:
        return package.chance()

    results = {str(porcini.explore(draws).outcomes[0].state) for _ in range(2)}
    assert len(results) == 1
    assert package.chance() != package.chance()


def test_everything_is_as_it_was_afterwards(package) -> None:
    watched = {
        "now": vars(datetime.datetime)["now"],
        "time": time.time,
        "urandom": os.urandom,
        "seed": random.Random.seed,
        "safe": uuid._generate_time_safe,
        "package": package.time,
        "default": package.by_default.__defaults__,
        "held": package.Holding.clock,
    }

    async def nothing() -> None:
        assert time.time is not watched["time"]

    porcini.explore(nothing)
    assert watched == {
        "now": vars(datetime.datetime)["now"],
        "time": time.time,
        "urandom": os.urandom,
        "seed": random.Random.seed,
        "safe": uuid._generate_time_safe,
        "package": package.time,
        "default": package.by_default.__defaults__,
        "held": package.Holding.clock,
    }
    assert abs(datetime.datetime.now().timestamp() - time.time()) < 60
    assert time.time() != pytest.approx(1_767_225_600, abs=3600)


def test_a_module_that_is_loaded_in_a_step_has_virtual_time_in_later_runs_too(tmp_path, monkeypatch) -> None:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "loaded_late.py").write_text("from time import monotonic as clock")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "loaded_late", raising=False)

    async def loads() -> Any:
        import loaded_late

        await asyncio.sleep(5)
        return loaded_late.clock()

    for _ in range(2):
        assert porcini.explore(loads).outcomes[0].state["result"] == "5.0"
    assert abs(sys.modules["loaded_late"].clock() - time.monotonic()) < 60


HOLDERS = """
import asyncio, time as clocks
from time import time

class Holding:
    clock = staticmethod(time)

def by_default(clock=time): return clock()
def closing(clock): return lambda: clock()

in_a_closure = closing(time)

async def main():
    before = time()
    await asyncio.sleep(5)
    return time() - before, {clocks.time(), Holding.clock(), by_default(), in_a_closure()} == {1_767_225_605.0}
"""


def test_clocks_are_virtual_in_a_process_in_which_nobody_has_frozen_anything(tmp_path) -> None:
    """As pytest with our `conftest.py` has: where it was a session that froze what there was, no holder of a clock
    was found in it, and all of them told the real time."""
    (tmp_path / "holders.py").write_text(HOLDERS)
    command = [sys.executable, "-m", "porcini", "explore", "holders:main", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [outcome["state"] for outcome in json.loads(done.stdout)["outcomes"]] == [{"result": "(5.0, True)"}]
