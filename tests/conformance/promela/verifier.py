"""SPIN's verifier for one model: generated, compiled and run, and what it prints as answers.

Unless it is asked for SPIN's own reduction, the search is over all states and every statement is a step:
nothing is reduced, merged or left out, so that states can be counted on both sides. `pan` answers one question
at a time, because it stops at the first error:

    states        with errors ignored (`-c0 -A -E`), so that the whole graph is seen
    end states    `-A`: a failed assertion is passed over
    assertions    `-E`: an invalid end state is passed over
    cycles        `-a`, or `-DNP` and `-l`, without a claim
    claims        `-a -N name`; with `-f` under weak fairness. SPIN translates `[] p` into an assertion inside of
                  the claim, so `-A` would lose it: the assertions of processes are taken out of the source instead
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

PLAIN = ("-o1", "-o2", "-o3")
DEADLOCK, ASSERTION, CYCLE, CLAIM = "invalid end state", "assertion violated", "acceptance cycle", "claim"
FAILURES = (ASSERTION, "parameters in send", "fields in recv", "pars in receive", "event_trace error")
"""Failures of a model: assertions, messages that do not fit their channel, events that a trace does not allow."""
_MEGABYTES = 1_500
_SECTION = re.compile(r"/\* (PROC|CLAIM) (\S+) \*/")
_PASS_OVER = "#define pass_over(condition, text, i, t, at) ((void) (condition))\n"


class Rejected(Exception):
    """SPIN, or the C compiler, does not take the model: the message is the first line of why."""


class Unfinished(Exception):
    """The verifier ran into a limit."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a run of the verifier said: the states that it stored, and the first error, if there was one."""

    states: int
    error: str = ""

    @property
    def violates_claim(self) -> bool:
        """Of a run with a claim: is it violated? Other errors are not answers to that."""
        return any(text in self.error for text in (ASSERTION, CYCLE, CLAIM))


class Verifier:
    """A model in a folder of its own, where SPIN may leave what it likes."""

    def __init__(
        self,
        model: Path,
        folder: Path,
        *,
        depth: int = 10_000,
        seconds: float = 10,
        flags: Sequence[str] = PLAIN,
        reduce: bool = False,
    ) -> None:
        self._folder, self._depth, self._seconds, self._reduce = folder, depth, seconds, reduce
        self.text = model.read_text("utf-8", "replace")
        said = self._call("spin", "-a", *flags, str(model.resolve()))
        if said.returncode or not Path(folder, "pan.m").exists():
            raise Rejected(_first_line(said.stdout + said.stderr))

    def states(self) -> Answer:
        """All states, and the first error that is neither a failed assertion nor an invalid end state."""
        return self._ran(self._for_safety, "-c0", "-A", "-E")

    def deadlocks(self) -> bool:
        return DEADLOCK in self._ran(self._for_safety, "-A").error

    def fails(self) -> bool:
        error = self._ran(self._for_safety, "-E").error
        return any(text in error for text in FAILURES)

    @cached_property
    def claims(self) -> list[str]:
        """The names of formulas and never claims, in the order of the text."""
        found = _SECTION.findall(Path(self._folder, "pan.m").read_text("utf-8", "replace"))
        return [name for kind, name in reversed(found) if kind == "CLAIM"]

    def violates(self, claim: str, *, fair: bool = False) -> bool:
        name = ("-N", claim) if len(self.claims) > 1 else ()
        answer = self._ran(self._for_claims, "-a", *(["-f"] if fair else []), *name)
        if answer.error and not answer.violates_claim:
            raise Unfinished(answer.error)
        return answer.violates_claim

    def has_cycle(self, *, progress: bool = False, fair: bool = False) -> bool:
        """Of a model without a claim: is there an acceptance cycle, or one without progress?"""
        verifier, asks = (self._for_progress, "-l") if progress else (self._for_claims, "-a")
        error = self._ran(verifier, asks, *(["-f"] if fair else []), "-A", "-E").error
        if error and "cycle" not in error:
            raise Unfinished(error)
        return "cycle" in error

    # The verifiers are compiled when they are needed

    @cached_property
    def _for_safety(self) -> str:
        return self._compiled("safety", "-DSAFETY", "-DNOCLAIM")

    @cached_property
    def _for_claims(self) -> str:
        moves = Path(self._folder, "pan.m")
        moves.write_text(_PASS_OVER + _without_assertions(moves.read_text("utf-8", "replace")))
        return self._compiled("claims", "-DNFAIR=3")

    @cached_property
    def _for_progress(self) -> str:
        return self._compiled("progress", "-DNFAIR=3", "-DNP")

    def _compiled(self, name: str, *flags: str) -> str:
        compilers = [
            found for found in ("tcc", "gcc") if shutil.which(found)
        ]  # the first takes a tenth of the time
        for compiler in compilers:
            common = ("-w", "-DVECTORSZ=8192", f"-DMEMLIM={_MEGABYTES}")
            every = () if self._reduce else ("-DNOREDUCE",)
            said = self._call(compiler, *common, *every, *flags, "-o", name, "pan.c")
            if not said.returncode:
                return f"./{name}"
        raise Rejected(_first_line(said.stdout + said.stderr))

    def _ran(self, *command: str) -> Answer:
        said = self._call(*command, f"-m{self._depth}", "-w18", "-n").stdout
        states, errors = re.search(r"(\d+) states, stored", said), re.search(r"errors: (\d+)", said)
        found = re.search(r"^pan:\d+: (.*?)(?: \(at depth -?\d+\))?$", said, re.MULTILINE)
        deepest = re.search(r"depth reached (\d+)", said)
        # It does not always say so: under fairness, a run that has ended goes down without an end.
        cut_short = "not completed" in said or (deepest is not None and int(deepest[1]) >= self._depth - 1)
        if found is None and (states is None or errors is None or cut_short):
            raise Unfinished(_first_line(said))
        return Answer(int(states[1]) if states else 0, found[1] if found else "")

    def _call(self, *command: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                command,
                cwd=self._folder,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                stdin=subprocess.DEVNULL,
                timeout=self._seconds,
                preexec_fn=_limit_memory,
            )
        except subprocess.TimeoutExpired:
            raise Unfinished(f"{Path(command[0]).name} takes longer than {self._seconds:g} s") from None


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (2 * _MEGABYTES << 20, 2 * _MEGABYTES << 20))


def _without_assertions(moves: str) -> str:
    """The moves of a model, with every assertion outside of claims passed over."""
    head, *sections = re.split(r"(?=/\* (?:PROC|CLAIM) )", moves)
    changed = [
        section if section.startswith("/* CLAIM") else section.replace("spin_assert(", "pass_over(")
        for section in sections
    ]
    return head + "".join(changed)


def _first_line(text: str) -> str:
    """What went wrong, rather than a warning."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["nothing was said"])[0]
