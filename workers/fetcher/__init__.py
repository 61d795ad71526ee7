"""The fetcher: the one process that goes out for images that documents and uploads name."""
