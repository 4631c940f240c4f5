"""Other people's models: a folder of them through SPIN and through Porcini, and what the two say.

    make conformance-folder FOLDER=../models        or ARGS="--seconds 30"
    PYTHONPATH=tests python -m conformance.promela.folder ../models --only ring

A line for each model: the states without a reduction on both sides, the reduced states of both, whether an
assertion can fail and whether there is an invalid end state, then formulas and claims. Porcini runs in a
process of its own, with a limit on time and memory, and says what it found as it finds it, so that a search
that takes too long leaves the other answers. Only answers that both gave are compared; the exit status is 1 if
a verdict differs. Where an assertion fails, SPIN goes on past it and Porcini stops the process, so end states,
counts and formulas are not compared then.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import porcini
from conformance.promela.verifier import Rejected, Unfinished, Verifier
from porcini.core.errors import InputError
from porcini.engines.catalogue import Options

ENDINGS = (".pml", ".promela", ".prom", ".prm", ".pr", ".spin")
SAFETY = ("deadlock-free", "failure-free")
MEGABYTES = 3_000
Found = dict[str, object]
"""What one side says: `states`, `reduced` ones, `fails`, `deadlocks`, and `violates NAME` for each formula."""


# What SPIN says -------------------------------------------------------------------------------------------------


def ask_spin(path: Path, seconds: float) -> Found:
    """All that SPIN could say in time; `Rejected` if it does not take the model."""
    found: Found = {}
    with TemporaryDirectory() as folder:
        verifier = Verifier(path, Path(folder), depth=1_000_000, seconds=seconds)
        _ask(found, "fails", verifier.fails)
        _ask(found, "deadlocks", verifier.deadlocks)
        for claim in verifier.claims:
            _ask(found, f"violates {claim}", lambda claim=claim: verifier.violates(claim))
        _ask(found, "states", lambda: _counted(verifier))
    with TemporaryDirectory() as folder:
        usual = Verifier(path, Path(folder), depth=1_000_000, seconds=seconds, flags=(), reduce=True)
        _ask(found, "reduced", lambda: _counted(usual))
    return found


def _ask(found: Found, question: str, answer: Callable[[], object]) -> None:
    """What takes too long has no answer."""
    try:
        found[question] = answer()
    except Unfinished:
        found[question] = None


def _counted(verifier: Verifier) -> int:
    answer = verifier.states()
    if answer.error:
        raise Unfinished(answer.error)
    return answer.states


# What Porcini says ----------------------------------------------------------------------------------------------


def ask_porcini(path: Path, seconds: float) -> Found:
    """What a process of its own prints, line by line, until its time is up."""
    command = [sys.executable, "-m", "conformance.promela.folder", "--porcini", str(seconds), str(path)]
    try:
        said = subprocess.run(
            command, capture_output=True, text=True, timeout=seconds + 5, preexec_fn=_limit_memory
        )
        printed, problems = said.stdout, said.stderr
    except subprocess.TimeoutExpired as late:
        printed, problems = (late.stdout or b"").decode(), ""
    found: Found = {}
    for line in printed.splitlines():
        found.update(json.loads(line))
    crash = problems.strip().splitlines()[-1:]
    return found | {"error": f"crash: {crash[0]}"} if crash and "error" not in found else found


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES << 20, MEGABYTES << 20))


def answer_for_porcini(path: Path, seconds: float) -> None:
    """The child: prints each answer as an object on a line of its own."""
    for found in _answers(path, time.monotonic() + seconds):
        print(json.dumps(found), flush=True)


def _answers(path: Path, until: float) -> Iterator[Found]:
    def limits() -> porcini.Limits:
        return porcini.Limits(timeout=max(0.1, until - time.monotonic()))

    try:
        model = porcini.load(path)
        yield {"loaded": True}
        report = porcini.explore(model, engine="graph", properties=SAFETY, limits=limits())
        reduced = report.counts.states if report.stopped == "exhausted" else None
        yield {**_failures(report), "reduced": reduced, "seconds": report.seconds}
        for claim in model.claims:
            yield {f"violates {claim.name}": _violated(porcini.check(model, ltl=claim.name, limits=limits()))}
        if model.has_never_claim and not model.claims:
            yield from _never(porcini.check(model, limits=limits()))
        plain = Options(reduction="none", optimise=False)
        report = porcini.explore(model, engine="graph", properties=SAFETY, options=plain, limits=limits())
        yield {"states": report.counts.states if report.stopped == "exhausted" else None}
    except InputError as problem:
        yield {"error": str(problem).splitlines()[0].removeprefix(str(path))}
    except MemoryError:
        yield {"error": "out of memory"}
    except Exception as problem:
        yield {"error": f"crash: {type(problem).__name__}: {problem}".splitlines()[0]}


def _failures(report: porcini.Report) -> Found:
    """A search that was cut short has only found what it found."""
    kinds = {outcome.kind for outcome in report.outcomes}
    whole = report.stopped == "exhausted"
    failed = {"fails": "assertion" in kinds, "deadlocks": "deadlock" in kinds, "errs": "error" in kinds}
    return {question: answer if answer or whole else None for question, answer in failed.items()}


def _violated(report: porcini.Report) -> bool | None:
    return None if report.verdict == "unknown" else report.verdict == "violated"


def _never(report: porcini.Report) -> Iterator[Found]:
    if "never" in report.property:  # else something failed before it came to that
        yield {"violates never_0": _violated(report)}


# Both ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Row:
    """What came of one model: `spin` is None where SPIN rejects it, and `why` says why."""

    path: Path
    spin: Found | None
    here: Found
    why: str = ""
    seconds: tuple[float, float] = (0.0, 0.0)

    @property
    def differences(self) -> list[str]:
        if self.spin is None or self._errs:
            return []
        fails = self.spin.get("fails") or self.here.get("fails")
        return [question for question in (["fails"] if fails else self._questions) if self._differs(question)]

    @property
    def compared(self) -> list[str]:
        return [] if self.spin is None else [q for q in self._questions if self._both(q)]

    @property
    def _errs(self) -> bool:
        """An error of the model's own, as an index outside of its array: each side stops in its own way."""
        return bool(self.here.get("errs"))

    @property
    def _questions(self) -> list[str]:
        return [question for question in self.spin or {} if question != "reduced"]

    @property
    def reduced(self) -> tuple[int, int] | None:
        """The reduced states of SPIN and of Porcini, where both have looked at all of them."""
        fails = self.spin is None or self.spin.get("fails") or self.here.get("fails")
        if fails or self._errs or not self.spin or None in (self.spin.get("reduced"), self.here.get("reduced")):
            return None
        return int(str(self.spin["reduced"])), int(str(self.here["reduced"]))

    def _both(self, question: str) -> bool:
        return all(found.get(question) is not None for found in (self.spin or {}, self.here))

    def _differs(self, question: str) -> bool:
        return self._both(question) and (self.spin or {})[question] != self.here[question]

    def lines(self) -> Iterator[str]:
        name = str(self.path)[-60:]
        if self.spin is None:
            loads = "" if "error" in self.here else " (Porcini loads it)"
            yield f"{name:60} SPIN rejects{loads}: {self.why}"
            return
        seconds = " ".join(f"{each:5.1f}" for each in self.seconds)
        both = (self.spin, self.here)
        states = " ".join(f"{_shown(found.get(of)):>9}" for of in ("states", "reduced") for found in both)
        verdicts = ", ".join(f"{q} {_shown(self.spin[q])}" for q in self._questions if q != "states")
        yield f"{name:60} {seconds} s {states}  {verdicts}"
        if "error" in self.here:
            yield f"{'':8}refused: {self.here['error']}"
        if self._errs:
            yield f"{'':8}not compared: Porcini finds an error in the model, such as an index outside of its array"
        for question in self.differences:
            theirs, ours = _shown(self.spin[question]), _shown(self.here[question])
            yield f"{'':8}DIFFERENT: {question}: SPIN {theirs}, here {ours}"


def _shown(value: object) -> str:
    return {None: "-", True: "yes", False: "no"}.get(value, str(value))  # type: ignore[arg-type]


def judge(path: Path, seconds: float) -> Row:
    started = time.monotonic()
    try:
        spin, why = ask_spin(path, seconds), ""
    except Rejected as problem:
        spin, why = None, str(problem)
    except Unfinished as problem:
        spin, why = None, f"(it does not finish) {problem}"
    between = time.monotonic()
    here = ask_porcini(path, seconds)
    return Row(path, spin, here, why, (between - started, time.monotonic() - between))


@dataclass(slots=True)
class Summary:
    rows: list[Row] = field(default_factory=list)

    @property
    def disagreements(self) -> int:
        return sum(1 for row in self.rows if set(row.differences) - {"states"})

    def tell(self) -> None:
        accepted = [row for row in self.rows if row.spin is not None]
        loaded = [row for row in accepted if row.here.get("loaded")]
        answered = [row for row in loaded if row.compared]
        alike = [row for row in answered if not row.differences]
        counted = [row for row in answered if "states" in row.compared]
        print(f"\n{len(self.rows)} models, of which SPIN accepts {len(accepted)}")
        print(f"loaded by Porcini: {_part(loaded, accepted)}")
        print(f"with an answer from both: {_part(answered, loaded)}; all of these alike: {_part(alike, answered)}")
        print(f"states counted by both: {len(counted)}; alike: {_part(_same_states(counted), counted)}")
        reduced = [row.reduced for row in loaded if row.reduced is not None]
        more = sum(1 for spin, here in reduced if here > spin)
        print(f"reduced states counted by both: {len(reduced)}; more of them here: {more}")
        print(f"a verdict differs: {self.disagreements}")
        reasons = Counter(_general(str(row.here["error"])) for row in accepted if "error" in row.here)
        for reason, number in reasons.most_common():
            print(f"{number:6}  {reason}")


def _same_states(rows: list[Row]) -> list[Row]:
    return [row for row in rows if "states" not in row.differences]


def _part(some: list[Row], every: list[Row]) -> str:
    return f"{len(some)} of {len(every)}" + (f" ({100 * len(some) / len(every):.0f}%)" if every else "")


def _general(error: str) -> str:
    """An error without places and names, so that those of one cause are counted together."""
    return re.sub(r"`[^`]*`", "`...`", re.sub(r"^.*?:\d+:\d+: error: ", "", error))[:100]


def models(folder: Path, only: str) -> list[Path]:
    """Each once, however many copies there are."""
    found = {
        path.read_bytes(): path
        for path in sorted(folder.rglob("*"), reverse=True)
        if path.suffix in ENDINGS and path.is_file() and only in str(path)
    }
    return sorted(found.values())


def main() -> int:
    parser = argparse.ArgumentParser(prog="conformance.promela.folder", description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=10, help="for each call of SPIN, and for Porcini")
    parser.add_argument("--only", default="", help="models with this in their path")
    parser.add_argument("--porcini", type=float, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.porcini is not None:
        answer_for_porcini(options.folder, options.porcini)
        return 0
    summary = Summary()
    with ThreadPoolExecutor(os.cpu_count()) as pool:  # all that takes time are processes of their own
        for row in pool.map(lambda path: judge(path, options.seconds), models(options.folder, options.only)):
            summary.rows.append(row)
            for line in row.lines():
                print(line, flush=True)
    summary.tell()
    return 1 if summary.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
