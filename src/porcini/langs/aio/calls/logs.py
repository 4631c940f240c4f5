"""Calls of `logging`. Most tests log, and nearly all of it goes where no task can look."""

from __future__ import annotations

import logging
from typing import Any

from porcini.langs.aio import rules
from porcini.langs.aio.calls.calling import reading
from porcini.langs.aio.operations.entries import unknown
from porcini.langs.aio.operations.values import operand, read_all

CLASSES = (logging.Filterer, logging.LoggerAdapter, logging.LogRecord, logging.Formatter)
_FORMATTING = (logging.LogRecord, logging.Handler, logging.Formatter)
_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"})
_LOOKS = frozenset({"isEnabledFor", "getEffectiveLevel", "hasHandlers", "getLevelName", "getLoggerClass"})


def logged(function: Any, receiver: Any, name: str, number: int) -> Any:
    """What goes to the terminal is seen by nobody; a handler of the program records itself; the rest is opaque."""
    if isinstance(receiver, _FORMATTING) and name in ("getMessage", "format"):

        def formatted(*record: Any) -> Any:
            __tracebackhide__ = True
            each = record[0] if record else receiver
            operand(each.msg, number)
            operand(each.args, number)
            own = getattr(receiver, "formatter", None)
            if type(own) not in (type(None), logging.Formatter) or type(receiver).__module__ != "logging":
                unknown("logging.Formatter", number)
            return function(*record)

        return formatted
    if name == "getLogger":

        def got(*which: Any) -> Any:
            __tracebackhide__ = True
            if which and which[0] is not None and which[0] not in logging.root.manager.loggerDict:
                unknown("logging.getLogger", number)
            return function(*which)

        return got
    while isinstance(receiver, logging.LoggerAdapter):
        receiver = receiver.logger
    if not isinstance(receiver, logging.Logger) or name not in _LOGS | _LOOKS:
        unknown(f"logging.{name}", number)
        return function
    level = getattr(logging, name.upper(), None)
    if isinstance(level, int) and not receiver.isEnabledFor(level):
        return function  # who changes that is opaque
    silent = _silent_logger(receiver, number)
    return function if silent or name in _LOOKS else reading(function, number)


def _silent_logger(logger: Any, number: int) -> bool:
    """Does what is logged here go to the terminal only?"""
    silent, each = True, logger
    while each is not None:
        read_all(each.handlers, number)
        read_all(each.filters, number)
        for handler in each.handlers:
            if isinstance(handler, logging.NullHandler):
                continue
            if type(handler) is logging.StreamHandler and rules.is_outside(handler.stream):
                continue
            silent = False
            if not rules.is_known_function(type(handler).emit):
                unknown(f"logging to {type(handler).__qualname__}", number)
        each = each.parent if each.propagate else None
    return silent and not logger.filters
