"""Commands that answer offline: what the CRD is, what is wrong with a file, what it would make."""
