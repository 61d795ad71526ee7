"""What a batch is: its documents, how they are cut into chunks, and how each ends."""
