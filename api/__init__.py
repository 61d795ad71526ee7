"""The HTTP front: reads requests, queues jobs and returns PDFs."""
