"""What Python itself reports of its doings (`sys.addaudithook`), however they were called for.

A package may have imported `fork` by name, and C code calls no function of ours at all; but whatever starts a
process or a thread, or asks for a connection, is reported before it happens. In a step it is refused there.
A hook cannot be taken away: there is one for the process, and it does nothing while no step is under way.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from porcini.coroutines.clocks import Watch
from porcini.langs.aio.loop import ControlledLoop

Report = Callable[[ControlledLoop, tuple[Any, ...]], object]

_NAMES = {
    "processes": "os.exec os.fork os.forkpty os.posix_spawn os.spawn os.startfile os.system pty.spawn "
    "subprocess.Popen",
    "network": "socket.bind socket.connect socket.getaddrinfo socket.gethostbyaddr socket.gethostbyname "
    "socket.getnameinfo socket.sendmsg socket.sendto",
    "threads": "_thread.start_new_thread _thread.start_joinable_thread",
    "signals": "os.kill os.killpg signal.pthread_kill",
}
_reported: dict[str, Report] = {}
_hooked = False


def refuse_reported(reasons: dict[str, str]) -> None:
    """From now on, refuse in steps what Python reports of these kinds, with the reason for each."""
    for kind, why in reasons.items():
        for event in _NAMES[kind].split():
            _reported[event] = _refusing(event, why)
    _hook()


def listen(handlers: dict[str, Report]) -> None:
    """From now on, hear of these events in steps."""
    _reported.update(handlers)
    _hook()


def _refusing(event: str, why: str) -> Report:
    def refuse(loop: ControlledLoop, args: tuple[Any, ...]) -> None:
        raise loop.refuse(f"{event} in a step: {why}", sys._getframe(1))

    return refuse


def _hook() -> None:
    global _hooked
    if not _hooked:
        _hooked = True
        sys.addaudithook(_audit)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    report = _reported.get(event)
    if report is not None:
        loop = Watch.loop()
        if loop is not None:
            report(loop, args)
