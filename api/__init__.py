"""The HTTP front: requests in, jobs to the queue, PDFs out."""
