"""Generator of the language reference, its pictures and the editor schema, from the vocabulary."""
