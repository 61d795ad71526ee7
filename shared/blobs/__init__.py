"""The blob store: a folder on one machine, or an S3 bucket."""
