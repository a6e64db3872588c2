"""Stages of the task `trained`: the data, two ways to train, what a trained teacher shows."""
