"""asyncio programs with many small tasks, as trees that can be written out and made smaller.

A program has a `main` that makes a shared state `s`, starts tasks, joins some of them in some way, and returns the
whole state as text. What tasks do is made of `Statement`s: lines of Python, some with lines below them. A task is
named `w0`, `w1` and so on. The handle of a task that `main` starts is a variable of `main` (`t0`, `t1`); that of
one which another task starts is an attribute of the state (`s.t2`). Only what a program uses is in its text.

Random ones are made by `programs.generate`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

T = TypeVar("T")

INITIAL = {
    "x": "0",
    "y": "1",
    "z": "2",
    "flag": "0",
    "count": "0",
    "d": "{'a': 1}",
    "l": "[1, 2, 3]",
    "log": "[]",
    "lock": "asyncio.Lock()",
    "sem": "asyncio.Semaphore(2)",
    "other": "asyncio.Lock()",
    "pair": "asyncio.Semaphore(2)",
    "event": "asyncio.Event()",
    "cond": "asyncio.Condition()",
    "queue": "asyncio.Queue(1)",
    "future": "asyncio.get_running_loop().create_future()",
    "main": "asyncio.current_task()",
}
"""The attributes of the state, and what they are at first."""
SHOWN = {
    "lock": "s.lock.locked()",
    "other": "'other'",
    "pair": "'pair'",
    "sem": "s.sem.locked()",
    "event": "s.event.is_set()",
    "cond": "s.cond.locked()",
    "queue": "s.queue.qsize()",
    "future": "s.future.done()",
    "main": "s.main.cancelling()",
}
"""What is returned of those attributes that are not plain values."""
OTHERWISE_SHOWN = {
    "d": ("sorted(s.d.items())", "list(s.d.items())", "len(s.d)"),
    "l": ("sum(s.l)", "len(s.l)"),
    "log": ("sorted(s.log, key=str)", "len(s.log)"),
}
"""Other ways to look at a value, some of which do not tell in which order it came about."""


@dataclass(frozen=True)
class Statement:
    """A line of Python, the lines below it, and what goes on at its level after these (`else:`, `finally:`)."""

    text: str
    body: tuple[Statement, ...] = ()
    after: Statement | None = None

    def lines(self) -> Iterator[str]:
        yield self.text
        for statement in self.body:
            yield from _indented(statement.lines())
        if self.after is not None:
            yield from self.after.lines()

    def smaller(self) -> Iterator[tuple[Statement, ...]]:
        """What may stand in its place, except nothing at all."""
        if self.body:
            yield self.body
        for body in _smaller_bodies(self.body):
            if body:
                yield (replace(self, body=body),)
        if self.after is not None:
            yield self.after.body
            yield (*self.body, *self.after.body)
            if self.after.text == "else:":
                yield (replace(self, after=None),)
            for (after,) in (one for one in self.after.smaller() if len(one) == 1 and one[0].body):
                yield (replace(self, after=after),)


@dataclass(frozen=True)
class Task:
    """The number of a task, and what it does."""

    number: int
    body: tuple[Statement, ...]

    @property
    def call(self) -> str:
        return f"w{self.number}()"

    @property
    def handle(self) -> str:
        return f"t{self.number}"

    def lines(self) -> Iterator[str]:
        yield f"async def {self.call}:"
        lines = [line for statement in self.body or (Statement("pass"),) for line in statement.lines()]
        yield from _indented(["nonlocal g", *lines] if _uses_variable(lines) else lines)


@dataclass(frozen=True)
class Join:
    """How `main` waits for some tasks.

    `how` is `gather` or `gather all` (with exceptions as results), either of them `kept` (as an attribute of the
    state), `gather calls` (which starts the tasks, too), `group` (which starts them, too), `each` (one after the
    other), or what `asyncio.wait` is to wait for.
    """

    how: str
    tasks: tuple[int, ...]

    @property
    def starts(self) -> bool:
        return self.how in {"group", "gather calls"}

    def lines(self) -> Iterator[str]:
        handles = [f"t{number}" for number in self.tasks]
        if self.how == "group":
            yield "async with asyncio.TaskGroup() as group:"
            for number in self.tasks:
                yield f"    t{number} = group.create_task(w{number}())"
        elif self.how == "each":
            for handle in handles:
                yield f"await {handle}"
        elif self.how == "gather calls":
            yield f"await asyncio.gather({', '.join(f'w{number}()' for number in self.tasks)})"
        elif self.how.startswith("gather"):
            options = ["return_exceptions=True"] if "all" in self.how.split() else []
            gather = f"asyncio.gather({', '.join([*handles, *options])})"
            kept = self.how.endswith("kept")
            if kept:
                yield f"s.join = {gather}"
            yield "await s.join" if kept else f"await {gather}"
        else:
            yield f"await asyncio.wait([{', '.join(handles)}], return_when=asyncio.{self.how})"


@dataclass(frozen=True)
class Program:
    """Tasks in the order in which `main` starts them, what `main` does before it waits, and how it waits.

    A task in `children` is started by what another task does.
    """

    tasks: tuple[Task, ...]
    opening: tuple[Statement, ...]
    joins: tuple[Join, ...]
    children: frozenset[int] = frozenset()
    pause: int | None = None  # seconds that `main` sleeps before it ends
    patience: int | None = None  # seconds that `main` waits at most
    careful: bool = True  # `main` notes an exception that comes out of a join, and goes on
    curious: bool = True  # `main` looks at the end at how tasks have ended
    shown: tuple[tuple[str, str], ...] = ()  # other ways to show an attribute

    def text(self) -> str:
        """The source of a module with `main`, a coroutine function without parameters."""
        code = [*self._definitions(), *self._starts(), *self._waits()]
        used = [name for name in INITIAL if _uses_attribute(name, code)]
        begin = ["s = State()"] if used or _uses_attribute(r"(t\d|join)", code) else []
        begin += [f"s.{name} = {INITIAL[name]}" for name in used]
        begin += ["g = 0"] if _uses_variable(code) else []
        values = [dict(self.shown).get(name) or SHOWN.get(name) or f"s.{name}" for name in used]
        values += ["g"] if _uses_variable(code) else []
        if self.curious:
            values += [f"{task.handle}.done() and {task.handle}.cancelled()" for task in self._started_first()]
        state = ["class State:", "    pass", "", ""] if begin else []
        main = [*begin, *code, f"return repr([{', '.join(values)}])"]
        return "\n".join(["import asyncio", "", "", *state, "async def main():", *_indented(main), ""])

    def _definitions(self) -> Iterator[str]:
        for task in self.tasks:
            if task.number not in self.children or self._is_started(task):
                yield from task.lines()

    def _is_started(self, child: Task) -> bool:
        """Is there anything left that starts it?"""
        return any(child.call in line for task in self.tasks for part in task.body for line in part.lines())

    def _started_first(self) -> list[Task]:
        """Those tasks that `main` starts before it does anything else."""
        later = {number for join in self.joins if join.starts for number in join.tasks} | self.children
        return [task for task in self.tasks if task.number not in later]

    def _starts(self) -> Iterator[str]:
        for task in self._started_first():
            yield f"{task.handle} = asyncio.create_task({task.call})"
        for statement in self.opening:
            yield from statement.lines()

    def _waits(self) -> list[str]:
        waits = [line for join in self.joins if join.tasks for line in join.lines()]
        pause = [] if self.pause is None else [f"await asyncio.sleep({self.pause})"]
        if waits and self.patience is not None:
            waits = [f"async with asyncio.timeout({self.patience}):", *_indented(waits)]
        if not self.careful or not waits:
            return waits + pause
        noted = "    s.log.append(type(error).__name__)"
        return ["try:", *_indented(waits), "except BaseException as error:", noted, *pause]

    def smaller(self) -> Iterator[Program]:
        """Programs with less in them, those with much less first."""
        for task in self.tasks:
            yield self._without(task.number)
        for i, join in enumerate(self.joins):
            yield replace(self, joins=(*self.joins[:i], *self.joins[i + 1 :]))
            if not join.how.startswith("gather"):
                yield replace(self, joins=_with(self.joins, i, replace(join, how="gather all")))
            for number in join.tasks:
                rest = tuple(other for other in join.tasks if other != number)
                yield replace(self, joins=_with(self.joins, i, replace(join, tasks=rest)))
        for opening in _smaller_bodies(self.opening):
            yield replace(self, opening=opening)
        for i, task in enumerate(self.tasks):
            for body in _smaller_bodies(task.body):
                yield replace(self, tasks=_with(self.tasks, i, replace(task, body=body)))
        for flag, less in (("careful", False), ("curious", False), ("pause", None), ("patience", None)):
            if getattr(self, flag) != less:
                yield replace(self, **{flag: less})
        for i in range(len(self.shown)):
            yield replace(self, shown=(*self.shown[:i], *self.shown[i + 1 :]))

    def _without(self, number: int) -> Program:
        """Without a task, and without all that mentions it."""
        return replace(
            self,
            tasks=tuple(
                replace(task, body=_not_about(number, task.body)) for task in self.tasks if task.number != number
            ),
            opening=_not_about(number, self.opening),
            joins=tuple(
                replace(join, tasks=tuple(other for other in join.tasks if other != number)) for join in self.joins
            ),
            children=self.children - {number},
        )


def _uses_variable(lines: Iterable[str]) -> bool:
    return any(re.search(r"\bg\b", line) for line in lines)


def _uses_attribute(name: str, lines: Iterable[str]) -> bool:
    return any(re.search(rf"\bs\.{name}\b", line) for line in lines)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _with(items: tuple[T, ...], i: int, item: T) -> tuple[T, ...]:
    return (*items[:i], item, *items[i + 1 :])


def _smaller_bodies(body: tuple[Statement, ...]) -> Iterator[tuple[Statement, ...]]:
    """Without one of the statements, then with one of them made smaller."""
    for i in range(len(body)):
        yield (*body[:i], *body[i + 1 :])
    for i, statement in enumerate(body):
        for instead in statement.smaller():
            yield (*body[:i], *instead, *body[i + 1 :])


def _not_about(number: int, body: Sequence[Statement]) -> tuple[Statement, ...]:
    """Those statements, and parts of them, that do not mention a task."""
    kept = []
    for statement in body:
        inner = _not_about(number, statement.body)
        after = statement.after and _not_about(number, (statement.after,))
        if _mentions(number, statement.text) or (statement.body and not inner) or after == ():
            continue
        kept.append(replace(statement, body=inner, after=after[0] if after else None))
    return tuple(kept)


def _mentions(number: int, text: str) -> bool:
    return re.search(rf"\b[tw]{number}\b", text) is not None
