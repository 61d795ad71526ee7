"""The farm on one machine: a data folder, a private Redis server, and a supervisor of all processes."""
