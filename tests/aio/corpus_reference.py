"""Every order of ready handles, by brute force: the oracle for asyncio programs. Standard library only.

How it works, in call order:
1. `explore` runs a coroutine function again and again, each time with a list of choices that the run follows as
   far as it goes and continues with choice 0 (asyncio's own FIFO order). Then the last choice that has a next
   one is increased: depth first, no state kept.
2. `run` does one such run on a fresh `ChoiceLoop`: one handle per step, until the main task is done, nothing can
   move, or a limit is hit.
3. `ChoiceLoop._run_once` is the scheduling model: any ready handle may go next (task steps, wake-ups and plain
   callbacks alike); time is virtual and moves only when nothing is ready; timers due at one instant become ready
   together.
4. The outcome is that of the main task. What other tasks would still do after it does not count: they are
   cancelled and drained.

No independence is consulted and nothing is merged, so the number of runs is the number of orders of handles.

    python tests/aio/corpus_reference.py [NAME ...]       check the corpus (or some of it) and print a table
"""

from __future__ import annotations

import asyncio
import gc
import importlib.util
import sys
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

Program = Callable[[], Coroutine[Any, Any, Any]]
# ("ok", repr(result)) | ("assertion", text) | ("error", type) | ("deadlock",) | ("limit",)
Outcome = tuple[str, ...]

CORPUS = Path(__file__).parent / "corpus"
INSTANT = 1e-9  # timers closer than this are due at the same instant


class Deadlock(BaseException):
    """Nothing is ready, nothing is scheduled, the main task is pending."""


class StepLimit(BaseException):
    """The run has taken its maximal number of steps."""


class ReplayError(Exception):
    """A prefix met another number of ready handles than before: the program is no function of its choices."""


class ChoiceLoop(asyncio.BaseEventLoop):
    """An event loop in which a list of choices decides which ready handle runs next.

    Where only one handle is ready there is no choice; elsewhere `path` records (chosen, number of ready handles).
    """

    def __init__(self, choices: Sequence[int], max_steps: int) -> None:
        super().__init__()
        self.path: list[tuple[int, int]] = []
        self.steps = 0
        self.main: asyncio.Future[Any] | None = None
        self._choices = choices
        self._max_steps = max_steps
        self._now = 0.0
        self._timers: list[asyncio.TimerHandle] = []  # in order of creation, unlike asyncio's heap
        self.set_exception_handler(lambda loop, context: None)

    def time(self) -> float:
        return self._now

    def call_at(self, when: float, callback: Any, *args: Any, context: Any = None) -> asyncio.TimerHandle:
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._timers.append(timer)
        return timer

    def run_in_executor(self, *args: Any) -> Any:
        raise RuntimeError("the reference explorer has no threads")

    def _write_to_self(self) -> None:
        """call_soon_threadsafe wants it, which the finalizers of async generators call."""

    def _ready_handles(self) -> list[asyncio.Handle]:
        """What may run next. Lets time pass if that is nothing."""
        ready = [handle for handle in self._ready if not handle.cancelled()]
        if not ready:
            self._timers = [timer for timer in self._timers if not timer.cancelled()]
            if self._timers:
                self._now = max(self._now, min(timer.when() for timer in self._timers))
                ready = [timer for timer in self._timers if timer.when() <= self._now + INSTANT]
                self._timers = [timer for timer in self._timers if timer.when() > self._now + INSTANT]
        return ready

    def _run_once(self) -> None:
        assert self.main is not None
        if self.main.done():
            self.stop()
            return
        ready = self._ready_handles()
        if not ready:
            raise Deadlock
        if self.steps == self._max_steps:
            raise StepLimit
        self.steps += 1
        chosen = 0
        if len(ready) > 1:
            depth = len(self.path)
            chosen = self._choices[depth] if depth < len(self._choices) else 0
            if chosen >= len(ready):
                raise ReplayError(f"choice {depth} is {chosen}, but {len(ready)} handles are ready")
            self.path.append((chosen, len(ready)))
        handle = ready.pop(chosen)
        self._ready.clear()
        self._ready.extend(ready)
        handle._run()

    def drain(self, max_steps: int = 200) -> None:
        """After a run: cancel what is left and let it finish in FIFO order, so that nothing stays behind."""
        for work in (self._cancel_all, self.shutdown_asyncgens):
            self.main = self.create_task(work())
            self.steps, self._choices, self._max_steps = 0, (), max_steps
            try:
                self.run_forever()
            except (Deadlock, StepLimit):
                self.main.cancel()
        for task in asyncio.all_tasks(self):
            task._log_destroy_pending = False  # type: ignore[attr-defined]
        self.close()

    async def _cancel_all(self) -> None:
        rest = asyncio.all_tasks(self) - {asyncio.current_task(self)}
        for task in rest:
            task.cancel()
        if rest:
            await asyncio.wait(rest)


def failure_leaves(error: BaseException) -> Iterator[BaseException]:
    """The exceptions in an exception group, or the exception itself."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from failure_leaves(inner)
    else:
        yield error


def outcome_of(main: asyncio.Future[Any]) -> Outcome:
    """How the main task ended. An exception group counts as what is in it, a failed assertion before others."""
    if main.cancelled():
        return ("error", "CancelledError")
    error = main.exception()
    if error is None:
        return ("ok", repr(main.result()))
    leaves = list(failure_leaves(error))
    for leaf in leaves:
        if isinstance(leaf, AssertionError):
            return ("assertion", str(leaf))
    return ("error", " ".join(sorted({type(leaf).__name__ for leaf in leaves})))


@dataclass(frozen=True)
class Run:
    """One run: its outcome, its choices with the number of ready handles at each, its steps (handles run)."""

    outcome: Outcome
    path: tuple[tuple[int, int], ...]
    steps: int

    @property
    def choices(self) -> tuple[int, ...]:
        return tuple(chosen for chosen, _ in self.path)


def run(program: Program, choices: Sequence[int] = (), *, max_steps: int = 1000) -> Run:
    """One run of `program` that follows `choices`, then FIFO order. `run(program)` is what plain asyncio does."""
    loop = ChoiceLoop(choices, max_steps)
    outcome: Outcome
    try:
        loop.main = loop.create_task(program())
        loop.run_forever()
        outcome = outcome_of(loop.main)
    except Deadlock:
        outcome = ("deadlock",)
    except StepLimit:
        outcome = ("limit",)
    finally:
        path, steps = tuple(loop.path), loop.steps
        loop.drain()
    return Run(outcome, path, steps)


@dataclass
class Exploration:
    """All outcomes, each with the choices of the first run that had it, and how many runs had it."""

    first: dict[Outcome, tuple[int, ...]] = field(default_factory=dict)
    counts: dict[Outcome, int] = field(default_factory=dict)
    runs: int = 0
    complete: bool = False  # max_runs was not hit; runs cut at max_steps have the outcome ("limit",)

    @property
    def outcomes(self) -> set[Outcome]:
        """The outcomes of runs that came to an end."""
        return {outcome for outcome in self.counts if outcome != ("limit",)}

    @property
    def kinds(self) -> set[str]:
        return {outcome[0] for outcome in self.outcomes}

    @property
    def cut(self) -> int:
        """How many runs were cut at max_steps."""
        return self.counts.get(("limit",), 0)


def explore(program: Program, *, max_runs: int = 100_000, max_steps: int = 1000) -> Exploration:
    """Run `program` in every order of ready handles."""
    found = Exploration()
    prefix: list[int] = []
    before: tuple[tuple[int, int], ...] = ()
    while found.runs < max_runs:
        one = run(program, prefix, max_steps=max_steps)
        if [of for _, of in one.path[: len(prefix)]] != [of for _, of in before[: len(prefix)]]:
            raise ReplayError(f"{prefix} met other ready handles than before")
        found.runs += 1
        found.first.setdefault(one.outcome, one.choices)
        found.counts[one.outcome] = found.counts.get(one.outcome, 0) + 1
        before = one.path
        depth = len(before)
        while depth and before[depth - 1][0] + 1 == before[depth - 1][1]:
            depth -= 1
        if not depth:
            found.complete = True
            break
        prefix = [chosen for chosen, _ in before[:depth]]
        prefix[-1] += 1
    return found


def verdict(found: Exploration) -> str:
    """In the corpus' words: how it fails, else `nondeterministic` (several results) or `holds` (one)."""
    failures = sorted(found.kinds - {"ok"})
    if failures:
        return " ".join(failures)
    return "holds" if len(found.outcomes) == 1 else "nondeterministic"


def as_expected(found: Exploration, expected: str) -> bool:
    """Does it show what a program's EXPECTED says? `passes`: never a failure, and rightly several results."""
    if not found.complete or not found.outcomes:
        return False
    return verdict(found) == ("nondeterministic" if expected == "passes" else expected)


def load(name: str) -> ModuleType:
    """A corpus module, freshly executed, under a name that cannot meet another module's."""
    spec = importlib.util.spec_from_file_location(f"aio_corpus_{name}", CORPUS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def corpus_names() -> list[str]:
    return sorted(path.stem for path in CORPUS.glob("*.py"))


def max_steps_of(module: ModuleType) -> int:
    """A program that waits busily says how many steps are enough to show everything (`MAX_STEPS`)."""
    return getattr(module, "MAX_STEPS", 1000)


def main(names: Sequence[str]) -> int:
    wrong = 0
    print(f"{'program':34} {'expected':17} {'found':17} {'fifo':10} {'runs':>6} {'cut':>5} {'sec':>5}  outcomes")
    for name in names or corpus_names():
        module = load(name)
        for which in ("buggy", "correct"):
            program, expected = getattr(module, which), module.EXPECTED[which]
            start = time.perf_counter()
            found = explore(program, max_steps=max_steps_of(module))
            took = time.perf_counter() - start
            fifo = run(program).outcome[0]
            good = as_expected(found, expected)
            wrong += not good
            shown = ", ".join(" ".join(o)[:50] + f" x{found.counts[o]}" for o in sorted(found.outcomes))
            print(
                f"{name + '.' + which:34} {expected:17} {verdict(found):17} {fifo:10} "
                f"{found.runs:6} {found.cut:5} {took:5.2f}"
                f"{'  ' if good else ' !'}{'' if found.complete else '(incomplete) '}{shown}"
            )
        gc.collect()
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
