"""Ask Maude's own LTL checker, in a child that may use a large stack and may die (`worker`)."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from porcini.core.errors import InternalError, LimitHit
from porcini.core.events import Move
from porcini.core.languages import CheckerOptions, Lasso
from porcini.core.pids import Pid
from porcini.core.systems import System
from porcini.langs.maude.model import Model
from porcini.langs.maude.system import MaudeSystem

_SHARE = 2
"""The child may take one part in so many of the machine's memory."""


@dataclass(frozen=True, slots=True)
class MaudeChecker:
    """`core.languages.Checker` for a theory."""

    model: Model
    name: ClassVar[str] = "maude"
    title: ClassVar[str] = "Maude"
    signs: ClassVar[Mapping[str, str]] = {
        "true": "True",
        "false": "False",
        "!": "~",
        "X": "O",
        "&&": "/\\",
        "||": "\\/",
        "U": "U",
        "V": "R",
    }

    def ask(self, system: System, formula: str, watched: Sequence[str], asked: CheckerOptions) -> Lasso | None:
        assert isinstance(system, MaudeSystem)
        found = _answer(self.model, formula, watched, asked)
        asked.counts.states = found["states"]
        if "limit" in found:
            raise LimitHit(found["limit"])
        if found["holds"]:
            return None
        stem, loop = ([Move(Pid.parse(pid), choice) for pid, choice in found[key]] for key in ("stem", "loop"))
        return system.along(stem, loop)


def _answer(model: Model, formula: str, watched: Sequence[str], asked: CheckerOptions) -> dict[str, Any]:
    question = {
        "file": str(model.theory.file),
        "por": model.description.file,
        "heuristic": asked.ample,
        "watched": list(watched),
        "formula": formula,
        "most": asked.max_states,
    }
    command = [sys.executable, "-m", "porcini.langs.maude.worker"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(question),
            capture_output=True,
            text=True,
            timeout=asked.timeout,
            preexec_fn=_bounded,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitHit(f"the time limit of {asked.timeout:g} s") from None
    if done.returncode != 0:
        if done.returncode < 0 or "MemoryError" in done.stderr or "bad_alloc" in done.stderr:
            raise LimitHit("Maude's memory or stack: it was ended by the system")
        raise InternalError(f"Maude's checker failed: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _bounded() -> None:
    """In the child, before it begins: a stack as large as may be, and not all of the memory."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = total // _SHARE
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
