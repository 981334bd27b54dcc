"""Commands that begin a journal and write to it: init, record.

What is recorded here was said by the person at the keyboard: `src` is `user`, and no option changes that.
"""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from alveus.doors import output
from alveus.doors.options import Form, Settings, settings_of
from alveus.doors.streams import standard_input, text
from alveus.errors import InputError
from alveus.journal.record import Kind, SignedRecord, Source

User = Annotated[str | None, typer.Option(metavar="NAME", help="On whose behalf, where several people share an agent.")]
KeepSecrets = Annotated[
    bool, typer.Option("--keep-secrets", help="Do not mask keys and tokens; a signed record cannot be edited later.")
]
KindOf = Annotated[Kind, typer.Argument(metavar="KIND", case_sensitive=False, help="What happened: " + ", ".join(Kind))]
Words = Annotated[str, typer.Argument(metavar="TEXT", help="The words, or `-` to read them from stdin.")]
Meta = Annotated[
    list[str] | None, typer.Option("--meta", metavar="KEY=VALUE", help="A note beside the text; may be repeated.")
]
MetaJson = Annotated[str | None, typer.Option("--meta-json", metavar="OBJECT", help="Notes as a JSON object.")]
Session = Annotated[str | None, typer.Option(metavar="NAME", help="The conversation it belongs to.")]
EventTime = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="When it happened, if not now: ISO 8601 with a zone, 2026-11-30T12:00:00+03:00."),
]
Durable = Annotated[bool, typer.Option("--durable", help="Sync it at once, whatever its kind.")]
ForceClock = Annotated[bool, typer.Option("--force-clock", help="Record although the clock seems to have jumped.")]
ExistingKey = Annotated[
    bool, typer.Option("--existing-key", help="Begin a first journal with a key that has never signed anything.")
]


def init(call: typer.Context, *, existing_key: ExistingKey = False) -> None:
    """Make a key and an empty journal.

    Where a journal is there already, nothing happens.
    """
    from alveus.store.creation import is_begun
    from alveus.store.files import DISK

    settings = settings_of(call)
    layout = settings.layout()
    new = existing_key or not is_begun(DISK, layout)
    with settings.open(write=True, create=True, existing_key=existing_key) as memory:
        size = memory.size()
    told = {"agent_id": layout.agent_id, "folder": layout.folder, "key_file": layout.key_file, "new": new, "size": size}
    if settings.form is not Form.TEXT:
        output.document(told, settings)
        return
    output.facts([("agent", layout.agent_id), ("journal", str(layout.stream)), ("key", str(layout.key_file))])
    if new:
        output.talk("A new journal. Keep a copy of the key in another place: without it nothing can be verified.")
    else:
        output.talk(f"This journal was there already, with {output.plural(size, 'record')}; nothing was changed.")


def record(
    call: typer.Context,
    *,
    kind: KindOf,
    content: Words,
    meta: Meta = None,
    meta_json: MetaJson = None,
    user: User = None,
    session: Session = None,
    event_time: EventTime = None,
    durable: Durable = False,
    force_clock: ForceClock = False,
    keep_secrets: KeepSecrets = False,
) -> None:
    """Append a record and print its id.

    It is signed, chained to the record before it, and on disk when the command ends. Keys and tokens in it are masked
    first.
    """
    settings = settings_of(call)
    words, metadata = _words(content), _metadata(meta or [], meta_json)
    masked: dict[str, int] = {}
    if not keep_secrets:
        words, metadata, masked = _mask(words, metadata)
    with settings.open(write=True) as memory:
        made = memory.record(
            kind,
            words,
            metadata,
            src=Source.USER,
            user=_typed(user),
            session=_typed(session),
            event_time=_typed(event_time),
            durable=durable,
            force_clock=force_clock,
        )
    # Only now, with the journal closed, is the record on disk whatever its kind.
    _tell(made, masked, settings)


def _tell(made: SignedRecord, masked: dict[str, int], settings: Settings) -> None:
    if masked:
        kinds = ", ".join(f"{count} {kind}" for kind, count in masked.items())
        output.talk(f"masked before signing: {kinds} (`--keep-secrets` keeps them)", "yellow")
    if settings.form is Form.TEXT:
        output.show(made.record_id)
        output.talk(f"recorded: {made.kind}, {made.novelty}")
    else:
        output.document({"masked": masked, "record": made}, settings)


def _words(content: str) -> str:
    words = standard_input() if content == "-" else text(content)
    if not words.strip():
        raise InputError(
            "there is no text to record", code="blank", hint="pass some words, or `-` to read them from stdin"
        )
    return words


def _typed(value: str | None) -> str | None:
    return None if value is None else text(value)


def _metadata(pairs: list[str], as_json: str | None) -> dict[str, Any]:
    metadata = {} if as_json is None else _object(text(as_json))
    for pair in pairs:
        key, equals, value = text(pair).partition("=")
        if not key or not equals:
            raise InputError(f"--meta {pair!r} is not KEY=VALUE", hint="write it as `--meta ticket=41`")
        metadata[key] = value
    return metadata


def _object(source: str) -> dict[str, Any]:
    try:
        value = json.loads(source)
    except (ValueError, RecursionError) as error:
        raise InputError(f"--meta-json is not JSON: {error}", hint="""write it as '{"ticket": 41}'""") from None
    if not isinstance(value, dict):
        raise InputError("--meta-json is not a JSON object", hint="""write it as '{"ticket": 41}'""")
    return value


def _mask(words: str, metadata: dict[str, Any]) -> tuple[str, dict[str, Any], dict[str, int]]:
    from alveus.importers import secrets

    words, found = secrets.mask(words)
    metadata, more = secrets.mask_json(metadata)
    return words, metadata, dict(found + more)
