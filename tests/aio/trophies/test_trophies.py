"""Bugs in released versions of libraries, found by exploring small tests of them. `docs/trophies.md` tells more.

A scenario is explored in a process of its own, with the version that has the bug. Its schedule is replayed there.
Where a later version has mended it, that one holds in every order.
"""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from aio.trophies.environments import NotInstalled, folder_with

SCENARIOS = Path(__file__).parent / "scenarios"


@dataclass(frozen=True)
class Trophy:
    scenario: str
    has_it: tuple[str, ...]
    package: str
    kind: str
    at_most: int
    """By this schedule it must have been found."""
    mended: tuple[str, ...] = ()
    python: tuple[int, int] | None = None
    """The last version of Python that shows it."""

    def __str__(self) -> str:
        return self.has_it[0]


POOL = "httpcore_pool:test_a_cancelled_request_leaves_the_pool_usable"
CLIENT = "psycopg_pool_clients:test_a_cancelled_client_is_cancelled"
REPLY = "redis_client:test_a_cancelled_command_takes_its_reply_with_it"
EVICTED = "lru_cache:test_an_evicted_computation_comes_to_its_end"
CLEARED = "lru_cache:test_a_cleared_cache_lets_computations_come_to_their_end"
SUCCESSOR = "lru_cache:test_a_computation_that_was_given_up_leaves_its_successor_alone"
READER = "readers_and_writers:test_a_reader_behind_a_writer_that_gave_up"
STAMPEDE = "stampede:test_a_failure_is_no_reason_for_a_stampede"
RETRYING = "retrying:test_two_calls_by_one_object"
BREAKERS = "circuit_breakers:test_half_open_lets_one_request_through"
HALF_OPEN = "half_open:test_half_open_lets_one_call_through"

TROPHIES = (
    Trophy(POOL, ("httpcore==1.0.9", "anyio"), "httpcore", "deadlock", 10),
    Trophy(POOL, ("httpcore==0.18.0", "anyio"), "httpcore", "deadlock", 10),
    Trophy(CLIENT, ("psycopg_pool==3.3.3", "psycopg[binary]"), "psycopg_pool", "assertion", 60, python=(3, 11)),
    Trophy(CLIENT, ("psycopg_pool==3.3.0", "psycopg[binary]"), "psycopg_pool", "assertion", 60),
    Trophy(REPLY, ("redis==4.5.1", "async-timeout"), "redis", "assertion", 100, ("redis==4.5.5", "async-timeout")),
    Trophy(EVICTED, ("async-lru==2.0.2",), "async_lru", "deadlock", 5, ("async-lru==2.0.3",)),
    Trophy(CLEARED, ("async-lru==2.0.3",), "async_lru", "deadlock", 5, ("async-lru==2.0.4",)),
    Trophy(SUCCESSOR, ("async-lru==2.4.0",), "async_lru", "assertion", 10),
    Trophy(READER, ("aiorwlock==1.5.1",), "aiorwlock", "deadlock", 10),
    Trophy(STAMPEDE, ("aiocache==0.12.3",), "aiocache", "assertion", 10),
    Trophy(RETRYING, ("tenacity==9.2.1",), "tenacity", "assertion", 10),
    Trophy(BREAKERS, ("purgatory==3.0.1",), "purgatory", "assertion", 10),
    Trophy(HALF_OPEN, ("aiobreaker==1.2.0",), "aiobreaker", "assertion", 10),
)


def ask(trophy, requirements, command, *options):
    """What the command says of a scenario with these packages, as JSON."""
    try:
        packages = folder_with(*requirements)
    except NotInstalled as problem:
        pytest.skip(str(problem))
    line = [sys.executable, "-m", "porcini", command, trophy.scenario, *options]
    line += ["--packages", trophy.package, "--json"]
    path = os.pathsep.join([str(packages), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        line, cwd=SCENARIOS, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, timeout=300
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("trophy", TROPHIES, ids=str)
def test_a_bug_is_found_and_seen_again(trophy):
    if trophy.python is not None and sys.version_info[:2] > trophy.python:
        pytest.skip(f"Python {sys.version_info.major}.{sys.version_info.minor} does not show it")
    found = ask(trophy, trophy.has_it, "explore", "--first", "--timeout", "120")
    assert found["verdict"] == "violated"
    assert trophy.kind in {outcome["kind"] for outcome in found["outcomes"]}
    assert found["counts"]["executions"] <= trophy.at_most
    (schedule,) = found["counterexample"]["schedules"]
    again = ask(trophy, trophy.has_it, "replay", schedule)
    assert [outcome["kind"] for outcome in again["outcomes"]] == [trophy.kind]


@pytest.mark.parametrize("trophy", [trophy for trophy in TROPHIES if trophy.mended], ids=str)
def test_the_version_that_mended_it_holds(trophy):
    found = ask(trophy, trophy.mended, "explore", "--timeout", "120")
    assert (found["verdict"], found["stopped"]) == ("holds", "exhausted")
