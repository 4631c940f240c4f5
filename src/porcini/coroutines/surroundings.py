"""The environment and the folder in which a run finds itself are those that the first one found.

They are noted when a run is set up, and put back before it is torn down: so fixtures find what they left, too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path


class Surroundings:
    """What `os.environ` and `os.getcwd` say when a run begins."""

    def __init__(self) -> None:
        self._environment: dict[str, str] | None = None
        self._folder: str | None = None

    def note(self) -> None:
        """A run is set up, and begins."""
        self._environment = dict(os.environ)
        self._folder = _folder()

    def put_back(self) -> None:
        """A run has ended. Once that is done, others may change what they like."""
        before, folder = self._environment, self._folder
        self._environment = self._folder = None
        if before is not None and before != dict(os.environ):
            for name in os.environ.keys() - before.keys():
                del os.environ[name]
            os.environ.update({name: text for name, text in before.items() if os.environ.get(name) != text})
        if folder is not None and folder != _folder():
            with suppress(OSError):
                os.chdir(folder)


def _folder() -> str | None:
    try:
        return str(Path.cwd())
    except OSError:  # it is gone
        return None
