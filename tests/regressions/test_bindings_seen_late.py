"""Writes to variables were logged after the statement that binds them. What raised, suspended or failed a guard
in between was not seen, and the other order was not tried: `hits += 1` on a variable that is not bound yet,
`case last if last > 7`, `with a as x, b as y`, `del x, y`. And `max` of equal texts gives the first of them.

One program for each form of binding in the language reference; each has two outcomes or more.
"""

from __future__ import annotations

import asyncio
import importlib
import sys
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager, contextmanager, suppress
from types import SimpleNamespace
from typing import Any

import pytest

from aio.agreeing import agreed

PROGRAMS: list[Callable[[], Awaitable[Any]]] = []
HITS: int


def program(function: Callable[[], Awaitable[Any]]) -> Callable[[], Awaitable[Any]]:
    PROGRAMS.append(function)
    return function


class Picky:
    """Takes no values."""

    def __setattr__(self, name: str, value: object) -> None:
        raise TypeError(name)


@contextmanager
def giving(value):
    yield value


@asynccontextmanager
async def slow(value):
    await asyncio.sleep(0)
    yield value


@contextmanager
def failing():
    raise TypeError
    yield


# Assignments ----------------------------------------------------------------------------------------------------


@program
async def augmented_before_it_is_bound():
    async def count():
        nonlocal hits
        try:
            hits += 1
        except NameError:
            return "too early"
        return hits

    async def begin():
        nonlocal hits
        hits = 0

    hits = 0
    del hits
    return (await asyncio.gather(count(), begin()))[0]


@program
async def augmented_global_before_it_is_bound():
    global HITS

    async def count():
        global HITS
        try:
            HITS += 1
        except NameError:
            return "too early"
        return HITS

    async def begin():
        global HITS
        HITS = 0

    HITS = 0
    del HITS
    return (await asyncio.gather(count(), begin()))[0]


@program
async def concatenated_before_it_is_bound():
    async def add():
        nonlocal text
        try:
            text += "b"
        except NameError:
            return "too early"
        return text

    async def begin():
        nonlocal text
        text = "a"

    text = ""
    del text
    return (await asyncio.gather(add(), begin()))[0]


@program
async def assigned_before_the_next_target_fails():
    async def write():
        nonlocal x
        with suppress(TypeError):
            x = Picky().a = 1

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def unpacked_before_the_next_target_fails():
    async def write():
        nonlocal x
        with suppress(TypeError):
            x, (_y, _z) = 1, None

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def assigned_after_a_target_that_waits():
    async def write():
        nonlocal x
        items[await nothing()] = x = 1

    async def nothing():
        await asyncio.sleep(0)
        return 0

    async def read():
        seen = [x]
        await asyncio.sleep(0)
        seen.append(x)
        return seen

    x, items = 0, [0]
    return (await asyncio.gather(write(), read()))[1]


@program
async def annotated():
    x: int = 0

    async def write():
        inner()

    def inner():
        nonlocal x
        x = 1

    async def read():
        return x

    x: int = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_a_walrus():
    async def write():
        nonlocal x
        with suppress(ZeroDivisionError):
            print((x := 1) / 0)

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_a_walrus_in_a_comprehension():
    async def write():
        nonlocal x
        with suppress(ZeroDivisionError):
            print([(x := n) / 0 for n in (1, 2)])

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_a_walrus_in_a_generator():
    async def write():
        nonlocal x
        print(any((x := n) > 1 for n in (1, 2, 3)))

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_the_target_of_a_comprehension():
    async def write():
        print([0 for shared.x in (1, 2)])

    async def read():
        return shared.x

    shared = SimpleNamespace(x=0)
    return (await asyncio.gather(write(), read()))[1]


# Deletions ------------------------------------------------------------------------------------------------------


@program
async def deleted_before_the_next_one_fails():
    async def write():
        nonlocal x, y
        with suppress(NameError):
            del x, y

    async def read():
        try:
            return x
        except NameError:
            return "deleted"

    x = y = 0
    del y
    return (await asyncio.gather(write(), read()))[1]


@program
async def deleted_before_it_is_bound():
    async def delete():
        nonlocal x
        try:
            del x
        except NameError:
            return "too early"
        return "deleted"

    async def begin():
        nonlocal x
        x = 0

    x = 0
    del x
    return (await asyncio.gather(delete(), begin()))[0]


# Loops ----------------------------------------------------------------------------------------------------------


@program
async def by_a_loop():
    async def write():
        nonlocal x
        for x in (1, 2):  # noqa: B007
            await asyncio.sleep(0)

    async def read():
        seen = [x]
        await asyncio.sleep(0)
        seen.append(x)
        return seen

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_a_loop_before_the_next_target_fails():
    async def write():
        nonlocal x
        with suppress(TypeError):
            for x, picky.a in ((1, 2),):  # noqa: B007
                pass

    async def read():
        return x

    x, picky = 0, Picky()
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_an_asynchronous_loop():
    async def numbers():
        yield 1, 2
        await asyncio.sleep(0)
        yield 3, 4

    async def write():
        nonlocal x
        with suppress(TypeError):
            async for x, picky.a in numbers():  # noqa: B007
                pass

    async def read():
        return x

    x, picky = 0, Picky()
    return (await asyncio.gather(write(), read()))[1]


# Managers -------------------------------------------------------------------------------------------------------


@program
async def by_a_manager_before_the_next_one_fails():
    async def write():
        nonlocal x
        with suppress(TypeError), giving(1) as x, failing():
            pass

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_a_manager_before_the_next_one_waits():
    async def write():
        nonlocal x
        async with slow(1) as x, slow(2):
            x = 2

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_a_manager_before_the_next_target_fails():
    async def write():
        nonlocal x
        with suppress(TypeError), giving((1, 2)) as (x, picky.a):
            pass

    async def read():
        return x

    x, picky = 0, Picky()
    return (await asyncio.gather(write(), read()))[1]


# Exceptions -----------------------------------------------------------------------------------------------------


@program
async def deleted_at_the_end_of_a_handler():
    async def write():
        nonlocal x
        try:
            raise TypeError
        except TypeError as x:  # noqa: F841
            await asyncio.sleep(0)
            return

    async def read():
        seen = []
        for _ in range(2):
            try:
                seen.append(type(x).__name__)
            except NameError:
                seen.append("deleted")
            await asyncio.sleep(0)
        return seen

    x: Any = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def deleted_by_a_handler_that_raises():
    async def write():
        nonlocal x
        with suppress(KeyError):
            try:
                raise TypeError
            except TypeError as x:  # noqa: F841
                await asyncio.sleep(0)
                raise KeyError from None

    async def read():
        try:
            return type(x).__name__
        except NameError:
            return "deleted"

    x: Any = 0
    return (await asyncio.gather(write(), read()))[1]


# Definitions and imports ----------------------------------------------------------------------------------------


@program
async def by_a_definition():
    async def write():
        nonlocal x

        def x():
            return 1

    async def read():
        return callable(x)

    x: Any = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_a_class():
    async def write():
        nonlocal x

        class x:
            pass

    async def read():
        return isinstance(x, type)

    x: Any = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_an_import_before_the_next_one_fails():
    async def write():
        nonlocal x
        with suppress(ImportError):
            import os as x

            import no_such_module  # noqa: F401

    async def read():
        return x == 0

    x: Any = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def by_an_import_from_before_the_next_one_fails():
    async def write():
        nonlocal x
        with suppress(ImportError):
            from os import path as x, no_such_name  # noqa: F401, I001

    async def read():
        return x == 0

    x: Any = 0
    return (await asyncio.gather(write(), read()))[1]


# Classes in functions -------------------------------------------------------------------------------------------


@program
async def in_a_class():
    async def write():
        with suppress(ZeroDivisionError):

            class _C:
                nonlocal x
                x = 1
                y = 1 / 0

    async def read():
        return x

    x = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def of_a_global_in_a_class():
    global HITS
    HITS = 0

    async def write():
        class _C:
            global HITS
            HITS = 1

    async def read():
        class C:
            HITS = HITS  # the global one

        return C.HITS

    return (await asyncio.gather(write(), read()))[1]


# Patterns -------------------------------------------------------------------------------------------------------


@program
async def captured_before_a_guard_fails():
    async def write():
        nonlocal last
        match 1:
            case last if last > 7:
                return

    async def read():
        return last

    last = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def captured_by_as():
    async def write():
        nonlocal last
        match 1:
            case 1 | 2 as last if last > 7:
                return

    async def read():
        return last

    last = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def captured_in_a_sequence():
    async def write():
        nonlocal last
        match [1, 2, 3]:
            case [_, *last] if len(last) > 7:
                return

    async def read():
        return last

    last: Any = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def captured_in_a_mapping():
    async def write():
        nonlocal last, value
        match {"a": 1, "b": 2}:
            case {"a": value, **last} if value > 7:
                return

    async def read():
        return last, value

    last: Any = 0
    value = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def captured_in_a_class():
    async def write():
        nonlocal last
        match SimpleNamespace(a=1):
            case SimpleNamespace(a=last) if last > 7:
                return

    async def read():
        return last

    last = 0
    return (await asyncio.gather(write(), read()))[1]


@program
async def captured_before_a_guard_that_waits():
    async def write():
        nonlocal last

        async def no():
            await asyncio.sleep(0)
            return False

        match 1:
            case last if await no():
                return
            case last:
                return

    async def read():
        return last

    last = 0
    return (await asyncio.gather(write(), read()))[1]


# Other places ---------------------------------------------------------------------------------------------------


@program
async def the_largest_of_equal_texts():
    async def put(number):
        names.append(mine if number else "".join(["n", "ame"]))

    names: list[str] = []
    mine = "".join(["na", "me"])
    await asyncio.gather(put(0), put(1))
    return max(names) is mine


@program
async def the_first_of_equal_numbers():
    async def put(number):
        numbers.append(mine if number else int("1000"))

    numbers: list[int] = []
    mine = int("1000")
    await asyncio.gather(put(0), put(1))
    return sorted(numbers)[0] is mine


@program
async def the_smallest_of_true_and_one():
    async def put(number):
        numbers.append(number)

    numbers: list[int] = []
    await asyncio.gather(put(True), put(1))
    return repr(min(numbers))


@program
async def added_to_an_attribute_that_is_not_there():
    async def count():
        try:
            shared.hits += 1
        except AttributeError:
            return "too early"
        return shared.hits

    async def begin():
        shared.hits = 0

    shared = SimpleNamespace()
    return (await asyncio.gather(count(), begin()))[0]


@program
async def added_to_an_item_that_is_not_there():
    async def count():
        try:
            shared["hits"] += 1
        except KeyError:
            return "too early"
        return shared["hits"]

    async def begin():
        shared["hits"] = 0

    shared: dict[str, int] = {}
    return (await asyncio.gather(count(), begin()))[0]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_each_outcome_is_found(function: Callable[[], Awaitable[Any]]) -> None:
    wanted, _ = agreed(function)
    assert len(wanted) > 1


EVALUATED = """
import asyncio

class Config: kind = int

async def annotated_parameters():
    async def write():
        Config.kind = str

    async def read():
        def function(*a: Config.kind, **b: Config.kind) -> Config.kind: ...
        return function.__annotations__["return"].__name__

    Config.kind = int
    return (await asyncio.gather(write(), read()))[1]

async def annotated_in_a_class():
    async def write():
        Config.kind = str

    async def read():
        class C:
            y: Config.kind
        return C.__annotations__["y"].__name__

    Config.kind = int
    return (await asyncio.gather(write(), read()))[1]
"""
NEWER = """
import asyncio

async def aliased():
    async def write():
        nonlocal x
        type x = int

    async def read():
        return isinstance(x, int)

    x = 0
    return (await asyncio.gather(write(), read()))[1]

async def with_type_parameters():
    async def write():
        nonlocal x
        def x[T](a: T) -> T: return a

    async def read():
        return isinstance(x, int)

    x = 0
    return (await asyncio.gather(write(), read()))[1]
"""


def _imported(name: str, source: str, tmp_path, monkeypatch) -> Any:
    (tmp_path / f"{name}.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module(name)


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="annotations are evaluated when they are asked for")
@pytest.mark.parametrize("name", ["annotated_parameters", "annotated_in_a_class"])
def test_annotations_are_read(name: str, tmp_path, monkeypatch) -> None:
    module = _imported("evaluated_annotations", EVALUATED, tmp_path, monkeypatch)
    wanted, _ = agreed(getattr(module, name))
    assert len(wanted) > 1


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters came with 3.12")
@pytest.mark.parametrize("name", ["aliased", "with_type_parameters"])
def test_aliases_and_type_parameters(name: str, tmp_path, monkeypatch) -> None:
    wanted, _ = agreed(getattr(_imported("newer_bindings", NEWER, tmp_path, monkeypatch), name))
    assert len(wanted) > 1


ELSEWHERE = """
hits = 0
def get(): return hits
"""
WRITERS = [
    "elsewhere.hits = 1",
    "setattr(elsewhere, 'hits', 1)",
    "vars(elsewhere)['hits'] = 1",
    "elsewhere.__dict__.update(hits=1)",
    "elsewhere.hits += 1",
    "del elsewhere.hits",
]


@pytest.mark.parametrize("statement", WRITERS)
def test_globals_that_another_module_writes(statement: str, tmp_path, monkeypatch) -> None:
    source = f"""
import asyncio
import elsewhere

async def written():
    async def write():
        {statement}

    async def read():
        try: return elsewhere.get()
        except NameError: return "deleted"

    elsewhere.hits = 0
    return (await asyncio.gather(write(), read()))[1]
"""
    _imported("elsewhere", ELSEWHERE, tmp_path, monkeypatch)
    wanted, _ = agreed(_imported("writing_elsewhere", source, tmp_path, monkeypatch).written)
    assert len(wanted) > 1
