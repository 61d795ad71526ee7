"""The `pressroom` command: runs and administers a farm, and renders files without one."""
