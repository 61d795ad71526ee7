"""What both sides of the queue stand on: kernel, database, queue, blobs and their settings."""
