"""Simulation of a farm's queues: waiting times by load and size."""
