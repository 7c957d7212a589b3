"""The ports that an engine binds and that can be known beforehand.

Beside them a leader binds one random port for each rank that it may have, so no list of ports is
whole. Source: ``srt/server_args.py`` and ``srt/managers/data_parallel_controller.py`` of SGLang.
"""

BESIDE_HTTP = 233
"""How far above the HTTP port a second one lies."""

LAST_RENDEZVOUS = 6
"""How far above the first rendezvous port the last one of the unbroken row lies."""

HANDSHAKE = 13
"""How far above the first rendezvous port the one lies at which joiners knock."""


def joiner_ports(http_port: int) -> tuple[int, ...]:
    """The ports of a joiner, which meets the others at its leader's."""
    return (http_port, http_port + BESIDE_HTTP)


def leader_ports(http_port: int, dist_init_port: int) -> tuple[int, ...]:
    """The ports of a leader."""
    row = range(dist_init_port, dist_init_port + LAST_RENDEZVOUS + 1)
    return (*joiner_ports(http_port), *row, dist_init_port + HANDSHAKE)
