"""Ask Maude's own LTL checker, in a child that may use a large stack and may die (`worker`)."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, cast

from porcini.core.children import ChildDied, run_in_child
from porcini.core.errors import LimitHit
from porcini.core.languages import CheckerOptions, Lasso
from porcini.core.systems import System
from porcini.langs.maude.model import Model
from porcini.langs.maude.reduction import Heuristic
from porcini.langs.maude.system import MaudeSystem
from porcini.langs.maude.worker import Asked, Verdict, answer


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

    def check(self, system: System, formula: str, watched: Sequence[str], asked: CheckerOptions) -> Lasso | None:
        assert isinstance(system, MaudeSystem)
        self.model.require_propositions()
        if asked.ample is not None:
            system.audit()
        found = _answer(self.model, formula, watched, asked)
        asked.counts.states = found.states
        if found.limit is not None:
            raise LimitHit(found.limit)
        return None if found.holds else system.along(found.stem, found.loop)


def _answer(model: Model, formula: str, watched: Sequence[str], asked: CheckerOptions) -> Verdict:
    heuristic = cast(Heuristic | None, asked.ample)
    if heuristic is not None:
        model.reduced_module(heuristic, tuple(watched))  # here, so that it is there the next time
    question = Asked(formula, tuple(watched), heuristic, asked.max_states)
    try:
        return run_in_child(lambda: answer(model, question), timeout=asked.timeout, large_stack=True)
    except TimeoutError:
        raise LimitHit(f"the time limit of {asked.timeout:g} s") from None
    except ChildDied as death:
        if death.signal == signal.SIGPROF:
            raise LimitHit("the time for one step of Maude's: do the equations of the model end?") from None
        raise LimitHit("Maude's memory or stack: it was ended by the system") from None
    except MemoryError:
        raise LimitHit("Maude's memory") from None
