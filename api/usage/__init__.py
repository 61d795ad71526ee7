"""The usage of an account, by period, day and template."""
