"""Expressions: grammar, compiler, the functions they call, locale formats, and messages."""
