"""psycopg_pool: a client that waits for a connection, and is cancelled just as one is handed to it, goes on as if
nobody had cancelled it."""

import asyncio
from types import SimpleNamespace

from psycopg.pq import TransactionStatus
from psycopg_pool import AsyncConnectionPool


class Connection:
    """A connection to a server that is always there."""

    closed = False

    def __init__(self):
        self.pgconn = SimpleNamespace(transaction_status=TransactionStatus.IDLE)

    @classmethod
    async def connect(cls, conninfo="", **kwargs):
        await asyncio.sleep(0)
        return cls()

    async def close(self):
        self.closed = True


async def test_a_cancelled_client_is_cancelled():
    pool = AsyncConnectionPool(
        "", connection_class=Connection, name="pool", min_size=1, max_size=1, num_workers=1, open=False
    )
    await pool.open(wait=True)
    connection = await pool.getconn()
    client = asyncio.create_task(pool.getconn())
    await asyncio.sleep(0)
    returning = asyncio.create_task(pool.putconn(connection))
    client.cancel()
    await asyncio.wait([client, returning])
    assert client.cancelled()
