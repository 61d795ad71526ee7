"""The language reference, its pictures and the schema for editors, written from the vocabulary."""
