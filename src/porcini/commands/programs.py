"""Models as subjects of requests, and the ways in which users refer to a program."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porcini.core.capabilities import Capabilities
from porcini.core.errors import InputError
from porcini.core.reports import PropertyName
from porcini.core.systems import System, Value
from porcini.models import Model, load, names_function
from porcini.properties.outcomes import EXPLORED, Question
from porcini.subjects import Opened, Subject

Coroutine = Callable[..., Any]
"""A coroutine function: real code. As text it is `package.module:function`."""
ProgramReference = Model | str | Path | Coroutine
"""How users refer to a program: by a model, a file, a coroutine function, or the name of one."""


@dataclass(frozen=True, slots=True)
class ModelSubject(Subject):
    """A model, values for its inputs, and the names that count as the outcome."""

    read: Model
    inputs: Mapping[str, Value] = field(default_factory=dict)
    observe: frozenset[str] | None = None

    @property
    def model(self) -> Model:
        return self.read

    @property
    def file(self) -> str:
        return self.read.file

    @property
    def language(self) -> str:
        return self.read.language

    @property
    def capabilities(self) -> Capabilities:
        return self.read.capabilities

    @property
    def given_inputs(self) -> Mapping[str, Value]:
        return self.inputs

    @property
    def observed(self) -> frozenset[str] | None:
        if self.observe is None:
            return None
        known = self.read.observable
        for name in sorted(self.observe):
            if name not in known and name.rpartition(".")[2] not in known:
                hint = f"known: {', '.join(sorted(known))}" if known else None
                raise InputError(f"cannot observe `{name}`: no such variable", file=self.file, hint=hint)
        return self.observe

    def wanted(self, question: Question) -> tuple[PropertyName, ...]:
        return (question.property,) if question.property else question.properties or EXPLORED

    @contextmanager
    def opened(self, *, optimise: bool = False) -> Iterator[Opened]:
        yield Opened(self.system(optimise=optimise), self.read.notes, self.inputs)

    def system(self, *, optimise: bool = False) -> System:
        return self.read.system(self.inputs, optimise=optimise)


def function_of(program: ProgramReference) -> Coroutine | None:
    """The coroutine function that is given, or whose name is given; None for a model or a file."""
    if isinstance(program, Model | Path):
        return None
    if not isinstance(program, str):
        return program
    if not names_function(program):
        return None
    from porcini.coroutines import from_name

    return from_name(program)


def model_of(program: ProgramReference) -> Model:
    assert not callable(program), "functions are handled before"
    return program if isinstance(program, Model) else load(program)
