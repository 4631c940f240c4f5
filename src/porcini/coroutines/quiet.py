"""Thousands of runs, and nobody wants to read what each of them prints, logs or warns of, or to stop there."""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import warnings
from collections.abc import Iterator


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        return len(text)


@contextlib.contextmanager
def quiet(*, output: bool = True, logs: bool = True) -> Iterator[None]:
    """While this is open, code under test is not heard; what it prints or logs may be let through."""
    with contextlib.ExitStack() as stack:
        stack.callback(setattr, sys, "breakpointhook", sys.breakpointhook)
        sys.breakpointhook = lambda *args, **kwargs: None
        stack.enter_context(warnings.catch_warnings(record=True))
        if output:
            stack.enter_context(contextlib.redirect_stdout(_Nowhere()))
            stack.enter_context(contextlib.redirect_stderr(_Nowhere()))
        if logs:
            root = logging.getLogger()
            stack.callback(setattr, root, "handlers", root.handlers)
            root.handlers = [logging.NullHandler()]
        yield
