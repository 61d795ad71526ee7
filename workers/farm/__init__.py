"""The render workers: jobs from the queue through the engine to a commit."""
