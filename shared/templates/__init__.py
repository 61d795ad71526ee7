"""Templates: records, versions and tags, references and links to others, pinned by digest."""
