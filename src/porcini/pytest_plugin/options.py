"""What a mark and the command line ask for. What makes no sense is an error that says what would."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, get_args

import pytest

from porcini.core.errors import InputError
from porcini.coroutines.code import CAPABILITIES, taken
from porcini.coroutines.faults import Faults, errors_from
from porcini.coroutines.guards import Guards
from porcini.engines.catalogue import ENGINES
from porcini.engines.limits import Limits
from porcini.engines.options import USUAL
from porcini.langs.aio.loop import Mode
from porcini.pytest_plugin import MARKER

_USUAL_DEPTH = 10_000
_GIVEN = {
    "--porcini-max": "max_schedules",
    "--porcini-real-time": "real_time",
    "--porcini-seed": "seed",
    "--porcini-timeout": "timeout",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """The options of a marked test."""

    mode: Mode = "any"
    max_schedules: int = 10_000
    timeout: float | None = 60.0
    max_depth: int | None = None
    deterministic: bool = False
    engine: str = USUAL["explore"]
    allow_unknown: bool = False
    packages: tuple[str, ...] = ()
    seed: int = 0
    step_seconds: float = 5.0
    real_time: bool = False
    suspend: bool = True
    cancel: int | bool = False
    timeouts: bool = False
    errors: Mapping[type[BaseException], str | Sequence[str]] = field(default_factory=dict)
    max_faults: int = 1

    @property
    def limits(self) -> Limits:
        return Limits(self.max_schedules, self.max_depth, self.timeout, usual_depth=_USUAL_DEPTH)

    @property
    def guards(self) -> Guards:
        return Guards(self.seed, self.real_time, self.step_seconds, suspend=self.suspend)

    @property
    def faults(self) -> Faults:
        return Faults(self.cancel, self.timeouts, errors_from(self.errors), self.max_faults)


def wanted_by(item: pytest.Function) -> Wanted:
    """The options of the nearest marker, with those of the command line above them."""
    marker = item.get_closest_marker(MARKER)
    assert marker is not None
    known = {each.name for each in fields(Wanted)}
    wrong = [repr(arg) for arg in marker.args] + [name for name in marker.kwargs if name not in known]
    if wrong:
        raise InputError(
            f"@pytest.mark.{MARKER} knows no {', '.join(wrong)}", hint=f"known: {', '.join(sorted(known))}"
        )
    given = dict(marker.kwargs)
    for option, name in _GIVEN.items():
        value = item.config.getoption(option)
        if value is not None:
            given[name] = value
    for name, value in given.items():
        makes_sense, wanted = _SENSE[name]
        if not makes_sense(value):
            raise InputError(f"{name} is {value!r}: it must be {wanted() if callable(wanted) else wanted}")
    packages = given.pop("packages", ())
    packages = (packages,) if isinstance(packages, str) else tuple(packages)
    return Wanted(**given, packages=packages)


def _above_zero(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0


def _whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _names(value: Any) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list | tuple | set | frozenset) and all(isinstance(name, str) for name in value)
    )


def _runs_real_code(value: Any) -> bool:
    return value in ENGINES and CAPABILITIES.missing(ENGINES[value].needs) is None


def _switch(value: Any) -> bool:
    return isinstance(value, bool)


_NUMBER = "a number above 0, or None for no limit of your own"
_SENSE: dict[str, tuple[Callable[[Any], bool], str | Callable[[], str]]] = {
    "mode": (lambda value: value in get_args(Mode), f"one of: {', '.join(get_args(Mode))}"),
    "engine": (_runs_real_code, lambda: f"one of: {', '.join(taken())}"),
    "max_schedules": (lambda value: _whole(value) and value > 0, "a whole number of at least 1"),
    "timeout": (lambda value: value is None or _above_zero(value), _NUMBER),
    "max_depth": (lambda value: value is None or (_whole(value) and value > 0), _NUMBER),
    "step_seconds": (_above_zero, "a number of seconds above 0"),
    "seed": (_whole, "a whole number"),
    "packages": (_names, "the name of a package, or a list of names"),
    "deterministic": (_switch, "True or False"),
    "allow_unknown": (_switch, "True or False"),
    "real_time": (_switch, "True or False"),
    "suspend": (_switch, "True or False"),
    "cancel": (lambda value: _switch(value) or (_whole(value) and value >= 0), "True, or the number of a task"),
    "timeouts": (_switch, "True or False"),
    "errors": (lambda value: isinstance(value, dict), 'a dict, such as {TimeoutError: "bank:fetch"}'),
    "max_faults": (lambda value: _whole(value) and value > 0, "a whole number of at least 1"),
}
