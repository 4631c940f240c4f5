"""What a request is about: a model, or real code; and what commands may ask of either.

Subject      a program with what it is run with, and what a report says it is about
Opened       the same, ready to be run: it knows how to search itself, and what to say of its runs

A model with its inputs is a subject (`commands.programs.ModelSubject`), and so is a coroutine function with its
arguments (`coroutines.code.Code`). Defaults are what suits a model.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InternalError
from porcini.core.languages import Model
from porcini.core.recordings import Recording
from porcini.core.reports import Counterexample, Coverage, Outcome, PropertyName, Report
from porcini.core.systems import Program, System, Value
from porcini.engines.catalogue import Engine, run_engine
from porcini.engines.options import Options
from porcini.engines.recording import RecordedProgram
from porcini.engines.replaying import RunResult, replay
from porcini.engines.stats import SearchStats
from porcini.properties.outcomes import Question
from porcini.properties.shrink import shrink


class Opened:
    """A program that is ready to be run. `said` is what should be known of how it was read, `inputs` are values
    that it was given."""

    def __init__(
        self, program: Program, said: tuple[str, ...] = (), inputs: Mapping[str, Value] | None = None
    ) -> None:
        self.program = program
        self.said = said
        self.inputs = inputs or {}
        self._recorder: RecordedProgram | None = None

    def search(self, engine: Engine, stats: SearchStats, options: Options) -> SearchStats:
        """Let an engine explore it; what was seen may have been counted anew."""
        self.program, stats = run_engine(engine, self.program, stats, options)
        return stats

    def follow(self, go: Callable[[Program], RunResult], *, keep: bool) -> RunResult:
        """One run; `keep` it if a `recording` of it will be wanted."""
        if not keep:
            return go(self.program)
        self._recorder = RecordedProgram(self.program)
        recorded = go(self._recorder)
        return replace(recorded, run=self._recorder.run)

    def recording(self, *, stopped: bool) -> Recording:
        """The run that was kept, in every detail; one that was stopped is not asked how it could go on."""
        if self._recorder is None:
            raise InternalError("a run that was not kept cannot be written down")
        return replace(self._recorder.recording(stopped=stopped), inputs=dict(self.inputs))

    def simplified(self, example: Counterexample, stats: SearchStats) -> Counterexample:
        """The same counterexample in orders that are easier to read."""
        return shrink(example)

    def confirm(self, runs: Sequence[Outcome]) -> None:
        """Run again what was put into another order since it was found: it must end as it did."""
        for outcome in runs:
            if outcome.kind in ("terminated", "deadlock"):
                _, run = replay(self.program, outcome.schedule)
                final = run.final()
                if final.kind != outcome.kind or any(final.state[name] != v for name, v in outcome.state.items()):
                    shown = " ".join(f"{move.pid}" for move in outcome.schedule)
                    message = f"a run and a reordering of it end differently: {shown}"
                    raise self.program.independence_error(message)

    def notes(self) -> tuple[str, ...]:
        """What should be known of how the program was read, and of what it did."""
        return (*self.said, *self.program.runtime_notes())

    def coverage(self) -> Coverage | None:
        """For real code: how much was seen of what it did."""
        return None

    def explained(self, report: Report) -> Report:
        """With the counterexample, or the one run, in detail. Asked when the program has been closed."""
        return report


class Subject(ABC):
    """What a request is about."""

    __slots__ = ()

    @property
    @abstractmethod
    def file(self) -> str: ...

    @property
    @abstractmethod
    def language(self) -> str: ...

    @property
    @abstractmethod
    def capabilities(self) -> Capabilities: ...

    @property
    @abstractmethod
    def model(self) -> Model:
        """For commands that are for models only: others refuse."""

    @abstractmethod
    def wanted(self, question: Question) -> tuple[PropertyName, ...]:
        """The properties that are asked for, in order."""

    @abstractmethod
    def opened(self, *, optimise: bool = False) -> AbstractContextManager[Opened]:
        """Ready for a search; `optimise` for those that keep states."""

    def recorded(self) -> AbstractContextManager[Opened]:
        """Ready for one run, of which everything is kept that can be told about it."""
        return self.opened()

    @property
    def given_inputs(self) -> Mapping[str, Value]:
        """Values that it begins with instead of its own."""
        return {}

    @property
    def observed(self) -> frozenset[str] | None:
        """The names that count as the outcome; None if all do."""
        return None

    def system(self, *, optimise: bool = False) -> System:
        """For commands that keep states."""
        raise InternalError("the states of a program that has none were asked for")
