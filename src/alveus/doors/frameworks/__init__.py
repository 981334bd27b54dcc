"""The memory interfaces of agent frameworks, one module each, over one agent's journal.

A framework may overwrite and delete; a journal cannot. So whatever a framework does becomes an event in the journal,
and what it sees is the fold of these events, in the order of the chain: what was overwritten or deleted is gone for the
framework and stays in the journal's past. Two processes that change the same thing at once are told apart by that
order: the later one's event is void where it rested on what was no longer so, and its caller is told in the framework's
words.

A framework is imported by its own module only, and not before that module is.
"""
