"""What a step did to what others touch, in words.

Code of the user's reads and writes. What asyncio does inside its locks and queues is told as what it means: who
takes a lock, who finds it taken. Futures, tasks and cancellation are known from what the loop has seen.
"""

from __future__ import annotations

import asyncio
import linecache
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from porcini.core.events import Event
from porcini.core.explanations import Touch
from porcini.core.footprints import Location
from porcini.core.pids import Pid
from porcini.langs.aio.telling import Access

_ASYNCIO = str(Path(asyncio.__file__).parent)
_OURS = re.compile(r"<\??(?:porcini\.langs\.aio\.\w+\.)Seen(\w+)>")
_UNNAMED = re.compile(r"<\??(?:builtins\.)?([\w.]+?)(?:<[\d.]+#\d+/\d+>)?>")
_WORDS = {
    ("_locked", "write", "True"): "takes",
    ("_locked", "write", "False"): "releases",
    ("_locked", "read", "True"): "finds taken",
    ("_locked", "read", "False"): "finds free",
    ("_value", "write", "True"): "sets",
    ("_value", "write", "False"): "clears",
    ("_value", "read", "True"): "finds set",
    ("_value", "read", "False"): "finds unset",
}
_DEQUE = re.compile(r"deque\((.*)\)\Z")
_NUMBERED = re.compile(r"<[\d.]+#\d+/\d+>")


class Touches:
    """The touches of a run's steps, in order; `wanted` are the locations to tell of."""

    def __init__(self, wanted: set[Location], events: Sequence[Event]) -> None:
        self.wanted = wanted
        self._values: dict[str, str] = {}
        self._done: set[Location] = set()
        self._woken: dict[Pid, str] = {}
        self._writers = Counter(location for event in events for location in event.footprint.writes)

    def of(self, event: Event, accesses: Sequence[Access]) -> tuple[Touch, ...]:
        seen = [access for access in accesses if access.location in self.wanted]
        written = {access.location for access in seen if access.kind == "write"}
        found: dict[Touch, None] = {}
        for access in seen:
            touch = self._library(access, written) if in_asyncio(access.file) else _users(access, found)
            if touch is not None:
                found[touch] = None
        found.update(dict.fromkeys(self._of_loop(event)))
        return tuple(found)

    def _library(self, access: Access, written: set[Location]) -> Touch | None:
        """What asyncio did, where a user has a word for it."""
        if access.kind == "read" and access.location in written:
            return None
        file = Path(access.file).name
        if access.location.endswith("]"):  # a queue's items; the others that wait are nobody's business
            items = access.location.endswith("[#]") and "_queue" in linecache.getline(access.file, access.line)
            return _queue(access) if file == "queues.py" and items else None
        name, _, attribute = access.location.rpartition(".")
        if file == "locks.py" and attribute == "_value" and access.value.isdecimal():
            return Touch(f"{access.kind}s", name, access.value)  # a semaphore
        verb = _WORDS.get((attribute, access.kind, access.value)) if file == "locks.py" else None
        if verb is None or (access.kind == "write" and self._values.get(access.location, "False") == access.value):
            return None
        if access.kind == "write":
            self._values[access.location] = access.value
        word, _, state = verb.partition(" ")
        return Touch(word, name, state)

    def _of_loop(self, event: Event) -> Iterator[Touch]:
        """Of futures only what is certain: one that is joined by many is not completed by whoever writes it."""
        reads, writes = event.footprint.reads & self.wanted, event.footprint.writes & self.wanted
        own = f"task {event.pid}"
        expected = {own, self._woken.pop(event.pid, ""), *(f"task {pid}" for pid in event.spawned)}
        for location in sorted(reads | writes):
            kind, _, name = location.partition(" ")
            if kind == "future" and self._writers[location] == 1:
                future = f"Future<{name.replace('~', '#0/')}>"
                yield Touch("completes", future) if location in writes else self._found(location, future)
            elif kind == "task" and name.endswith(".cancel"):
                if location in writes and location != f"{own}.cancel":
                    yield Touch("cancels", f"task {name.removesuffix('.cancel')}")
            elif kind == "task" and location not in expected and f"{location}.cancel" not in writes:
                yield self._found(location, location)
            elif kind == "handle" and location in writes and name != str(event.pid):
                yield Touch("cancels", f"callback {name}")
        self._done |= event.footprint.writes
        self._woken.update(dict.fromkeys(event.woke, own))

    def _found(self, location: Location, name: str) -> Touch:
        return Touch("finds", name, "done" if location in self._done else "not done")


def _queue(access: Access) -> Touch:
    creator = _NUMBERED.search(access.location)
    name = f"Queue{creator[0]}" if creator else access.location.removesuffix("[#]").removesuffix("._queue")
    return Touch(f"{access.kind}s", name, _DEQUE.sub(r"[\1]", _value(access.value)))


def in_asyncio(file: str) -> bool:
    return file.startswith(_ASYNCIO)


def _users(access: Access, before: Iterable[Touch]) -> Touch | None:
    location, value = access.location, _value(access.value)
    if location.startswith("Generator<"):
        return Touch("resumes", location.removesuffix(".state"), "", access.file, access.line)
    if access.kind == "read" and location.endswith("]"):
        if location.endswith("[=]"):
            return None
        here = (location, access.file, access.line)
        if any(t.verb == "writes" and (t.location, t.file, t.line) == here for t in before):
            return None  # to store an item is to look where it goes
        value = value or "absent"
    return Touch(f"{access.kind}s", location, value, access.file, access.line)


def _value(text: str) -> str:
    """Values as their author knows them, without where objects were made."""
    return _UNNAMED.sub(r"<\1>", _OURS.sub(r"<\1>", text))
