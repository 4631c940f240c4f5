"""Programs that somebody else's interpreter runs: what is asked about their files is answered in a sealed child.

    interpreter_of    whose it is
    answer_sealed     some work in a sealed child (`core.children`); why there is no answer is one sentence
    answer            a command of the library: about a file in a sealed child, about a model that was loaded here

A model that was loaded is made of objects of the process that has loaded it, so that what is asked about it is
answered there.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from porcini.commands.programs import ProgramReference
from porcini.commands.requests import Request, request_of
from porcini.core.children import LONGEST_CALL, ChildDied, is_sealed, run_sealed
from porcini.core.errors import InputError, LimitHit, Place
from porcini.core.languages import LANGUAGES
from porcini.engines.limits import Limits

T = TypeVar("T")


def interpreter_of(file: str | Path) -> str | None:
    """Who runs the program in a file, if it is somebody else's interpreter."""
    ending = Path(file).suffix.removeprefix(".")
    return LANGUAGES[ending].capabilities.interpreter if str(file) and ending in LANGUAGES else None


def answer_sealed(
    work: Callable[[Path], T], files: Sequence[str | Path], interpreter: str, timeout: float | None
) -> T:
    """Do some work in a sealed child that can read what is beside some files."""
    readable = [Path(each).resolve().parent for each in files]
    try:
        return run_sealed(work, readable, min(timeout or LONGEST_CALL, LONGEST_CALL))
    except ChildDied as death:
        raise _explain(death, interpreter, timeout) from None


def _explain(death: ChildDied, interpreter: str, timeout: float | None) -> Exception:
    """Why there is no answer: it took too long, or it was too large; or it died while it was reading something."""
    if death.signal == signal.SIGPROF and timeout is not None and timeout <= LONGEST_CALL:
        return LimitHit(f"the time limit of {timeout:g} s")
    if death.signal == signal.SIGPROF:
        return LimitHit(f"{LONGEST_CALL:g} s for one step of {interpreter}'s: do the equations of the model end?")
    if death.announced:
        file, _, line = death.announced.rpartition(":")
        message = f"{interpreter} cannot read it, and does not say why"
        return InputError(message, file=file, place=Place(int(line), 1))
    return LimitHit(f"{interpreter}'s memory or stack: it was ended by the system")


def answer(
    command: str,
    program: ProgramReference,
    given: Mapping[str, Any],
    work: Callable[[Request], T],
    unknown: Callable[[str, str], T] | None = None,
) -> T:
    """What a command says about a program. `unknown` makes an answer of a file and of a limit that was hit where
    there is none; without it, a limit is an error."""
    interpreter = interpreter_of(program) if isinstance(program, str | Path) and not is_sealed() else None
    if interpreter is None:
        return work(request_of(command, program, given))
    assert isinstance(program, str | Path)
    trace, limits = given.get("trace"), given.get("limits") or Limits()

    def alone(own: Path) -> tuple[T, bytes | None]:
        written = own / "trace"
        found = work(request_of(command, program, {**given, **({"trace": written} if trace else {})}))
        return found, written.read_bytes() if trace and written.exists() else None

    try:
        found, recorded = answer_sealed(alone, [program], interpreter, limits.timeout)
    except LimitHit as hit:
        if unknown is None:
            raise InputError(f"stopped by {hit}", file=str(program)) from None
        return unknown(str(program), str(hit))
    if trace and recorded is not None:
        keep_trace(trace, recorded)
    return found


def keep_trace(file: str | Path, recorded: bytes) -> None:
    """Write what a child has recorded to where it was to go."""
    try:
        Path(file).write_bytes(recorded)
    except OSError as problem:
        raise InputError(f"cannot be written: {problem.strerror}", file=str(file)) from None
