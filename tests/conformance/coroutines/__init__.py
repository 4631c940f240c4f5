"""The judge of coroutines: Python's own asyncio, with any ready handle next."""
