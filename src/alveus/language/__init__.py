"""From text to the terms it is found by, and from a question to terms and dates. Pure."""

from alveus.language.terms import Group, detect, index_terms, question_terms

__all__ = ["Group", "detect", "index_terms", "question_terms"]
