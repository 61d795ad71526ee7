"""The `pressroom` command: running the farm, its accounts and keys, and the engine alone."""
