"""What is not simulated: the world outside. Asking for it ends the run, and the error says what to do instead.

Programs catch exceptions, and let tasks die unnoticed. So a refusal is kept by the loop when it happens
(`Outside.refuse`), and whoever drives the run looks there after each step: what the program does with the
exception makes no difference.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from porcini.core.origins import origin_of
from porcini.langs.aio import standing
from porcini.langs.aio.futures import coroutine_of

if TYPE_CHECKING:
    from porcini.langs.aio.processes import Process

F = TypeVar("F", bound=Callable[..., Any])


class Refused(BaseException):
    """Raised in the middle of a step that does what cannot be controlled, so that the step comes to its end."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What a program wanted that is not simulated, and the line that is to blame, if one is known."""

    message: str
    path: str | None
    line: int


_FAKE = "give the code under test a fake whose methods are coroutines (others may go at `await asyncio.sleep(0)`)"
_WHY = {
    "threads": f"threads are not simulated; {_FAKE}, or call the function directly",
    "sockets": f"real network traffic is not simulated; {_FAKE}",
    "subprocesses": f"subprocesses are not simulated; {_FAKE}",
    "signals": "signals are not simulated; call the handler from a task of the test",
    "itself": "Porcini runs the loop; await instead",
}
_NAMES = {
    "threads": "run_in_executor set_default_executor getaddrinfo getnameinfo",
    "sockets": "create_connection create_server create_unix_connection create_unix_server "
    "create_datagram_endpoint connect_accepted_socket start_tls sendfile "
    "sock_recv sock_recv_into sock_recvfrom sock_recvfrom_into "
    "sock_sendall sock_sendto sock_connect sock_accept sock_sendfile add_reader remove_reader add_writer "
    "remove_writer connect_read_pipe connect_write_pipe",
    "subprocesses": "subprocess_shell subprocess_exec",
    "signals": "add_signal_handler remove_signal_handler",
    "itself": "stop",
}


def blamed_line(frame: FrameType | None) -> tuple[str, int] | None:
    """The innermost line of a step that is neither Python's nor ours. Above the step there is only who runs it."""
    while frame is not None:
        origin = origin_of(frame.f_code.co_filename)
        if origin not in ("porcini", "python"):
            return frame.f_code.co_filename, frame.f_lineno
        if frame.f_code in _STEPPING:
            return None
        frame = frame.f_back
    return None


_STEPPING: set[CodeType] = set()


def steps(function: F) -> F:
    """Say of a function that it runs a step of a program."""
    _STEPPING.add(function.__code__)
    return function


def _refusal(name: str, why: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise self.refuse(f"loop.{name}(): {why}", sys._getframe(1))

    return refuse


class Outside(asyncio.BaseEventLoop):
    """A part of the loop: methods that refuse."""

    refusal: Refusal | None = None
    current: Process
    tasks: list[Any]

    def refuse(self, message: str, frame: FrameType | None) -> Refused:
        """Keep that the program wants what is not simulated; what to raise, so that it goes no further. Where no
        line of the program is running, the one at which the maker of the task stands is to blame."""
        if self.refusal is None:
            path, line = blamed_line(frame) or self._makers_line() or (None, 0)
            self.refusal = Refusal(message, path, line)
        return Refused(message)

    def _makers_line(self) -> tuple[str, int] | None:
        maker = self.current.name.pid[:-1]
        for task in self.tasks:
            if task._process.name.pid == maker:
                spot = standing.find_spot(standing.chain(coroutine_of(task))[0])
                return (spot.path, spot.line) if spot else None
        return None


for _kind, _names in _NAMES.items():
    for _name in _names.split():
        setattr(Outside, _name, _refusal(_name, _WHY[_kind]))
