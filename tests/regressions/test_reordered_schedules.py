"""Schedules that are run again before they are printed are those of the program, not of its optimised form."""

from __future__ import annotations

from pathlib import Path

from cli.test_cli import porcini  # noqa: F401  (fixture)

STARTS = """chan r = [0] of { byte };
active proctype Q() {
  run R(0, r)
}
proctype R(byte g; chan h) {
  skip;
  skip
}
"""


def test_merged_steps_are_not_run_again_as_if_they_were_one(porcini, tmp_path: Path) -> None:  # noqa: F811
    """`check` merges private steps, and its schedules say each of them."""
    file = tmp_path / "starts.pml"
    file.write_text(STARTS)
    for command in (["check"], ["explore", "--engine", "graph"], ["explore"]):
        status, _, err = porcini(command[0], str(file), *command[1:])
        assert (status, err) == (0, "")
