"""Entries of the log, and of the list of new objects, for what is not logged in line."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from porcini.langs.aio import lookups, rules
from porcini.langs.aio.log import ADD, CREATED, LOG, OPAQUE, Token
from porcini.langs.aio.sites import NAMES

MANY = 4096
"""A log that is longer than this is turned into locations in the middle of a step (`drain_log`)."""
_sink: Callable[[tuple[Any, ...]], None] = LOG.append
_drain: Callable[[], None] = LOG.clear
_release_objects: Callable[[], None] = CREATED.clear


def redirect(
    sink: Callable[[tuple[Any, ...]], None], drain: Callable[[], None], release: Callable[[], None]
) -> None:
    """Who gets the log (a detailed recorder wants to see each access when it happens), and who holds objects."""
    global _sink, _drain, _release_objects
    _sink, _drain, _release_objects = sink, drain, release


def drain_log() -> None:
    """Turn the log into locations now: to be called if it has more than `MANY` entries."""
    _drain()


def log(entry: tuple[Any, ...]) -> None:
    """One more entry of the log."""
    _sink(entry)


def mark_opaque(name: str, number: int) -> None:
    """The step runs code that is not followed."""
    log((name, number, 0, OPAQUE))


def lose_track(name: str, number: int) -> None:
    """From here on nothing is certain: this step, and all that come after it in this run, are opaque."""
    mark_opaque(name, number)
    rules.LOST.add(name)


def release_objects() -> None:
    """Hold no object of the program's any more. What has names by its identity loses them: see `lose_track`."""
    _release_objects()


def log_access(obj: Any, number: int) -> Any:
    """An attribute of `obj` is accessed here."""
    log((obj, number))
    return obj


def log_addition(obj: Any, number: int) -> None:
    """Before `obj.a += 1`. Nobody can say what a descriptor does with the sum."""
    name = NAMES[number]
    log_addition_to_variable(obj, number, lookups.peek(obj, name) if lookups.is_stored(type(obj), name) else None)


def log_addition_to(obj: Any, number: int) -> Any:
    """The same; gives back the object."""
    log_addition(obj, number)
    return obj


def log_addition_to_variable(owner: Any, number: int, value: Any) -> None:
    """Before `x += 1`, where x has this value."""
    if type(value) is int:
        log((owner, number, ADD, _suffix(number)))
    else:
        log((owner, number))


@functools.cache
def _suffix(number: int) -> tuple[str]:
    return ("." + NAMES[number],)


def log_finaliser(number: int) -> None:
    """`__del__` runs: whoever else let go of the object is to blame as well, and did not say so."""
    mark_opaque("a finaliser", number)


def register_new(obj: Any) -> Any:
    """A display or a comprehension: certainly a new object."""
    CREATED.append(obj)
    return obj


def create_token(kind: type[Token] = Token) -> Token:
    """Stands for the closure variables of a function that begins here, or for the frame of a generator."""
    created = kind()
    CREATED.append(created)
    return created
