"""Whose file is it? One answer for modules, frames, packages and paths."""

import asyncio
import sysconfig
import types
from pathlib import Path

import pytest

import porcini
from porcini.core.origins import in_library, in_packages, origin_of
from porcini.coroutines.notes import package_of
from porcini.coroutines.session import is_users
from porcini.formats.sources import short_path

STDLIB = sysconfig.get_path("stdlib")
OURS = str(Path(porcini.__file__).parent)


@pytest.mark.parametrize(
    "path, origin",
    [
        (asyncio.__file__, "python"),
        (f"{STDLIB}/json/decoder.py", "python"),
        ("<frozen importlib._bootstrap>", "python"),
        (f"{STDLIB}/site-packages/anyio/abc.py", "installed"),
        (pytest.__file__, "installed"),
        ("/usr/lib/python3/dist-packages/apt/cache.py", "installed"),
        (f"{OURS}/engines/optimal.py", "porcini"),
        ("/srv/app/site-packages/porcini/api.py", "installed"),  # somebody else's
        (__file__, "user"),
        (f"{OURS}_demo/main.py", "user"),  # a neighbour with a longer name
        (f"{STDLIB}-tools/main.py", "user"),
        ("<stdin>", "user"),
        ("main.py", "user"),
    ],
)
def test_whose_file_it_is(path, origin):
    assert origin_of(path) == origin


def test_a_link_is_what_it_leads_to(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    (tmp_path / "own.py").write_text("")
    (folder / "linked.py").symlink_to(tmp_path / "own.py")
    assert origin_of(str(folder / "linked.py")) == "user"


def test_paths_below_packages_and_the_library():
    assert in_packages("/x/site-packages/anyio/abc.py") == Path("anyio/abc.py")
    assert package_of("/x/site-packages/six.py") == "six" and package_of("/x/y.py") is None
    assert in_library(f"{STDLIB}/json/decoder.py") == Path("json/decoder.py")
    assert in_library(__file__) is None and in_library("<frozen x>") is None
    assert short_path(f"{STDLIB}/json/decoder.py") == "json/decoder.py"
    assert short_path("/x/dist-packages/apt/cache.py") == "apt/cache.py"


def test_modules_without_a_file_are_the_prompt():
    module = types.ModuleType("__main__")
    assert is_users(module) and not is_users(types.ModuleType("sys"))
    module.__file__ = asyncio.__file__
    assert not is_users(module)
