"""Functions put in the place of others, for as long as a session is open; they are called by the same names.

find            what a name such as `bank:Client.fetch` stands for
put_around      another function in the place of one, wherever modules hold it
around          the same for one value: what static and class methods have inside of them
heeding         let somebody see what `monkeypatch` and `mock.patch` put in a place
"""

from __future__ import annotations

import builtins
import importlib
import inspect
import operator
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from porcini.core.errors import InputError

Undo = Callable[[], object]
Wrap = Callable[[Any], Any]
_HINT = 'such as "bank:fetch", "bank:Client.fetch" or "package.module.Client.fetch"'


def find(target: str) -> tuple[Any, str]:
    """The owner and the name of a function: a module or a class, and an attribute of it."""
    module, path = _module_and_path(target)
    owner: Any = module
    *outer, name = path
    for part in outer:
        if not hasattr(owner, part):
            raise InputError(f"there is no `{part}` in `{target}`", hint=_HINT)
        owner = getattr(owner, part)
    value = inspect.getattr_static(owner, name, None)
    if value is None:
        raise InputError(f"there is no `{name}` in `{target}`", hint=_HINT)
    if isinstance(value, type) or not callable(getattr(owner, name, None)):
        what = "a class: name one of its methods" if isinstance(value, type) else "not a function"
        raise InputError(f"`{target}` is {what}", hint=_HINT)
    return owner, name


def find_class(name: str) -> type:
    """The exception class that a name stands for: one of Python's own, or `module:Class`."""
    value = getattr(builtins, name, None)
    if value is None and (":" in name or "." in name):
        value = find_value(name)
    if not (isinstance(value, type) and issubclass(value, BaseException)):
        raise InputError(f"`{name}` is not an exception class", hint='such as "TimeoutError" or "bank:Refused"')
    return value


def find_value(name: str) -> Any:
    """What a name stands for; None if there is no such thing."""
    module, path = _module_and_path(name)
    try:
        return operator.attrgetter(".".join(path))(module)
    except AttributeError:
        return None


def _module_and_path(target: str) -> tuple[ModuleType, list[str]]:
    head, colon, rest = target.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    parts = head.split(".")
    if not all(part.isidentifier() for part in (*parts, *(rest.split(".") if colon else ()))):
        raise InputError(f"`{target}` is not the name of a function", hint=_HINT)
    if colon:
        module = _imported(head)
        if module is not None:
            return module, rest.split(".")
    else:
        for end in range(len(parts) - 1, 0, -1):
            module = _imported(".".join(parts[:end]))
            if module is not None:
                return module, parts[end:]
    raise InputError(f"there is no module for `{target}`", hint=_HINT)


def _imported(name: str) -> ModuleType | None:
    try:
        return sys.modules.get(name) or importlib.import_module(name)
    except ModuleNotFoundError as problem:
        if problem.name is not None and f"{name}.".startswith(f"{problem.name}."):
            return None
        raise InputError(f"`{name}` cannot be imported: {problem}") from None
    except Exception as problem:
        raise InputError(f"`{name}` cannot be imported: {type(problem).__name__}: {problem}") from None


def around(value: Any, wrap: Wrap) -> Any:
    """What takes the place of an attribute: of a class, it may be a method of another kind."""
    if isinstance(value, staticmethod | classmethod):
        inner = wrap(value.__func__)
        return value if inner is value.__func__ else type(value)(inner)
    return wrap(value)


def put_around(owner: Any, name: str, wrap: Wrap) -> Iterator[Undo]:
    """Put something around a function, where it is and in all modules that have imported it."""
    own, value = name in vars(owner), inspect.getattr_static(owner, name)
    new = around(value, wrap)
    yield partial(setattr, owner, name, value) if own else partial(delattr, owner, name)
    setattr(owner, name, new)
    if type(value) is not FunctionType:
        return
    for module in list(sys.modules.values()):
        if not isinstance(module, ModuleType):
            continue
        for other, held in list(vars(module).items()):
            if held is value:
                yield partial(setattr, module, other, value)
                setattr(module, other, new)


def heeding(placed: Callable[[Any, str], object]) -> Iterator[Undo]:
    """Call somebody with the owner and the name of whatever a test replaces."""
    mock: Any = sys.modules.get("unittest.mock")
    if mock is not None:
        yield from _after(mock._patch, "__enter__", lambda patch: placed(patch.target, patch.attribute))
    pytests: Any = sys.modules.get("_pytest.monkeypatch")
    if pytests is not None:
        yield from _after(pytests.MonkeyPatch, "setattr", lambda self: placed(*self._setattr[-1][:2]))


def _after(owner: Any, name: str, then: Callable[[Any], object]) -> Iterator[Undo]:
    real = getattr(owner, name)

    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        result = real(self, *args, **kwargs)
        then(self)
        return result

    yield partial(setattr, owner, name, real)
    setattr(owner, name, called)
