"""Who outside can say that a journal stood so: spec/journal.md, section 8.

The law of this room:

- A witness sees hashes, never a record.
- Everything here is a pure function over bytes and text: no clock, no file, no network, no stored key. Keys come in
  as their 32-byte seeds and are never shown, logged or kept. An anchor's key is not the journal's key.
- Reading is strict. What can be written in two ways is read in one, so that what was signed is what is read.
- Only `sign` makes a signature, and nothing is called verified unless a signature by the key that was asked about has
  been checked.
- What is malformed raises `WitnessError`, with a sentence and a hint.
"""
