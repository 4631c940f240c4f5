"""Calls of `logging`. Most tests log, and nearly all of it goes where no task can look."""

from __future__ import annotations

import logging
import types
from typing import Any

from porcini.langs.aio import lookups, rules
from porcini.langs.aio.calls.calling import count_own_frames, read_arguments
from porcini.langs.aio.calls.effects import Options, Values, special_case
from porcini.langs.aio.log import READ, WRITE
from porcini.langs.aio.operations.entries import log, mark_opaque
from porcini.langs.aio.operations.values import read_all, read_operand

CLASSES = (logging.Filterer, logging.LoggerAdapter, logging.LogRecord, logging.Formatter)
_FORMATTING = (logging.LogRecord, logging.Handler, logging.Formatter)
_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log"})
_LOOKS = frozenset({"isEnabledFor", "getEffectiveLevel", "hasHandlers", "getLevelName", "getLoggerClass"})


def replace_logging(function: Any, receiver: Any, name: str, number: int) -> Any:
    """What goes to the terminal is seen by nobody; a handler of the program records itself; the rest is opaque."""
    if issubclass(type(receiver), _FORMATTING) and name in ("getMessage", "format"):
        return _replace_formatting(function, number, receiver)
    if name == "getLogger":  # who asks first makes it, once for all runs: it must not look different from then on
        return function
    adapters = []
    while issubclass(type(receiver), logging.LoggerAdapter):
        adapters.append(receiver)
        receiver = receiver.logger
    if not issubclass(type(receiver), logging.Logger) or name not in _LOGS | _LOOKS:
        mark_opaque(f"logging.{name}", number)
        return function
    level = getattr(logging, name.upper(), None)
    if isinstance(level, int) and not receiver.isEnabledFor(level):
        return function  # who changes that is opaque
    silent = _is_silent_logger(receiver, number)
    for adapter in adapters:
        silent = silent and type(adapter) is logging.LoggerAdapter
        if rules.is_foreign(type(adapter), "logging"):
            mark_opaque(f"logging by {type(adapter).__qualname__}", number)
        log((adapter, number, READ, (".extra",)))
        read_operand(lookups.peek(adapter, "extra"), number)
    return function if silent or name in _LOOKS else _replace_logging_call(function, number)


@special_case
def _replace_formatting(function: Any, number: int, args: Values, kwargs: Options, receiver: Any) -> None:
    """`record.getMessage()`, `handler.format(record)`: which writes the text into the record."""
    record = next(iter((*args, *kwargs.values())), receiver)
    if issubclass(type(record), logging.LogRecord):
        read_operand(record.msg, number)
        read_operand(record.args, number)
        log((record, number, WRITE, (".message", ".asctime", ".exc_text")))
    own = getattr(receiver, "formatter", None)
    if type(own) not in (type(None), logging.Formatter) or type(receiver).__module__ != "logging":
        mark_opaque("logging.Formatter", number)


def _replace_logging_call(function: Any, number: int) -> Any:
    """A call that makes a record, which says where it was made: the frames of ours are left out."""
    reads = read_arguments(function, number)

    def logs(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        level = kwargs.get("stacklevel", 1)
        if isinstance(level, int):
            kwargs["stacklevel"] = level + count_own_frames() + 1  # `reads` is ours, too
        return reads(*args, **kwargs)

    return logs


def _is_silent_logger(logger: Any, number: int) -> bool:
    """Does what is logged here go to the terminal only, without anything of the program's being called for it?"""
    silent, each = True, logger
    if type(logger) not in (logging.Logger, logging.RootLogger):
        silent = _check_part(logger, number) and False
    if logging.getLogRecordFactory() is not logging.LogRecord:
        silent = False
        if not rules.records_itself(logging.getLogRecordFactory()):
            mark_opaque("a factory of records", number)
    read_all(logger.filters, number)
    for part in logger.filters:
        silent = _check_part(part, number) and False
    while each is not None:
        read_all(each.handlers, number)
        for handler in each.handlers:
            silent = _is_silent_handler(handler, number) and silent
        each = each.parent if each.propagate else None
    return silent


def _is_silent_handler(handler: Any, number: int) -> bool:
    """Does nobody see what this handler is given? What it calls of the program's must be followed."""
    if type(handler) is logging.NullHandler:
        return True
    read_all(handler.filters, number)
    for part in handler.filters:
        _check_part(part, number)
    formats = type(handler.formatter) not in (type(None), logging.Formatter)
    if formats:
        _check_part(handler.formatter, number)
    if type(handler) is not logging.StreamHandler:
        return _check_part(handler, number) and False
    if not rules.is_outside(handler.stream):
        mark_opaque(f"logging to {type(handler.stream).__qualname__}", number)
        return False
    return not formats and not handler.filters


def _check_part(part: Any, number: int) -> bool:
    """A filter, a formatter, a handler: code of the program records itself."""
    kind = type(part)
    if issubclass(type(part), types.FunctionType | types.MethodType):
        followed = rules.records_itself(part)
    elif kind.__module__ == "logging":
        followed = kind in (logging.Filter, logging.Formatter)
    else:
        followed = not rules.is_foreign(kind, "logging")
        followed = followed and (not issubclass(type(part), logging.Handler) or rules.records_itself(kind.emit))
    if not followed:
        mark_opaque(f"logging by {kind.__qualname__}", number)
    return followed
