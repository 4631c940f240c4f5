"""Fixed seeds in CI, so that a red run can be run again; and a process that is quick in spite of five thousand
tests in it."""

import gc
import os

import pytest
from hypothesis import settings

settings.register_profile("ci", derandomize=True, database=None)
if os.environ.get("CI"):
    settings.load_profile("ci")


def pytest_collection_finish(session: pytest.Session) -> None:
    """What is loaded by now stays: to look through all of it for garbage again and again takes a sixth of the
    time."""
    _forget_garbage()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """So does what is left after each module (caches, more modules) and after each pytest within pytest: before an
    asyncio program is explored, all that is not frozen is looked through, which would take a second in the end."""
    if nextitem is None or nextitem.path != item.path or "pytester" in getattr(item, "fixturenames", ()):
        _forget_garbage()


def _forget_garbage() -> None:
    gc.collect()
    gc.freeze()


collect_ignore_glob = [] if "PORCINI_TROPHIES" in os.environ else ["aio/trophies", "aio/trophies/*"]
"""Trophies need packages from PyPI: `make trophies` runs them, and nothing else does."""
