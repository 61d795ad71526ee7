"""What operators read: logs and metrics."""
