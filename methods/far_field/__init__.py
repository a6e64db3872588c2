"""Stages that take a network apart where its neurons switch one at a time, far away from 0."""
