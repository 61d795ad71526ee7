"""Code that the front and the workers share: kernel, database, queue, blobs and settings."""
