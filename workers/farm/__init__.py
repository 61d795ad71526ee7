"""The workers as a Celery application: tasks, child processes, presence and redelivery."""
