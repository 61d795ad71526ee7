"""The fetcher: the only process that downloads remote images of documents and uploads."""
