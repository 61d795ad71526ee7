"""Jobs: their records, how they are accepted, kept and ended."""
