"""Usage: metering events, billing periods, the ledger and its totals."""
