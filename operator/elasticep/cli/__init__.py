"""Commands for people: offline what a file or a reason comes to, and two about a live group."""
