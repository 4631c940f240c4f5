"""What a command is asked about: a model, the path of one, or a coroutine function."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from porcini.core.errors import InputError
from porcini.models import Model, load

Coroutine = Callable[..., Any]
"""A coroutine function: real code. As text it is `package.module:function`."""


def not_for_coroutines(**given: object) -> None:
    """What is left out without a word would be taken for done."""
    for name, value in given.items():
        if value:
            hint = "it is always asked for failures and deadlocks" if name == "property" else None
            raise InputError(f"`{name}` is not for coroutine functions", hint=hint)


_FUNCTION = re.compile(r"[\w.]+:[\w.]+\Z")


def function_of(model: Model | str | Path | Coroutine) -> Coroutine | None:
    """A coroutine function, as it is or by its name; None for a model or a file."""
    if isinstance(model, Model | Path):
        return None
    if isinstance(model, str):
        if not _FUNCTION.match(model) or Path(model).exists():
            return None
        from porcini.coroutines import from_name

        return from_name(model)
    return model


def model_of(model: Model | str | Path | Coroutine) -> Model:
    assert not callable(model), "functions are dealt with before"
    return model if isinstance(model, Model) else load(model)


def observed_names(model: Model, observe: Iterable[str] | None) -> frozenset[str] | None:
    if observe is None:
        return None
    names = frozenset(observe)
    known = model.observable
    for name in sorted(name for name in names if name not in known and name.rpartition(".")[2] not in known):
        hint = f"known: {', '.join(sorted(known))}" if known else None
        raise InputError(f"cannot observe `{name}`: no such variable", file=model.file, hint=hint)
    return names
