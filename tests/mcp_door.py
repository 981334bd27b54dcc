"""What the tests of the MCP door share: how a server is started, and calls of one."""

import json
import os
import sys
from functools import partial
from pathlib import Path

import anyio
import pytest
from mcp import Client, MCPError

import alveus as package


def environment(**more):
    """What a server's process sees: our source, and no setting of this machine."""
    source = str(Path(package.__file__).parents[1])
    return {"PYTHONPATH": source, "PATH": os.environ["PATH"], "ALVEUS_EMBEDDER": "none", **more}


def command(home, *options):
    """The command that starts a server for `river`."""
    return [sys.executable, "-m", "alveus.doors.cli", "--home", str(home), "--agent", "river", "mcp", "serve", *options]


class Door:
    """Calls of one server, each in a connection of its own."""

    def __init__(self, make, mode="auto"):
        self._make = make
        self._mode = mode

    def in_mode(self, mode):
        """The same server, spoken to as an older or newer client does."""
        return Door(self._make, mode)

    def run(self, act):
        """Do something with a client that is connected."""

        async def connected():
            async with Client(self._make(), mode=self._mode) as client:
                return await act(client)

        return anyio.run(connected)

    def call(self, tool, /, **arguments):
        """A tool's structured result. The text beside it says the same."""
        result = self.run(lambda client: client.call_tool(tool, arguments))
        assert not result.is_error, result.content[0].text
        assert json.loads(result.content[0].text) == result.structured_content
        return result.structured_content

    def refusal(self, tool, /, **arguments):
        """What a tool says that refuses."""
        result = self.run(lambda client: client.call_tool(tool, arguments))
        assert result.is_error
        return result.content[0].text

    def error(self, act):
        """The sentence of the protocol error that something ends in."""

        async def failing(client):
            with pytest.raises(MCPError) as raised:
                await act(client)
            return str(raised.value)

        return self.run(failing)

    def all(self, calls):
        """Several calls at once over one connection; the results in order."""

        async def together(client):
            results = [None] * len(calls)

            async def one(number, tool, arguments):
                results[number] = await client.call_tool(tool, arguments)

            async with anyio.create_task_group() as group:
                for number, (tool, arguments) in enumerate(calls):
                    group.start_soon(partial(one, number, tool, arguments))
            return results

        return self.run(together)
