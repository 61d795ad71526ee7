"""The usage counter: page events from the stream into the ledger, each once."""
