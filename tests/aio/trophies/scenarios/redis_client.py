"""redis-py: the reply to a command that was cancelled stays on its connection, which goes back to the pool. The
next command gets that reply."""

import asyncio

from redis.asyncio import Connection, ConnectionPool, Redis


class Server:
    """Answers `GET key` by the key itself, after a while. To redis-py it is the reader and the writer."""

    transport = None

    def __init__(self):
        self.reader = asyncio.StreamReader()

    def writelines(self, lines):
        key = b"".join(lines).split(b"\r\n")[-2]
        loop = asyncio.get_running_loop()
        loop.call_soon(self.reader.feed_data, b"$%d\r\n%s\r\n" % (len(key), key))

    async def drain(self):
        await asyncio.sleep(0)

    def close(self):
        self.reader.feed_eof()

    async def wait_closed(self):
        pass


class ToServer(Connection):
    async def _connect(self):
        server = Server()
        self._reader, self._writer = server.reader, server

    async def on_connect(self):
        self._parser.on_connect(self)


async def test_a_cancelled_command_takes_its_reply_with_it():
    client = Redis(connection_pool=ConnectionPool(connection_class=ToServer, max_connections=1))
    first = asyncio.create_task(client.get("mine"))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert await client.get("yours") == b"yours"
