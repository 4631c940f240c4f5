"""Real asyncio code: a controlled event loop, and footprints of steps by source instrumentation."""
