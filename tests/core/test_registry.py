"""Entry points that are missing, broken or there twice are errors that say so."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import pytest

from porcini.core import registry
from porcini.core.errors import InputError
from porcini.core.registry import Registry

POINTS = [
    EntryPoint("good", "string:digits", "group"),
    EntryPoint("good", "string:digits", "group"),
    EntryPoint("missing", "string:nothing_there", "group"),
    EntryPoint("nowhere", "no_such_module_anywhere:x", "group"),
    EntryPoint("twice", "string:digits", "group"),
    EntryPoint("twice", "string:hexdigits", "group"),
]


@pytest.fixture
def things(monkeypatch) -> Registry[str]:
    monkeypatch.setattr(registry, "entry_points", lambda group: POINTS if group == "group" else [])
    return Registry("group", "thing")


def test_what_is_there(things: Registry[str]) -> None:
    assert things["good"] == "0123456789" and "good" in things
    assert list(things) == ["good", "missing", "nowhere", "twice"] and len(things) == 4


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("other", "unknown thing `other`"),
        ("missing", "thing `missing` (string:nothing_there) cannot be loaded"),
        ("nowhere", "cannot be loaded: No module named 'no_such_module_anywhere'"),
        ("twice", "thing `twice` is registered more than once: string:digits and string:hexdigits"),
    ],
)
def test_what_is_wrong(things: Registry[str], name: str, message: str) -> None:
    with pytest.raises(InputError) as problem:
        things[name]
    assert message in problem.value.message


def test_nothing_installed(things: Registry[str]) -> None:
    with pytest.raises(InputError) as problem:
        Registry("another", "thing")["good"]
    assert "no package with entry points `another` is installed" in str(problem.value)
