"""How far a search is, on a terminal; and what ends one that does not look at the clock."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
import time
from typing import NoReturn

from porcini.core.errors import LimitHit
from porcini.engines.stats import SearchStats, Watcher

_GRACE = 0.5


class Progress:
    """A line on the terminal that says how far the search is; nothing in a pipe."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.shown = sys.stderr.isatty() and not options.quiet
        self.next = time.monotonic() + 0.5
        self.started = time.monotonic()
        self.written = False

    def __enter__(self) -> Watcher | None:
        return self.update if self.shown else None

    def update(self, stats: SearchStats) -> None:
        counts = stats.counts
        now = time.monotonic()
        if now >= self.next:
            self.next = now + 0.2
            self.written = True
            seconds = now - self.started
            rate = counts.executions / seconds
            text = f"{counts.executions:,} executions ({rate:,.0f}/s), {counts.classes:,} classes"
            if counts.states and not counts.classes:  # a search that keeps states
                text = f"{counts.states:,} states ({counts.states / seconds:,.0f}/s)"
            text += f", {stats.outcome_count} outcomes"
            if stats.estimated_executions and stats.estimated_executions > counts.executions:
                left = (stats.estimated_executions - counts.executions) / max(rate, 1e-9)
                text += f"; of at least {stats.estimated_executions:,.0f}, {left:,.0f} s to go"
            sys.stderr.write(f"\r\x1b[K{text}")
            sys.stderr.flush()

    def __exit__(self, *_: object) -> None:
        if self.written:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


class Deadline:
    """Engines look at the clock between steps; this ends a step, or the reading of a model, that never does. In
    the main thread only: others get no signals."""

    def __init__(self, seconds: float | None) -> None:
        self.seconds = seconds if threading.current_thread() is threading.main_thread() else None

    def __enter__(self) -> None:
        if self.seconds is not None:
            self._before = signal.signal(signal.SIGALRM, self._ring)
            self.restart()

    def restart(self, searches: int = 1) -> None:
        """Time for so many searches. A model that was slow to read does not take it from them."""
        if self.seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, self.seconds * searches + _GRACE)

    def __exit__(self, *_: object) -> None:
        if self.seconds is not None:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _ring(self, *_: object) -> NoReturn:
        raise LimitHit(f"the time limit of {self.seconds:g} s")
