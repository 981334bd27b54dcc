"""An agent's memory behind the protocol: a server in this process, or in one of its own.

The SDK is imported by the fixtures that need it: where it is not installed, each test module says so.
"""

import contextlib
import subprocess

import pytest

from alveus import Hippocampus


@pytest.fixture
def memory(home):
    """The journal of `river`, open in this process too."""
    with Hippocampus.open(home=home, agent_id="river") as memory:
        yield memory


@pytest.fixture
def doors(home):
    """Make a door to a server in this process; `user` and `session` are its configuration."""
    from alveus.doors.mcp.room import Room
    from alveus.doors.mcp.server import make_server
    from alveus.doors.options import Settings
    from mcp_door import Door

    rooms = []

    def make(**configured):
        room = Room(Settings(home=str(home), agent="river"), **configured)
        rooms.append(room)
        return Door(lambda: make_server(room))

    yield make
    for room in rooms:
        room.close()


@pytest.fixture
def door(memory, doors):  # noqa: ARG001
    """A server in this process, for all of `river`'s memory."""
    return doors()


@pytest.fixture
def spawned(home, memory):
    """A server over stdio, a new process for each connection."""
    from mcp.client.stdio import StdioServerParameters

    from mcp_door import Door, command, environment

    memory.flush()
    words = command(home)
    return Door(lambda: StdioServerParameters(command=words[0], args=words[1:], env=environment()))


@pytest.fixture
def started(home):
    """Start a server's process by hand; whatever is left of it is killed in the end."""
    from mcp_door import command, environment

    processes = []

    def start(*options, **more):
        process = subprocess.Popen(
            command(home, *options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(**more),
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
