"""Decisions: from a snapshot to what is done next. Pure: no I/O, no clock, no randomness."""
