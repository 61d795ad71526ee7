"""Large bytes by key: a folder on one machine, or any S3 store."""
