"""Ask Maude's own LTL checker, in a child that may use a large stack and may die (`worker`)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from porcini.core.errors import InternalError, LimitHit
from porcini.core.events import Move
from porcini.core.languages import CheckerOptions, Lasso
from porcini.core.pids import Pid
from porcini.core.systems import System
from porcini.langs.maude import bindings
from porcini.langs.maude.child import run_child
from porcini.langs.maude.model import Model
from porcini.langs.maude.system import MaudeSystem

_WORKER = "from porcini.langs.maude.worker import main; main()"


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
        self.model.require_propositions()
        if asked.ample is not None:
            system.audit()
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
        "file": str(Path(model.theory.file).resolve()),
        "por": str(Path(model.description.file).resolve()),
        "heuristic": asked.ample,
        "watched": list(watched),
        "formula": formula,
        "most": asked.max_states,
    }
    try:
        done = run_child(_WORKER, (), bindings=bindings.home(), given=json.dumps(question), timeout=asked.timeout)
    except subprocess.TimeoutExpired:
        raise LimitHit(f"the time limit of {asked.timeout:g} s") from None
    if done.returncode != 0:
        if done.returncode < 0 or "MemoryError" in done.stderr or "bad_alloc" in done.stderr:
            raise LimitHit("Maude's memory or stack: it was ended by the system")
        raise InternalError(f"Maude's checker failed: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found
