"""Attacks through sockets: out of the box, to the host, to the kernel's odd families."""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

# UDP connect sends nothing: it only looks for a route. 192.0.2.0/24 and 2001:db8::/32 are
# reserved for documentation.
_ROUTE = "refused('a route', socket.socket({family}, socket.SOCK_DGRAM).connect, ('{to}', 9))"


def _no_socket(name: str, family: int, kind: int, protocol: int = 0) -> Attack:
    return Attack(name, f"refused('a socket', socket.socket, {family}, {kind}, {protocol})")


NETWORK_ATTACKS = (
    Attack("IPv4 out", _ROUTE.format(family="socket.AF_INET", to="192.0.2.1")),
    Attack("IPv6 out", _ROUTE.format(family="socket.AF_INET6", to="2001:db8::1")),
    Attack(
        "the host's loopback",
        'refused("connected", socket.create_connection, ("127.0.0.1", host["port"]), 2)',
    ),
    Attack(
        "names are not resolved, and at once",
        """
started = time.monotonic()
refused("resolved", socket.getaddrinfo, "example.com", 80)
expect(time.monotonic() - started < 5, "slowly")
""",
    ),
    _no_socket("AF_UNIX", 1, 1),
    _no_socket("AF_NETLINK", 16, 3),
    _no_socket("AF_PACKET", 17, 3),
    _no_socket("AF_ALG", 38, 5),
    _no_socket("AF_VSOCK", 40, 1),
    _no_socket("AF_XDP", 44, 3),
    _no_socket("raw socket", 2, 3, 1),
    _no_socket("ping socket", 2, 2, 1),
    _no_socket("SCTP", 2, 1, 132),
)
