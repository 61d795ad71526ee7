"""The usage counter: records usage events of the stream in the ledger, each exactly once."""
