"""Ask Maude's own LTL checker, in a child that may use a large stack and may die (`worker`)."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from porcini.core.errors import InternalError, LimitHit
from porcini.core.events import Move
from porcini.core.pids import Pid
from porcini.langs.maude.model import Model
from porcini.langs.maude.reduction import Heuristic

_SHARE = 2
"""The child may take one part in so many of the machine's memory."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A verdict, how many states were seen, and the steps of a run for which the formula does not hold."""

    holds: bool
    states: int
    stem: tuple[Move, ...] = ()
    loop: tuple[Move, ...] = ()


class TooMany(LimitHit):
    """There were more states than allowed."""

    def __init__(self, message: str, states: int) -> None:
        super().__init__(message)
        self.states = states


def ask(
    model: Model,
    formula: str,
    watched: Sequence[str],
    *,
    heuristic: Heuristic | None,
    timeout: float | None = None,
    most: int | None = None,
) -> Answer:
    """Check a formula of Maude's. `heuristic` None takes the theory as it is. A limit that is hit is a
    `LimitHit`."""
    question = {
        "file": str(model.theory.file),
        "por": model.description.file,
        "heuristic": heuristic,
        "watched": list(watched),
        "formula": formula,
        "most": most,
    }
    command = [sys.executable, "-m", "porcini.langs.maude.worker"]
    try:
        done = subprocess.run(
            command,
            input=json.dumps(question),
            capture_output=True,
            text=True,
            timeout=timeout,
            preexec_fn=_bounded,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise LimitHit(f"the time limit of {timeout:g} s") from None
    if done.returncode != 0:
        if done.returncode < 0 or "MemoryError" in done.stderr or "bad_alloc" in done.stderr:
            raise LimitHit("Maude's memory or stack: it was ended by the system")
        raise InternalError(f"Maude's checker failed: {done.stderr.strip().splitlines()[-1:]}")
    found = json.loads(done.stdout)
    if "limit" in found:
        raise TooMany(found["limit"], found["states"])
    stem, loop = (
        tuple(Move(Pid.parse(pid), choice) for pid, choice in found.get(key, ())) for key in ("stem", "loop")
    )
    return Answer(found["holds"], found["states"], stem, loop)


def _bounded() -> None:
    """In the child, before it begins: a stack as large as may be, and not all of the memory."""
    _, most = resource.getrlimit(resource.RLIMIT_STACK)
    resource.setrlimit(resource.RLIMIT_STACK, (most, most))
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    wanted = total // _SHARE
    if hard == resource.RLIM_INFINITY or wanted < hard:
        resource.setrlimit(resource.RLIMIT_AS, (wanted, hard))
