"""A simulated SGLang elastic expert-parallel engine: one process per pod, no GPU.

The verdict on a command line is the real resolver's.
What follows is the engine's own protocol: a rendezvous on the dist-init port, a scale state
machine that moves only upon forward passes, and the HTTP routes a client or an operator sees.
`state_machine` is pure and can be driven from tests without a process.
"""
