"""The signer: the only process that has the keys of accounts, and signs finished PDFs for workers."""
