"""Cross-references: counters, tables of contents, the index, and footnotes of one document."""
