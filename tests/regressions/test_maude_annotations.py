"""Descriptions that say the wrong thing about steps: they were believed, and verdicts were wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.test_cli import porcini  # noqa: F401  (fixture)
from maude_lies import written
from porcini.langs.maude.auditing import Audit

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
    ["check", "--check-annotations"],
]
ALL_LIES = LIES | {
    "a wait for nothing": ({"WAIT": "nothing"}, "said to touch nothing that it writes"),
    "decided by nothing": ({"DECIDES": "nothing"}, "nothing that is said to decide about it"),
    "sees too little": ({"SEES": "nothing"}, "changes a proposition"),
    "sees another": ({"SEES": "reads(cell('y))"}, "changes a proposition"),
}


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


@pytest.mark.parametrize("lie", ALL_LIES)
def test_all_is_tried_if_it_is_asked_for(
    porcini,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    lie: str,
) -> None:
    """Without the sample: nothing is left to it."""
    monkeypatch.setattr(Audit, "look", lambda self, taken: None)
    said, message = ALL_LIES[lie]
    file = written(tmp_path, said)
    status, out, err = porcini("check", file, "--check-annotations", "--ltl", "<> x(2)")
    assert (status, out) == (2, ""), out
    assert message in err.splitlines()[0] and err.startswith(file.replace(".maude", ".toml"))


def test_what_was_said_too_little_of_a_future_is_seen_step_by_step(porcini, tmp_path: Path) -> None:  # noqa: F811
    """`future` forgets what comes after two more steps: no step is said to be anything else than it is."""
    file = written(tmp_path, {"PUT & uses(K)": "uses(K)"})
    path = Path(file)
    path.write_text(path.read_text().replace("eq uses(nop ; K) = uses(K)", "eq uses(nop ; K) = nothing"))
    status, _, err = porcini("check", file, "--check-annotations")
    assert status == 2 and "which `future` does not say" in err


def test_annotations_are_for_theories(porcini) -> None:  # noqa: F811
    status, _, err = porcini("check", "examples/gcl/vineyard.gcl", "--check-annotations")
    assert status == 2 and "it is not a rewrite theory" in err


def test_a_reordered_run_is_run_again(porcini, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """`explore` printed the schedules of runs that were reordered by what is said about steps, and had other final
    states when they were replayed."""
    monkeypatch.setattr(Audit, "look", lambda self, taken: None)
    status, out, err = porcini("explore", written(tmp_path, {"GET": "nothing"}), "--engine", "exhaustive")
    assert (status, out) == (2, "") and "a run and a reordering of it end differently" in err
