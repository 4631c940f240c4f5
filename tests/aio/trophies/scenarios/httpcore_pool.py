"""httpcore: a request that is cancelled when a connection has just been made for it leaves that connection behind.
It was never opened, so it is neither idle nor closed, and keeps its place in the pool for ever."""

import asyncio

import httpcore


class Stream(httpcore.AsyncNetworkStream):
    """A server that answers everything by 204."""

    async def write(self, buffer, timeout=None):
        await asyncio.sleep(0)

    async def read(self, max_bytes, timeout=None):
        await asyncio.sleep(0)
        return b"HTTP/1.1 204 No Content\r\n\r\n"

    async def aclose(self):
        pass

    def get_extra_info(self, info):
        return None


class Network(httpcore.AsyncNetworkBackend):
    async def connect_tcp(self, host, port, timeout=None, local_address=None, socket_options=None):
        await asyncio.sleep(0)
        return Stream()


async def test_a_cancelled_request_leaves_the_pool_usable():
    async with httpcore.AsyncConnectionPool(max_connections=1, network_backend=Network()) as pool:
        first = asyncio.create_task(pool.request("GET", "http://first.example/"))
        second = asyncio.create_task(pool.request("GET", "http://second.example/"))
        await first
        second.cancel()
        await asyncio.wait([second])
        response = await pool.request("GET", "http://third.example/")
        assert response.status == 204
