"""Stream an answer into a Block; where the terminal shows none, it is printed when it is whole."""

import asyncio

from blockwire.tty import open_terminal


async def main() -> None:
    async with open_terminal() as terminal, await terminal.open_context() as context:
        context.append("What is a fold?", lifecycle="sealed")
        answer = context.append("")
        for word in ("A", " function", " that", " eats", " a", " list."):
            answer.extend(word)
            await terminal.drain()
        answer.seal()


asyncio.run(main())
