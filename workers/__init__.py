"""The processes behind the queue: the render farm and the usage counter."""
