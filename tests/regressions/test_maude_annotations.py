"""Descriptions that say the wrong thing about steps: they were believed, and verdicts were wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)
from maude_lies import written

LIES = {
    "touches too little": ({"GET": "nothing"}, "independent, and their order matters"),
    "touches another": ({"GET": "reads(cell('y))"}, "which `future` does not say"),
    "a future too small": ({"PUT": "nothing"}, "which `future` does not say"),
}
COMMANDS = [
    ["explore"],
    ["check"],
    ["check", "--ltl", "<> x(2)"],
    ["check", "--ltl", "<> x(2)", "--engine", "graph"],
    ["check", "--verify-reduction"],
]


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_an_error_that_shows_it(porcini, tmp_path: Path, lie: str, arguments: list[str]) -> None:  # noqa: F811
    said, message = LIES[lie]
    file = written(tmp_path, said)
    command, *options = arguments
    status, out, err = porcini(command, file, *options)
    assert (status, out) == (2, ""), out
    assert message in err and err.startswith(file.replace(".maude", ".toml"))
    if "order" in message:
        assert "`get` of " in err and "c('x, " in err


@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_what_is_true_is_no_error(porcini, tmp_path: Path, arguments: list[str]) -> None:  # noqa: F811
    command, *options = arguments
    status, _, err = porcini(command, written(tmp_path, {}), *options)
    assert status in (0, 1) and err == ""
