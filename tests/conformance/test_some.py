"""One program of every kind. `make conformance` looks at thousands."""

from __future__ import annotations

import shutil

import pytest

from conformance.__main__ import judged
from conformance.kinds import KINDS, NEED_SPIN


@pytest.mark.parametrize("name", KINDS)
def test_engines_agree_with_the_judge(name: str) -> None:
    if name in NEED_SPIN and not shutil.which("spin"):
        pytest.skip("SPIN is not installed")
    assert not judged(KINDS[name], [10_000]).problem
