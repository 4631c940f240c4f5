"""Installed packages were opaque unless they were named, and naming them broke tests: a cache that is keyed by
`id`, a
registry that grows with every run. They are followed as they are met now, and what they keep for themselves is put
back when a run begins. The packages here are stand-ins that have the shape of real ones.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from typing import Any

import pytest

import porcini
from porcini.coroutines import NondeterministicProgram

PACKAGE = """
import asyncio, contextlib, functools, weakref

_contexts = {}      # by id, as fastapi has one
_states = weakref.WeakKeyDictionary()       # by task, as anyio has one
_ready = None

class Client:
    def __init__(self, handler, **options):
        self.handler, self.options = handler, options
        self.lock = asyncio.Lock()

    async def send(self, path):
        global _ready
        if _ready is None:
            _ready = path
        context = _contexts.setdefault(id(self.handler), {})
        context["path"] = path
        _states[asyncio.current_task()] = path
        with entered(path) as name, contextlib.ExitStack() as stack:
            stack.callback(len, name)
            options = merge(a=1, b=2)
            assert _states[asyncio.current_task()] == path
            async with self.lock:
                await asyncio.sleep(0)
            return await self.handler(name), options["a"]

class Event:
    def __new__(cls):
        return object.__new__(cls)
    def __init__(self):
        self.future = asyncio.Future()
    def set(self):
        self.future.set_result(None)

def merge(**given):
    given["c"] = 3
    return given

@contextlib.contextmanager
def entered(name):
    yield cached(name)

@functools.lru_cache
def cached(name):
    return name.strip()

async def lost_update(box):
    n = box.n
    await asyncio.sleep(0)
    box.n = n + 1

async def waits():
    event = Event()
    asyncio.get_running_loop().call_soon(event.set)
    await event.future

def looks_at_debug():
    return asyncio.get_running_loop().get_debug()

class Counting:
    number = 0
    odd, even = [1], [2]

async def counts_for_ever():
    Counting.number += 1
    assert Counting.odd[0] if Counting.number % 2 else Counting.even[0]
    await asyncio.sleep(0)

slow = None

async def set_up_slowly():
    global slow
    if slow is None:
        await asyncio.sleep(0)
        slow = 1
"""


@pytest.fixture
def package(tmp_path, monkeypatch) -> Any:
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (folder / "met_package.py").write_text(PACKAGE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "met_package", raising=False)
    return importlib.import_module("met_package")


def opaque(report: Any) -> list[str]:
    return [note for note in report.notes if "opaque" in note]


def test_requests_that_share_nothing_are_one_order(package: Any) -> None:
    async def alone(path: str) -> Any:
        async def handler(name: str) -> str:
            await asyncio.sleep(0)
            return name

        return await package.Client(handler).send(path)

    async def requests() -> Any:
        return await asyncio.gather(alone("a"), alone("b"))

    report = porcini.explore(requests)
    assert package._contexts == {}
    narrowed = porcini.explore(requests, packages=["some_other_package"])
    assert report.verdict == narrowed.verdict == "holds"
    assert report.counts.executions < narrowed.counts.executions


def test_a_race_inside_of_a_package_is_found(package: Any) -> None:
    class Box:
        n = 0

    async def updates() -> int:
        box = Box()
        await asyncio.gather(package.lost_update(box), package.lost_update(box))
        return box.n

    report = porcini.explore(updates)
    assert {outcome.state["result"] for outcome in report.outcomes} == {1, 2}
    assert report.counts.executions == 4


def test_new_objects_of_packages_have_names_of_their_own(package: Any) -> None:
    async def events() -> bool:
        await asyncio.gather(package.waits(), package.waits())
        return bool(package.looks_at_debug())

    report = porcini.explore(events)
    assert (report.verdict, report.counts.executions) == ("holds", 1)


def test_a_race_of_the_users_for_what_is_set_up_once_is_not_hidden(package: Any) -> None:
    async def user() -> Any:
        await package.waits()
        if not hasattr(package, "client"):
            await asyncio.sleep(0)
            CLIENTS.setdefault("client", 1)
        return len(CLIENTS)

    CLIENTS.clear()
    with pytest.raises(NondeterministicProgram):
        porcini.explore(user)


CLIENTS: dict[str, int] = {}


def test_a_package_that_does_something_else_in_each_run_stays_opaque(package: Any) -> None:
    async def counts() -> None:
        await package.counts_for_ever()

    report = porcini.explore(counts)
    assert report.verdict == "holds"
    assert opaque(report)


def test_code_is_as_it_was_afterwards(package: Any) -> None:
    before = package.Client.send.__code__

    async def sends() -> Any:
        async def handler(name: str) -> str:
            return name

        return await package.Client(handler).send("a")

    assert porcini.explore(sends).verdict == "holds"
    assert package.Client.send.__code__ is before
    assert sys.getprofile() is None
