"""Adapters of the gate: how to store, observe, retrieve and restart, one file a memory system: spec/audit.md, 5.

A foreign package is imported where its adapter is used and nowhere else, and in a process of its own.
"""
