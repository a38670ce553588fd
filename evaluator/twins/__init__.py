"""Contradictory twins: copies of a task's tests in which one expectation each is false.

An honest fix passes the tests and fails their twins; whoever forces tests to pass cannot tell which is which.
"""
