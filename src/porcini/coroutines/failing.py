"""Calls that may raise: what is named in `errors` is replaced by functions that ask the run whether they do.

One that does raises instead of being called. A coroutine function raises where it is awaited, and others may go
before that, as with a server that does not answer; to raise at once is one of these orders (see `mocks`).
"""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Sequence
from typing import Any

from porcini.core.errors import InputError
from porcini.coroutines.clocks import Watch, followed
from porcini.coroutines.faults import Error
from porcini.langs.aio import hook
from porcini.langs.aio.sites import OUTSIDE


def instance_of(error: Error) -> BaseException:
    """What is raised: without arguments, if it can be made so."""
    for args in ((), ("a fault that was chosen",)):
        try:
            return error.raises(*args)
        except TypeError:
            continue
    raise InputError(
        f"`{error.raises.__qualname__}` cannot be made without arguments",
        hint="name a subclass of it whose __init__ takes none",
    )


def failing(function: Any, kinds: Sequence[int], errors: Sequence[Error], suspends: bool) -> Any:
    """A function that may raise some of these errors, by their numbers, when a step calls it."""

    def struck() -> BaseException | None:
        loop = Watch.loop()
        striking = loop.faults if loop is not None else None
        kind = striking.raises(kinds) if striking is not None else None
        return None if kind is None else instance_of(errors[kind])

    if asyncio.iscoroutinefunction(function):

        @functools.wraps(function)
        async def may_raise_later(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            problem = struck()
            if problem is not None:
                loop = Watch.loop()
                if suspends and loop is not None and loop.mode == "any":
                    await asyncio.sleep(0)
                raise problem
            return await awaited(function, *args, **kwargs)

        return followed(may_raise_later)

    @functools.wraps(function)
    def may_raise(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        problem = struck()
        if problem is not None:
            raise problem
        return globals()["@call_later"](function, OUTSIDE)(*args, **kwargs)

    return followed(may_raise)


def awaited(function: Any, *args: Any, **kwargs: Any) -> Any:
    """What a call gives to await; what it does is recorded if it can be, and opaque if not."""
    called = globals()["@call_later"](function, OUTSIDE)(*args, **kwargs)
    return globals()["@watch_awaited"](called, OUTSIDE)


hook.prepare(globals(), __name__)
