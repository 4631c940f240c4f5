"""Requests: the program, the question, and the limits.

Users give all of this by name: as options of the command line, or as keywords (`KEYWORDS` says which command takes
which). `request_of` sorts it into records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from porcini.commands.programs import ModelSubject, ProgramReference, function_of, model_of
from porcini.core.errors import InputError
from porcini.core.events import Schedule
from porcini.core.languages import Model
from porcini.core.reports import Cycles, PropertyName
from porcini.core.systems import Value
from porcini.engines.limits import DEFAULT_SOLVER_TIMEOUT, Limits
from porcini.engines.options import Options
from porcini.engines.stats import Watcher
from porcini.properties.outcomes import Question
from porcini.subjects import Subject

if TYPE_CHECKING:
    from porcini.coroutines.faults import Faults
    from porcini.coroutines.guards import Guards
    from porcini.langs.aio.loop import Mode

R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Following:
    """One run: a schedule as far as it goes, then a loop, or the random choices of a seed."""

    schedule: Schedule | str = ()
    loop: Schedule | str | None = None
    seed: int = 0
    trace: str | Path | None = None
    """A file to write it to."""
    stop_at: int | None = None
    """After how many steps to stop; None is at the end."""
    watched: Sequence[str] = ()
    """The variables whose changes are wanted; all of them if none is given."""
    trail: str | Path | None = None
    """A trail from SPIN to follow instead of a schedule."""
    write_trail: str | Path | None = None
    """A file to write it to, as a trail for SPIN."""


@dataclass(frozen=True, slots=True)
class AllInputs:
    """How to search for all inputs at once."""

    names: tuple[str, ...] = ()
    """If a program declares no inputs, but can take some: the variables that are to be inputs."""
    equivalence: str = "syntactic"
    reduced: bool = True
    solver_timeout: float = DEFAULT_SOLVER_TIMEOUT
    with_cases: bool = False
    """Should the report contain a test case for each class?"""


@dataclass(frozen=True, slots=True)
class Request:
    """What a command is asked. Each command uses the parts that concern it."""

    subject: Subject
    engine: str | None = None
    """None is the default engine of the command."""
    independence: str = "syntactic"
    question: Question = field(default_factory=Question)
    following: Following = field(default_factory=Following)
    """The run that is asked about; for an `explore` that stops at the first violation, one to try before all
    others."""
    options: Options = field(default_factory=Options)
    limits: Limits = field(default_factory=Limits)
    all_inputs: AllInputs = field(default_factory=AllInputs)
    seeds: bool = False
    """For `permute`: should the report list the prefixes that lead to other classes?"""
    watch: Watcher | None = None


_OF_FUNCTIONS = {
    "mode": "any",
    "packages": (),
    "args": (),
    "suspend": True,
    "cancel": False,
    "timeouts": False,
    "errors": {},
}
"""What is said about coroutine functions only, and what it is unless it is said."""


# By name ------------------------------------------------------------------------------------------------------


class OfModel(TypedDict, total=False):
    """What a model is run with: values for its inputs, and what counts as its outcome."""

    inputs: Mapping[str, Value] | None
    observe: Iterable[str] | None


class OfProgram(OfModel, total=False):
    """The same for a coroutine function: its arguments, which tasks can go next, which packages are instrumented
    besides the user's code, its guards against the outside world, and what may go wrong by choice."""

    args: Sequence[object]
    mode: Mode
    packages: Sequence[str]
    guards: Guards | None
    suspend: bool
    """May others go before an `AsyncMock`, or a function that a test has replaced, has answered?"""
    cancel: int | bool
    """The number of a task that may be cancelled at any of its awaits, or True for any task."""
    timeouts: bool
    """May timers fire before their time?"""
    errors: Mapping[type[BaseException], str | Sequence[str]]
    """What may be raised by calls of which functions."""
    max_faults: int
    """How many of these may strike in one run."""


class OfSearch(TypedDict, total=False):
    limits: Limits | None
    watch: Watcher | None
    """It is called now and then, for a progress line."""


class RunOptions(OfProgram, total=False):
    seed: int
    schedule: Schedule | str
    limits: Limits | None
    trace: str | Path | None
    """A file to write the run to."""


class ReplayOptions(OfProgram, total=False):
    trace: str | Path | None
    stop_at: int | None
    """After how many steps to stop, short of the end."""
    watched: Sequence[str]
    """The variables whose changes are wanted, instead of all."""
    trail: str | Path | None
    """A trail from SPIN to follow, instead of the schedule."""
    write_trail: str | Path | None
    """A file to write the run to, as a trail for SPIN."""
    loop: Schedule | str | None
    """What is repeated for ever after the schedule: it must lead back to where it begins."""


class CompareOptions(OfModel, total=False):
    property: PropertyName | None
    limits: Limits | None


class ExploreOptions(OfProgram, OfSearch, total=False):
    engine: str
    independence: str
    property: PropertyName | None
    """The only property to check."""
    properties: tuple[PropertyName, ...]
    """The properties to check, in this order."""
    deterministic: bool
    """What a coroutine function returns must not depend on the order."""
    first: bool
    """Stop at the first violation."""
    options: Options | None


class VerifyOptions(OfModel, OfSearch, total=False):
    ltl: str | None
    options: Options | None


class CheckOptions(VerifyOptions, total=False):
    engine: str | None
    first: bool
    formula: str | None
    """The name of one of the model's own formulas."""
    pattern: str | None
    """States to search for: a pattern of the language's own (rewrite theories)."""
    claim: str | Path | None
    """A file with a never claim."""
    cycles: Cycles | None
    """The kind of infinite runs to look for: acceptance cycles, or those without progress."""


class SymbolicOptions(OfSearch, total=False):
    names: Sequence[str]
    """Variables that are to be inputs, where a program declares none but takes some (Promela)."""
    equivalence: str
    reduced: bool
    solver_timeout: float
    with_cases: bool
    observe: Iterable[str] | None


class PermuteOptions(OfModel, OfSearch, total=False):
    seed: int
    schedule: Schedule | str
    seeds: bool


class PermuteTraceOptions(OfSearch, total=False):
    seeds: bool
    observe: Iterable[str] | None


KEYWORDS: dict[str, frozenset[str]] = {
    "run": RunOptions.__optional_keys__,
    "replay": ReplayOptions.__optional_keys__ | {"schedule"},
    "explore": ExploreOptions.__optional_keys__,
    "compare": CompareOptions.__optional_keys__,
    "check": CheckOptions.__optional_keys__,
    "verify_reduction": VerifyOptions.__optional_keys__,
    "check_annotations": VerifyOptions.__optional_keys__,
    "symbolic": SymbolicOptions.__optional_keys__,
    "permute": PermuteOptions.__optional_keys__,
    "transform": frozenset({"ltl", "options"}),
}
"""The keywords of each command."""


def request_of(command: str, program: ProgramReference, given: Mapping[str, Any]) -> Request:
    """A request from what was given by name."""
    for name in (
        given.keys() - KEYWORDS[command]
    ):  # an option that is silently ignored would seem to have an effect
        raise TypeError(f"{command}() got an unexpected keyword argument {name!r}")
    return Request(
        subject_of(program, given),
        question=pick(Question, given),
        following=pick(Following, given),
        options=given.get("options") or Options(),
        limits=given.get("limits") or Limits(),
        all_inputs=pick(AllInputs, given),
        **{name: given[name] for name in ("engine", "independence", "seeds", "watch") if name in given},
    )


def pick(record: type[R], given: Mapping[str, Any]) -> R:
    """A record with the given values, and defaults for all others."""
    names = [each.name for each in fields(record)]  # type: ignore[arg-type]  # it is a dataclass
    return record(**{name: given[name] for name in names if name in given})


def subject_of(program: ProgramReference, given: Mapping[str, Any]) -> Subject:
    """A program with its inputs or arguments."""
    function = function_of(program)
    if function is None:
        observe = given.get("observe")
        names = None if observe is None else frozenset(observe)
        for name, usual in _OF_FUNCTIONS.items():
            value = given.get(name, usual)
            if value is not usual and value not in (None, "any", (), [], {}):  # 0 is a task, and not False
                raise InputError(f"`{name}` is for coroutine functions", hint="module:function")
        model, claim = model_of(program), given.get("claim")
        return ModelSubject(_with_claim(model, claim) if claim else model, given.get("inputs") or {}, names)
    from porcini.coroutines.code import Code  # real code is loaded when it is needed

    for name in ("observe", "inputs"):
        if given.get(name):
            raise InputError(f"`{name}` is not for coroutine functions")
    return Code(
        function,
        tuple(given.get("args", ())),
        given.get("mode", "any"),
        tuple(given.get("packages", ())),
        _guards(given),
        _faults(given),
    )


def _guards(given: Mapping[str, Any]) -> Guards | None:
    from porcini.coroutines.guards import Guards

    guards: Guards | None = given.get("guards")
    return guards if given.get("suspend", True) else replace(guards or Guards(), suspend=False)


def _faults(given: Mapping[str, Any]) -> Faults:
    from porcini.coroutines.faults import Faults, errors_from

    return Faults(
        given.get("cancel", False),
        given.get("timeouts", False),
        errors_from(given.get("errors") or {}),
        given.get("max_faults", 1),
    )


def _with_claim(model: Model, file: str | Path) -> Model:
    """A model with the never claim in a file."""
    try:
        text = Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise InputError(f"cannot be read: {problem}", file=str(file)) from None
    return model.with_claim(text, str(file))
