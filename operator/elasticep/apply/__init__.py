"""Carrying out what was planned, and reporting it. Decides nothing."""
