"""Wide generated programs against outside judges, and mutants against the same programs.

    make conformance                    fixed seeds: a red run can be run again
    make soak                           fresh seeds until Ctrl-C, or until a law is broken
    SOAK_SECONDS=1800 make soak         for half an hour
    python -m conformance gcl --seed 7  one program again, shown

A program that breaks a law is made smaller as long as it breaks one, and printed with its seed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from random import Random, SystemRandom

from conformance.kinds import KINDS, NEED_SPIN, Kind
from conformance.laws import Broken
from conformance.mutants import MUTANTS, Mutant
from conformance.oracle import TooMany
from porcini import InternalError

BATCH = 10
SHRINKING = 120.0
BETWEEN_REPORTS = 30.0


@dataclass(frozen=True, slots=True)
class Judged:
    """What came of some programs of one kind: `problem` is the first law that was broken, with a small program."""

    kind: str
    programs: int
    too_large: int
    classes: int
    problem: str = ""


def judged(kind: Kind, seeds: Sequence[int]) -> Judged:
    """Programs of one kind, by their seeds, up to the first that breaks a law."""
    programs = too_large = classes = 0
    for seed in seeds:
        program = kind.draw(Random(seed))
        programs += 1
        try:
            classes += kind.check(program)
        except TooMany:
            too_large += 1
        except Exception as problem:
            text = f"{kind.name}, seed {seed}: {_told(problem)}\n\n{_shrunk(kind, program)}"
            return Judged(kind.name, programs, too_large, classes, text)
    return Judged(kind.name, programs, too_large, classes)


def _told(problem: Exception) -> str:
    return str(problem) if isinstance(problem, Broken) else f"{type(problem).__name__}: {problem}"


def _shrunk(kind: Kind, program: object) -> str:
    """The smallest program that still breaks a law in the same way, as text."""
    until, problem = time.monotonic() + SHRINKING, _problem(kind, program)
    smaller = iter(kind.smaller(program))
    while time.monotonic() < until:
        candidate = next(smaller, None)
        if candidate is None:
            break
        found = _problem(kind, candidate)
        if found is not None and type(found) is type(problem):
            program, problem, smaller = candidate, found, iter(kind.smaller(candidate))
    return f"{program.text()}\n{_told(problem) if problem else 'It does not break a law when it is run again.'}"


def _problem(kind: Kind, program: object) -> Exception | None:
    try:
        kind.check(program)
    except TooMany:
        return None
    except Exception as problem:
        return problem
    return None


# Many programs --------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Progress:
    """How many programs of which kind were seen."""

    started: float = field(default_factory=time.monotonic)
    programs: Counter[str] = field(default_factory=Counter)
    too_large: Counter[str] = field(default_factory=Counter)
    classes: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    _told: float = field(default_factory=time.monotonic)

    def add(self, done: Judged) -> None:
        self.programs[done.kind] += done.programs
        self.too_large[done.kind] += done.too_large
        self.classes[done.kind] += done.classes
        if done.problem:
            self.problems.append(done.problem)
        if time.monotonic() > self._told + BETWEEN_REPORTS:
            self._told = time.monotonic()
            seen = ", ".join(f"{kind} {number:,}" for kind, number in self.programs.items())
            print(f"{time.monotonic() - self.started:,.0f} s: {seen}", flush=True)

    def tell(self) -> None:
        print(f"\n{'kind':10}{'programs':>10}{'too large':>11}{'classes':>10}")
        for kind, number in self.programs.items():
            print(f"{kind:10}{number:>10,}{self.too_large[kind]:>11,}{self.classes[kind]:>10,}")
        print(f"{sum(self.programs.values()):,} programs, {time.monotonic() - self.started:,.0f} s")
        for problem in self.problems:
            print(f"\nA law is broken: {problem}")
        if not self.problems:
            print("Every law held.")


def check_all(jobs: Iterator[tuple[str, Sequence[int]]], seconds: float = float("inf")) -> Progress:
    """Check programs on all cores until there are no more, time is up, or a law is broken."""
    progress, until = Progress(), time.monotonic() + seconds
    workers = os.cpu_count() or 1
    with ProcessPoolExecutor(workers, initializer=_be_quiet) as pool:
        running: set[Future[Judged]] = set()
        try:
            while not progress.problems:
                while len(running) < 2 * workers and time.monotonic() < until and (job := next(jobs, None)):
                    running.add(pool.submit(_judged, *job))
                if not running:
                    break
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    progress.add(future.result())
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
    return progress


def _be_quiet() -> None:
    """Coroutines that are given up complain when they are collected, which is no news."""
    sys.unraisablehook = lambda _: None
    warnings.simplefilter("ignore")


def _judged(kind: str, seeds: Sequence[int]) -> Judged:
    return judged(KINDS[kind], seeds)


def fixed_jobs(kinds: Sequence[Kind]) -> Iterator[tuple[str, Sequence[int]]]:
    for kind in kinds:
        for first in range(0, kind.programs, BATCH):
            yield kind.name, range(first, min(first + BATCH, kind.programs))


def fresh_jobs(kinds: Sequence[Kind]) -> Iterator[tuple[str, Sequence[int]]]:
    """Without end, in the proportions of the fixed ones."""
    random = SystemRandom()
    weights = [kind.programs for kind in kinds]
    while True:
        first = random.randrange(2**48)
        yield random.choices(kinds, weights)[0].name, range(first, first + BATCH)


# Mutants --------------------------------------------------------------------------------------------------------


def caught(mutant: Mutant) -> tuple[str, int] | None:
    """The first program that catches a mutant, by its kind and seed; None if there is none."""
    with mutant.put_in():
        for name, seed in _programs_for(mutant):
            kind = KINDS[name]
            try:
                kind.check(kind.draw(Random(seed)), (mutant.engine,) if kind.classes else ("sleep", mutant.engine))
            except TooMany:
                continue
            except (Broken, InternalError):
                return name, seed
    return None


def _programs_for(mutant: Mutant) -> Iterator[tuple[str, int]]:
    """Those of its kinds; first the one that is known to catch it, which saves time only."""
    if mutant.known is not None:
        yield mutant.known
    for name in mutant.kinds:
        yield from ((name, seed) for seed in range(KINDS[name].programs))


def check_mutants() -> list[str]:
    """The names of mutants that no program catches."""
    started = time.monotonic()
    with ProcessPoolExecutor(os.cpu_count() or 1, initializer=_be_quiet) as pool:
        found = list(pool.map(_caught, range(len(MUTANTS))))
    for mutant, by in zip(MUTANTS, found, strict=True):
        if by is not None and mutant.known is not None and by != mutant.known:
            print(f"The mutant `{mutant.name}` is caught by {by} now, which takes longer to find.")
    left = [mutant.name for mutant, by in zip(MUTANTS, found, strict=True) if by is None]
    print(f"{len(MUTANTS) - len(left)} of {len(MUTANTS)} mutants caught, {time.monotonic() - started:,.0f} s")
    return left


def _caught(number: int) -> tuple[str, int] | None:
    return caught(MUTANTS[number])


def main() -> int:
    parser = argparse.ArgumentParser(prog="conformance", description=__doc__.partition("\n")[0])
    parser.add_argument("kinds", nargs="*", help=f"of programs: {', '.join(KINDS)}")
    parser.add_argument("--soak", action="store_true", help="fresh seeds, until SOAK_SECONDS are over")
    parser.add_argument("--no-mutants", action="store_true")
    parser.add_argument("--seed", type=int, help="only the program with this seed, shown")
    options = parser.parse_args()
    names = list(options.kinds or KINDS)
    if NEED_SPIN & set(names) and not shutil.which("spin"):
        print("SPIN is not installed: neither Porcini nor the judge of Promela is checked against it")
        names = [name for name in names if name not in NEED_SPIN]
    kinds = [KINDS[name] for name in names]
    if options.seed is not None:
        print(kinds[0].draw(Random(options.seed)).text())
        print(judged(kinds[0], [options.seed]).problem or "Every law held.")
        return 0
    if options.soak:
        progress = check_all(fresh_jobs(kinds), float(os.environ.get("SOAK_SECONDS", "inf")))
        progress.tell()
        return 1 if progress.problems else 0
    progress = check_all(fixed_jobs(kinds))
    progress.tell()
    survivors = [] if options.no_mutants or progress.problems else check_mutants()
    for survivor in survivors:
        print(f"No program catches the mutant `{survivor}`.")
    return 1 if progress.problems or survivors else 0


if __name__ == "__main__":
    sys.exit(main())
