"""What an environment is made of, and tried with."""
