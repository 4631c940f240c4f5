"""The environment and the folder in which a run finds itself are those that the first one found.

They are noted when a run is set up, and put back before it is torn down: so fixtures find what they left, too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any


class Surroundings:
    """What `os.environ` and `os.getcwd` say when a run begins."""

    def __init__(self) -> None:
        self._environment: dict[Any, Any] | None = None
        self._folder: str | None = None

    def note(self) -> None:
        """A run is set up, and begins."""
        self._environment = _variables().copy()
        self._folder = _folder()

    def put_back(self) -> None:
        """A run has ended. Once that is done, others may change what they like."""
        before, folder = self._environment, self._folder
        self._environment = self._folder = None
        if before is not None and before != _variables():
            text: Any = os.environ
            wanted = {text.decodekey(name): text.decodevalue(value) for name, value in before.items()}
            for name in os.environ.keys() - wanted.keys():
                del os.environ[name]
            os.environ.update({name: value for name, value in wanted.items() if os.environ.get(name) != value})
        if folder is not None and folder != _folder():
            with suppress(OSError):
                os.chdir(folder)


def _folder() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 (for every run)
    except OSError:  # it is gone
        return None


def _variables() -> dict[Any, Any]:
    """What is in `os.environ`, as it is kept: to decode it takes longer than a short run."""
    environment: Any = os.environ
    return environment._data  # type: ignore[no-any-return]
