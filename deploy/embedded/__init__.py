"""The farm on one machine: a data folder, a private Redis server and the processes, supervised."""
