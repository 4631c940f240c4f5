"""Dicts with weak keys, as far as the keys are tasks: `states[asyncio.current_task()]`.

A run keeps all of its tasks, so no such key goes away by itself, and whoever looks up, sets or deletes it
touches that item alone. Whatever looks at the dict as a whole, or has other keys, is opaque, and conflicts with
all of these.
"""

from __future__ import annotations

import asyncio
import weakref
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.operations.entries import log


def access_task_key(obj: Any, key: Any, number: int, kind: int) -> bool:
    """Log the access to an item of a dict with weak keys. Is it one whose key is a task?"""
    if type(obj) is not weakref.WeakKeyDictionary or not is_lasting(key):
        return False
    log((obj, number, kind, (f"[{rules.format_key(key)}]",)))
    return True


def is_lasting(obj: object) -> bool:
    """Does a run keep this, whoever lets go of it?"""
    return issubclass(type(obj), asyncio.Task) and rules.is_seen_by_loop(obj)
