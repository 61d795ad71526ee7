"""Jobs on record: accepted, waited for, read back, cancelled; and the keys that make calls safe to repeat."""
