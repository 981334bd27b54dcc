"""`alveus-hook`: what an agent's hooks call. It captures what was said and done, and injects what is remembered.

The law of this room: the agent never waits, never breaks and never hears anything but one JSON document. So a hook puts
its event down durably (`spool`) and leaves; a process of its own, which ends by itself, takes the words from the
transcript into the journal (`draining`). Only the two events that are answered open the memory, for reading (`answer`).

`entry`, `place`, `spool` and `trouble` run at every tool call: they import the standard library, and little of it.
An answer's process has its classes made as they are used (`haste`): it ends before most of that would be.
"""
