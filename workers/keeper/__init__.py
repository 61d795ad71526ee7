"""The keeper: repairs what the queue forgot, and cleans up what has expired."""
