"""Running the farm: the `pressroom` command, the farm on one machine, the runbook."""
