"""What a request may cost: its body's size and its account's allowance."""
