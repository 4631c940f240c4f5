"""docs/walk.md takes the ways that programs take, and the layers are drawn as they are checked."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WALKS = (ROOT / "docs" / "walk.md").read_text(encoding="utf-8").split("\n## ")[1:]
TITLES = [walk.partition("\n")[0] for walk in WALKS]
TAKEN = [
    "from porcini.cli import main; main(['explore', 'examples/gcl/vineyard.gcl'])",
    "from porcini.cli import main; main(['check', 'examples/promela/mutex.pml', '--ltl', '[] (count <= 1)'])",
    "import pytest; pytest.main(['-q', '-p', 'no:cacheprovider', 'examples/asyncio/test_bank.py'])",
]
LOADED = "\nimport sys; print(*(name for name in sys.modules if name.partition('.')[0] == 'porcini'))"
ELSEWHERE = {"porcini.formats.json_report"}
"""Where another way ends."""


def modules(walk: str) -> list[str]:
    """The modules that a walk names, in order."""
    return list(dict.fromkeys(re.findall(r"`([a-z_/]+\.py)`", walk)))


@pytest.mark.parametrize(("walk", "program"), list(zip(WALKS, TAKEN, strict=True)), ids=TITLES)
def test_modules_are_loaded_on_the_way(walk: str, program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program + LOADED], cwd=ROOT, capture_output=True, text=True)
    loaded = done.stdout.splitlines()[-1].split()
    named = {f"porcini.{name[:-3].replace('/', '.').removesuffix('.__init__')}" for name in modules(walk)}
    assert len(named) > 20 and named - ELSEWHERE <= set(loaded)


@pytest.mark.parametrize("walk", WALKS, ids=TITLES)
def test_rows_are_counted(walk: str) -> None:
    numbers = [int(number) for number in re.findall(r"^\| (\d+) \|", walk, re.M)]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))
    ((said, passing),) = re.findall(r"^(\d+) modules, and (\d+) more in passing\.", walk, re.M)
    assert (int(said), int(passing)) == (numbers[-1], len(modules(walk)) - len(numbers))


@pytest.mark.parametrize("page", ["README.md", "docs/design.md"])
def test_the_layers_are_those_that_are_checked(page: str) -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    (layers,) = [contract["layers"] for contract in contracts if contract["name"] == "imports only go down"]
    checked = [{name.strip().removeprefix("porcini.") for name in layer.split("|")} for layer in layers]
    (drawn,) = re.findall(r"^## Layers.*?^```\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
    lines = [re.findall(r"(\w+)(?:/|\.py)(?=\s)", line) for line in drawn.splitlines() if not line.startswith(" ")]
    assert [set(line) for line in lines] == checked
