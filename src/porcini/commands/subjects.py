"""What a request is about: a model, or real code; and what commands may ask of either.

Subject      a program with what it is run with, and what a report says it is about
Opened       the same, ready to be run: it knows how to search itself, and what to say of its runs

A model with its inputs is a subject (`ModelSubject`), and so is a coroutine function with its arguments
(`coroutines.code.Code`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError
from porcini.core.reports import Counterexample, Coverage, PropertyName, Report
from porcini.core.systems import Program, System, Value
from porcini.engines.catalogue import Engine, explored
from porcini.engines.options import Options
from porcini.engines.stats import SearchStats
from porcini.models import Model, load, names_function
from porcini.properties.outcomes import EXPLORED, Question
from porcini.properties.shrink import shrunk

Coroutine = Callable[..., Any]
"""A coroutine function: real code. As text it is `package.module:function`."""


class Opened(Protocol):
    """A program that is ready to be run."""

    @property
    def program(self) -> Program: ...

    def search(self, engine: Engine, stats: SearchStats, options: Options) -> SearchStats:
        """Let an engine explore it; what was seen may have been counted anew."""

    def simplified(self, example: Counterexample, stats: SearchStats) -> Counterexample:
        """The same counterexample in orders that are easier to read."""

    def notes(self) -> tuple[str, ...]:
        """What should be known of how the program was read, and of what it did."""

    def coverage(self) -> Coverage | None: ...

    def explained(self, report: Report) -> Report:
        """With the counterexample, or the one run, in detail. Asked when the program has been closed."""


class Subject(Protocol):
    """What a request is about."""

    @property
    def file(self) -> str: ...

    @property
    def language(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    @property
    def model(self) -> Model:
        """For commands that are for models only: others refuse."""

    @property
    def observed(self) -> frozenset[str] | None:
        """The names that count as the outcome; None if all do."""

    def wanted(self, question: Question) -> tuple[PropertyName, ...]:
        """The properties that are asked for, in order."""

    def opened(self, *, optimise: bool = False) -> AbstractContextManager[Opened]:
        """Ready for a search; `optimise` for those that keep states."""

    def recorded(self) -> AbstractContextManager[Opened]:
        """Ready for one run, of which everything is kept that can be told about it."""

    def system(self, *, optimise: bool = False) -> System:
        """For commands that keep states."""


@dataclass(frozen=True, slots=True)
class ModelSubject:
    """A model, values for its inputs, and the names that count as the outcome."""

    model: Model
    inputs: Mapping[str, Value] = field(default_factory=dict)
    observe: frozenset[str] | None = None

    @property
    def file(self) -> str:
        return self.model.file

    @property
    def language(self) -> str:
        return self.model.language

    @property
    def capabilities(self) -> Capabilities:
        return self.model.capabilities

    @property
    def observed(self) -> frozenset[str] | None:
        if self.observe is None:
            return None
        known = self.model.observable
        for name in sorted(self.observe):
            if name not in known and name.rpartition(".")[2] not in known:
                hint = f"known: {', '.join(sorted(known))}" if known else None
                raise InputError(f"cannot observe `{name}`: no such variable", file=self.file, hint=hint)
        return self.observe

    def wanted(self, question: Question) -> tuple[PropertyName, ...]:
        return (question.property,) if question.property else question.properties or EXPLORED

    @contextmanager
    def opened(self, *, optimise: bool = False) -> Iterator[OpenedModel]:
        yield OpenedModel(self.model, self.system(optimise=optimise))

    def recorded(self) -> AbstractContextManager[OpenedModel]:
        return self.opened()

    def system(self, *, optimise: bool = False) -> System:
        return self.model.system(self.inputs, optimise=optimise)


@dataclass(slots=True)
class OpenedModel:
    """A model that was compiled."""

    model: Model
    program: Program

    def search(self, engine: Engine, stats: SearchStats, options: Options) -> SearchStats:
        self.program, stats = explored(engine, self.program, stats, options)
        return stats

    def simplified(self, example: Counterexample, stats: SearchStats) -> Counterexample:
        return shrunk(example)

    def notes(self) -> tuple[str, ...]:
        return (*self.model.notes, *self.program.noticed())

    def coverage(self) -> None:
        return None

    def explained(self, report: Report) -> Report:
        return report


def function_of(program: Model | str | Path | Coroutine) -> Coroutine | None:
    """A coroutine function, as it is or by its name; None for a model or a file."""
    if isinstance(program, Model | Path):
        return None
    if not isinstance(program, str):
        return program
    if not names_function(program):
        return None
    from porcini.coroutines import from_name

    return from_name(program)


def model_of(program: Model | str | Path | Coroutine) -> Model:
    assert not callable(program), "functions are dealt with before"
    return program if isinstance(program, Model) else load(program)
