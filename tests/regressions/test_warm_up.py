"""Packages that are followed set themselves up when they are first used, and the first two runs differed: "the
same schedule did not do the same". A first run that leaves nothing else behind is a warm-up now. Where code of the
user's sets something up once, or where that takes several steps, it is still an error: tasks may race for it in
the first run only.
"""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

import porcini
from porcini.coroutines import NondeterministicProgram

ONCE = """
import asyncio

_codec = None
_seen = {}

async def encode(text):
    global _codec
    if _codec is None:
        _codec = str.upper
        _seen["utf-8"] = _codec
        await asyncio.sleep(0)
    return _codec(text)

async def encode_slowly(text):
    global _codec
    if _codec is None:
        await asyncio.sleep(0)
        _codec = str.upper
    return _codec(text)

def fresh():
    global _codec
    _codec = None
    _seen.clear()
"""


def load(folder: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder.mkdir()
    (folder / f"{name}.py").write_text(ONCE)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


def exploring(module: Any) -> Any:
    async def encodes() -> str:
        return await module.encode("a")

    return encodes


def test_a_package_sets_itself_up_in_a_first_run(tmp_path, monkeypatch) -> None:
    package = load(tmp_path / "site-packages", "once_package", monkeypatch)
    report = porcini.explore(exploring(package), packages=["once_package"])
    assert [outcome.state["result"] for outcome in report.outcomes] == ["A"]
    (note,) = (note for note in report.notes if "set up by a package in a first run" in note)
    assert "once_package._codec" in note


def test_what_takes_several_steps_is_told(tmp_path, monkeypatch) -> None:
    package = load(tmp_path / "site-packages", "once_package", monkeypatch)

    async def slowly() -> str:
        return await package.encode_slowly("a")

    with pytest.raises(NondeterministicProgram):
        porcini.explore(slowly, packages=["once_package"])


def test_code_of_the_users_is_told(tmp_path, monkeypatch) -> None:
    module = load(tmp_path / "own", "once_module", monkeypatch)
    with pytest.raises(NondeterministicProgram):
        porcini.explore(exploring(module))


def test_what_a_package_does_in_turns_is_told(tmp_path, monkeypatch) -> None:
    package = load(tmp_path / "site-packages", "once_package", monkeypatch)

    async def turns() -> str:
        result = await package.encode("a")
        if len(package._seen) % 2:
            package._seen["more"] = 1
        else:
            package.fresh()
        return result

    with pytest.raises(NondeterministicProgram):
        porcini.explore(turns, packages=["once_package"])
