"""How long jobs wait for a worker: the queue of a farm, simulated."""
