"""The doors: where words come in from people and programs, and go out to them.

Only doors print. Data goes to stdout, talk to stderr. A door sets `src`, masks secrets before anything is signed, and
turns errors into one sentence and one exit status; it holds no rule about records, chains or files.
"""
