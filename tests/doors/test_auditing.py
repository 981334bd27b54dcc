"""audit, receipts, metrics: what the ledger says, and never a word of what was remembered."""

import json
import re
from datetime import UTC, datetime, timedelta

import pytest

from alveus import Hippocampus
from alveus.audit.judge import State
from alveus.audit.receipt import Boundary, Receipt, Status, as_json, from_json
from alveus.doors.health import NOT_SHOWN, STYLES, TO_DO
from alveus.journal.seal import Key, format_time
from alveus.store.files import DISK
from alveus.store.ledger import NAME, Ledger

USER = "Анна %_../&agent_id=x"


@pytest.fixture
def append(begun, home, folder):  # noqa: ARG001  (the journal has to be there)
    """Put receipts into the ledger of `river`, which is begun."""
    key = Key((home / "keys" / "river.journal.key").read_bytes())

    def put(*receipts, **options):
        with Ledger(folder, DISK, key, **options) as ledger:
            ledger.append(receipts)

    return put


def receipt(boundary, ago=60, status=Status.VERIFIED, run="run-1", **facts):
    """A receipt so many seconds old."""
    moment = (datetime.now(UTC) - timedelta(seconds=ago)).replace(tzinfo=None)
    return Receipt(
        **{
            "run_id": run,
            "user_scope": USER,
            "assistant_scope": "river",
            "boundary": boundary,
            "version": 22,
            "status": status,
            "at_utc": format_time(moment),
            "source_version": "example/1",
            **facts,
        }
    )


def whole(**facts):
    """What a healthy lane shows."""
    return [
        receipt(Boundary.STORE, 60, source_durable=True, **facts),
        receipt(Boundary.STM_MTM, 50, destination_present=True, **facts),
        receipt(Boundary.RETRIEVE, 40, **facts),
        receipt(Boundary.GENERATE, 30, depends_on_version=22, **facts),
    ]


# audit


def test_no_receipts_are_not_green(begun):
    """An empty ledger is uncertain, status 5, and no file is made by looking."""
    ended = begun("audit")
    assert (ended.status, "UNCERTAIN" in ended.out, ended.err) == (5, True, "")
    document = begun("audit", "--json").document
    assert (document["healthy"], document["lanes"][0]["state"]) == (False, "uncertain")


def test_a_healthy_lane_is_green_and_says_what_that_does_not_show(begun, append):
    """Status 0; the verdict for people ends with what a receipt does not prove, the one for programs names it."""
    append(*whole())
    ended = begun("audit")
    assert (ended.status, "HEALTHY" in ended.out) == (0, True)
    assert ended.lines[-1].endswith(NOT_SHOWN)
    document = begun("audit", "--json").document
    assert (document["healthy"], document["lanes"][0]["not_shown"]) == (True, NOT_SHOWN)
    assert [json.loads(line)["state"] for line in begun("audit", "--jsonl").lines] == ["healthy"]


def test_one_sick_lane_is_enough(begun, append):
    """Each user is judged alone; the status is the worst one's; --user asks about one."""
    append(*whole(), *whole(user_scope="boris", run_id="run-2")[:3])
    assert begun("audit").status == 5
    assert begun("audit", "--user", USER).status == 0
    document = begun("audit", "--user", "boris", "--json").document
    assert [(lane["user_scope"], lane["state"]) for lane in document["lanes"]] == [("boris", "generation_unverified")]
    assert begun("audit", "--user", "nobody", "--json").document["lanes"][0]["state"] == "uncertain"
    assert begun("audit", "--run", "run-1").status == 0


def test_a_run_is_asked_for_what_a_run_shows(begun, append):
    """A page's run and a question's run are two; each is judged by what is due in it."""
    page, question = whole()[:2], whole(run_id="run-2")[2:]
    append(*page, *question, receipt(Boundary.RETRIEVE, run="run-3"), receipt(Boundary.STORE, run="run-4"))
    assert [begun("audit", "--run", f"run-{number}").status for number in (1, 2, 3, 4)] == [0, 0, 5, 5]
    assert begun("audit", "--run", "run-9", "--json").document["lanes"][0]["state"] == "uncertain"


def test_waiting_is_not_green_unless_it_is_asked_for(begun, append):
    """A page that waits in STM gives 5; --waiting-ok gives 0 for it, and for nothing worse."""
    waits = receipt(Boundary.STORE, run="run-2", source_durable=True, capacity=7, occupancy=3)
    append(*whole(), waits)
    assert (begun("audit").status, begun("audit", "--waiting-ok").status) == (5, 0)
    append(receipt(Boundary.STM_MTM, 20, Status.STARTED, run="run-2", source_present=False))
    assert begun("audit", "--waiting-ok").status == 5


def test_a_conflict_of_scope_is_seen_from_both_lanes(begun, append):
    """One event of Boris's in Anna's run: neither lane is green."""
    append(*whole()[:3], receipt(Boundary.GENERATE, 30, depends_on_version=22, user_scope="boris"))
    for user in (USER, "boris"):
        lanes = begun("audit", "--user", user, "--json").document["lanes"]
        assert [lane["state"] for lane in lanes] == ["scope_conflict"]


def test_evidence_is_named(begun, append):
    """Rule, sentence and receipts, in both forms."""
    append(*whole()[:2], receipt(Boundary.RETRIEVE, 40, version=21), whole()[3])
    assert "run-1 retrieve verified" in begun("audit").out
    evidence = begun("audit", "--json").document["lanes"][0]["evidence"][0]
    assert (evidence["rule"], evidence["state"]) == ("old_version", "stale_retrieval")
    assert from_json(evidence["receipts"][0]).version == 21


def test_every_state_has_a_style_and_all_but_green_a_remedy():
    """A person is told what to do."""
    assert set(STYLES) == set(State)
    assert set(TO_DO) == set(State) - {State.HEALTHY}


def test_hashed_scopes_are_found_by_name(begun, append):
    """The audit of a user works on a ledger that does not hold the name."""
    append(*whole(), hashed_scopes=True)
    assert begun("audit", "--user", USER).status == 0
    assert begun("audit", "--user", "boris").status == 5
    assert len(begun("receipts", "ls", "--user", USER).lines) == 4


@pytest.mark.parametrize("command", [["audit"], ["receipts", "ls"], ["receipts", "export"]])
def test_a_damaged_ledger_is_not_an_empty_one(begun, append, folder, command):
    """An edited line: status 4 and the code, not fewer receipts."""
    append(*whole())
    path = folder / NAME
    path.write_bytes(path.read_bytes().replace(b'"version":22', b'"version":23', 1))
    ended = begun(*command, "--json")
    assert (ended.status, ended.document["code"]) == (4, "ledger_broken")


@pytest.mark.parametrize("left", [0, 2, None])
def test_a_ledger_whose_end_was_cut_off_is_no_shorter_one(begun, append, folder, left):
    """Status 4, and the doctor says what is wrong and what to do; the same where the file is gone."""
    append(*whole())
    path = folder / NAME
    if left is None:
        path.unlink()
    else:
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:left]))
    ended = begun("audit", "--json")
    assert (ended.status, ended.document["code"]) == (4, "ledger_broken")
    (found,) = [one for one in begun("doctor", "--json").document["checks"] if one["name"] == "ledger"]
    assert (found["health"], "cut_off" in found["found"], "backup" in found["mend"]) == ("bad", True, True)


def test_the_doctor_looks_at_the_ledger(begun, append, folder, monkeypatch):
    """Whole, torn by a crash, and with names although hashes are asked for."""

    def ledger():
        (found,) = [one for one in begun("doctor", "--json").document["checks"] if one["name"] == "ledger"]
        return found["health"], found["found"]

    assert ledger() == ("ok", "no receipts yet")
    append(*whole())
    assert ledger() == ("ok", "4 receipts, all whole")
    monkeypatch.setenv("ALVEUS_SCOPES", "hashed")
    assert ledger()[0] == "warn"
    monkeypatch.delenv("ALVEUS_SCOPES")
    with (folder / NAME).open("ab") as file:
        file.write(b'{"kid"')
    assert ledger() == ("warn", "a crash left half a line at its end")


@pytest.mark.parametrize("command", [["audit"], ["metrics"], ["receipts", "ls"], ["receipts", "show", "x"]])
def test_without_a_journal_there_is_nothing_to_audit(call, command):
    """Status 3, as for everything that is not there."""
    assert call(*command).status == 3


# receipts


def test_receipts_are_listed_and_shown(begun, append):
    """A line each in a pipe; whole by run; as they lie in the ledger under --jsonl."""
    append(*whole())
    assert [line.split("\t")[2] for line in begun("receipts", "ls").lines] == [
        "store",
        "stm_mtm",
        "retrieve",
        "generate",
    ]
    shown = begun("receipts", "show", "run-1", "--json").document["receipts"]
    assert [one["boundary"] for one in shown] == ["store", "stm_mtm", "retrieve", "generate"]
    assert "sourceDurable" in begun("receipts", "show", "run-1").out
    assert [json.loads(line) for line in begun("receipts", "ls", "--jsonl").lines] == shown
    ended = begun("receipts", "show", "run-9")
    assert (ended.status, "run-9" in ended.err) == (3, True)


def test_receipts_leave_as_cloudevents(begun, append):
    """CloudEvents 1.0, JSON: the required attributes, the receipt as data, the same id each time."""
    append(*whole())
    events = [json.loads(line) for line in begun("receipts", "export").lines]
    for event, one in zip(events, whole(), strict=True):
        assert event["specversion"] == "1.0"
        assert event["source"] == "/alveus/agents/river"
        assert event["type"] == f"dev.alveus.receipt.{one.boundary}.{one.status}"
        assert event["time"] == event["data"]["atUtc"]
        assert {**event["data"], "atUtc": None} == {**as_json(one), "atUtc": None}
    assert begun("receipts", "export", "--json").document == events
    assert len({event["id"] for event in events}) == 4


# metrics


def test_metrics_are_prometheus_text(begun, append):
    """Each family has HELP and TYPE once, samples have numbers, labels come from closed vocabularies."""
    append(*whole())
    ended = begun("metrics")
    assert ended.status == 0
    sample = re.compile(r'[a-z_]+(?:\{[a-z]+="[a-z_]+"(?:,[a-z]+="[a-z_]+")*\})? [0-9.e+]+')
    for line in ended.lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or sample.fullmatch(line), line
    assert len({line for line in ended.lines if line.startswith("# TYPE")}) == len(
        [line for line in ended.lines if line.startswith("# TYPE")]
    )
    assert 'alveus_receipts_total{boundary="store",status="verified"} 1' in ended.lines
    assert 'alveus_lanes{state="healthy"} 1' in ended.lines
    assert {"alveus_healthy 1", "alveus_ledger_whole 1"} <= set(ended.lines)


def test_metrics_do_not_grow_with_users_and_runs(begun, append):
    """A hundred users and runs have as many series as one."""
    append(*whole())
    before = len(begun("metrics").lines)
    append(*[receipt(Boundary.STORE, run=f"run-{n}", user_scope=f"user {n}", version=n) for n in range(100)])
    assert len(begun("metrics").lines) == before


def test_metrics_of_a_damaged_ledger_say_so(begun, append, folder):
    """One series, 0, and status 4: no count is better than a wrong one."""
    append(*whole())
    (folder / NAME).write_bytes(b"{}\n")
    ended = begun("metrics")
    assert ended.status == 4
    assert [line for line in ended.lines if line[0] != "#"] == ["alveus_ledger_whole 0"]


# No content


def test_no_content_in_any_byte(begun, home, folder):
    """Secrets planted in records, through promotion, retrieval and settling: none in ledger, outputs or errors."""
    secrets = [f"PLANTED{number}SECRET" for number in range(12)]
    with Hippocampus.open(home=home, agent_id="river") as memory:
        for number, secret in enumerate(secrets):
            memory.record("observation", f"My password is {secret}, topic {number % 3}", src="user", user=USER)
            memory.record("observation", f"Noted: {secret}", user=USER)
        memory.promote(user=USER)
        found = memory.retrieve(secrets[3], user=USER)
        assert any(secrets[3] in item.text for item in found)
        memory.settle(found.run_id, {"type": "test_result", "value": "passed"})
        with pytest.raises(Exception, match="outcome") as caught:
            memory.settle(found.run_id, {"type": "opinion", "value": secrets[0]})
    assert "PLANTED" not in f"{caught.value} {vars(caught.value)}"
    told = [(folder / NAME).read_bytes().decode()]
    for command in (["audit"], ["audit", "--json"], ["metrics"], ["receipts", "ls"], ["receipts", "export"]):
        ended = begun(*command)
        told += [ended.out, ended.err]
    told.append(begun("receipts", "show", secrets[0]).out)
    assert len([*Ledger(folder, DISK, Key((home / "keys" / "river.journal.key").read_bytes())).receipts()]) > 12
    for text in told:
        assert "PLANTED" not in text
        assert "password" not in text


def test_a_question_on_the_command_line_can_be_settled(begun, home):
    """`context --run` names a run, `settle` takes it; without tiers there is no run, and it says so."""
    said = begun("context", "tide", "--budget", "200", "--run")
    assert said.status == 0
    assert "no run" in said.err
    with Hippocampus.open(home=home, agent_id="river", tiers=True) as memory:
        memory.record("observation", "the tide is high at noon")
        memory.promote()
    asked = begun("context", "tide", "--budget", "200", "--run", "--json")
    run = asked.document["run_id"]
    assert run
    assert begun("settle", run, "destination_lookup", "found").status == 0
    assert begun("settle", run, "destination_lookup", "missing").status == 2
    assert begun("context", "tide", "--budget", "200", "--json").document["run_id"] == ""


def test_doctor_sees_a_damaged_tiers_file_and_rebuild_mends_it(begun, home, folder):
    """A spoiled page of tiers.db is bad, with what to do; afterwards it is whole."""
    with Hippocampus.open(home=home, agent_id="river", tiers=True) as memory:
        for number in range(40):
            memory.record("observation", f"reading {number}: " + "water " * 200)
        memory.promote()
    checks = {one["name"]: one for one in begun("doctor", "--json").document["checks"]}
    assert checks["tiers"]["health"] == "ok"
    path = folder / "tiers.db"
    image = bytearray(path.read_bytes())
    image[8192 : len(image) // 2] = b"\xa5" * (len(image) // 2 - 8192)
    path.write_bytes(image)
    found = begun("doctor", "--json")
    checks = {one["name"]: one for one in found.document["checks"]}
    assert found.status == 1
    assert checks["tiers"]["health"] == "bad"
    assert "alveus rebuild" in checks["tiers"]["mend"]
    assert begun("rebuild").status == 0
    checks = {one["name"]: one for one in begun("doctor", "--json").document["checks"]}
    assert checks["tiers"]["health"] == "ok"


def test_a_rebuild_that_cannot_make_the_tiers_ends_with_one(begun, home, monkeypatch):
    """The journal's index is made all the same, and what was not is named."""
    from alveus.errors import StoreError
    from alveus.promoting import Tiers

    with Hippocampus.open(home=home, agent_id="river", tiers=True) as memory:
        memory.record("observation", "the tide is high at noon")
        memory.promote()

    def full(_):
        raise StoreError("there is no room", code="disk_full", hint="make room")

    monkeypatch.setattr(Tiers, "rebuild", full)
    ended = begun("rebuild")
    assert ended.status == 1
    assert "there is no room" in ended.err
