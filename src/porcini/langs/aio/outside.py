"""What is not simulated: the world outside. Asking for it is an error that says what to do instead."""

from __future__ import annotations

import asyncio
from typing import Any, NoReturn


class NotSimulated(RuntimeError):
    """The program wants something of the outside world."""


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
    "itself": "run_forever run_until_complete stop",
}


def _refusal(name: str, why: str) -> Any:
    def refuse(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotSimulated(f"loop.{name}(): {why}")

    return refuse


class Outside(asyncio.BaseEventLoop):
    """Methods that refuse."""


for _kind, _names in _NAMES.items():
    for _name in _names.split():
        setattr(Outside, _name, _refusal(_name, _WHY[_kind]))
