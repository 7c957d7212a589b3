"""Commands for people: offline what a file, the CRD or a reason comes to; two about a live group."""
