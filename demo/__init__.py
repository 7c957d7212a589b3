"""The demo: a cluster boots on this machine, and a group grows in it before one's eyes."""
