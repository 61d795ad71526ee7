"""The packages of an environment, and the tests to run in it."""
