"""Asks the real SGLang, of any version, what it makes of a command line; no GPU needed."""
