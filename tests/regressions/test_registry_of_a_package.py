"""fakeredis keeps its servers in a dict of a class, under a random name. Random numbers are the same in every run,
so each run found what the one before had left: a correct test failed "in schedule 1", and no order that passes was
found. Such dicts are put back now; and what ends in another way when more is followed is an error, no verdict.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from typing import Any

import pytest

import porcini
from porcini.coroutines import NondeterministicProgram

SERVERS = """
import asyncio, uuid

class Server:
    servers = {}

    def __init__(self):
        self.values = {}

    @classmethod
    def get(cls):
        name = uuid.uuid4().hex
        if name not in cls.servers:
            cls.servers[name] = cls()
        return cls.servers[name]

async def add(server):
    value = server.values.get("n", 0)
    await asyncio.sleep(0)
    server.values["n"] = value + 1
"""
HIDDEN = "_all = [{}]\n" + SERVERS.replace("servers = {}", "").replace("cls.servers", "_all[0]")


def load(folder: Any, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    (folder / "site-packages").mkdir(exist_ok=True)
    (folder / "site-packages" / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(folder / "site-packages")
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def counting(package: Any, *, locked: bool) -> Any:
    async def test() -> int:
        server, lock = package.Server.get(), asyncio.Lock()

        async def add() -> None:
            if locked:
                async with lock:
                    await package.add(server)
            else:
                await package.add(server)

        await asyncio.gather(add(), add())
        return server.values["n"]

    return test


@pytest.mark.parametrize("locked, results", [(True, [2]), (False, [1, 2])])
def test_each_run_has_a_server_of_its_own(tmp_path, monkeypatch, locked, results) -> None:
    package = load(tmp_path, "registering_package", SERVERS, monkeypatch)
    report = porcini.explore(counting(package, locked=locked), deterministic=True)
    assert sorted(outcome.state["result"] for outcome in report.outcomes) == results


def test_what_is_imported_in_the_first_run_is_told(tmp_path, monkeypatch) -> None:
    """The import draws a random number, too, so that the second run does not find what the first one has left."""
    load(tmp_path, "late_package", SERVERS + "\nuuid.uuid4()\n", monkeypatch)
    del sys.modules["late_package"]

    async def test() -> int:
        import late_package

        server, lock = late_package.Server.get(), asyncio.Lock()

        async def add() -> None:
            async with lock:
                await late_package.add(server)

        await asyncio.gather(add(), add())
        return server.values["n"]

    with pytest.raises(NondeterministicProgram, match=r"ends with terminated .*, before with terminated"):
        porcini.explore(test)


def test_what_cannot_be_put_back_is_told(tmp_path, monkeypatch) -> None:
    package = load(tmp_path, "hiding_package", HIDDEN, monkeypatch)
    with pytest.raises(NondeterministicProgram, match="terminated 4, before with terminated 2"):
        porcini.explore(counting(package, locked=True))
