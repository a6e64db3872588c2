"""Stages of the task `trained`: the data, and two ways to train."""
