"""State that is gone with the last reference: one task drops an object, the other finds it through a weak dict.

Goes wrong when the object is dropped between the check and the lookup (KeyError): `del` of a list item
changes another object. The twin keeps what it found.
"""

import asyncio
import weakref

EXPECTED = {"buggy": "error", "correct": "passes"}


class Session:
    user = "ann"


async def buggy():
    owners = [Session()]
    sessions = weakref.WeakValueDictionary(s=owners[0])

    async def use():
        if "s" in sessions:
            await asyncio.sleep(0)
            return sessions["s"].user
        return None

    async def log_out():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del owners[0]

    user, _ = await asyncio.gather(use(), log_out())
    return user


async def correct():
    owners = [Session()]
    sessions = weakref.WeakValueDictionary(s=owners[0])

    async def use():
        session = sessions.get("s")
        await asyncio.sleep(0)
        return session and session.user

    async def log_out():
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        del owners[0]

    user, _ = await asyncio.gather(use(), log_out())
    return user
