"""Attacks through sockets: out of the box, to the host, to the kernel's odd families."""

from __future__ import annotations

from sandboxes.conformance.attack import Attack

# UDP connect sends nothing: it only looks for a route. 192.0.2.0/24 and 2001:db8::/32 are
# reserved for documentation; 169.254.169.254 is where clouds keep credentials.
_ROUTE = "refused('a route', socket.socket({family}, socket.SOCK_DGRAM).connect, ('{to}', 9))"


def _no_socket(name: str, family: int, kind: int, protocol: int = 0) -> Attack:
    return Attack(name, f"refused('a socket', socket.socket, {family}, {kind}, {protocol})")


NETWORK_ATTACKS = (
    Attack("IPv4 out", _ROUTE.format(family="socket.AF_INET", to="192.0.2.1")),
    Attack("IPv6 out", _ROUTE.format(family="socket.AF_INET6", to="2001:db8::1")),
    Attack("IPv6 to a neighbour", _ROUTE.format(family="socket.AF_INET6", to="fe80::1%1")),
    Attack("multicast", _ROUTE.format(family="socket.AF_INET", to="224.0.0.251")),
    Attack("the cloud's metadata", _ROUTE.format(family="socket.AF_INET", to="169.254.169.254")),
    Attack("private networks", _ROUTE.format(family="socket.AF_INET", to="172.17.0.1")),
    Attack(
        "the host's loopback",
        'refused("connected", socket.create_connection, ("127.0.0.1", host["port"]), 2)',
    ),
    Attack(
        "the host's loopback, IPv6",
        """
if host["port6"]:
    refused("connected", socket.create_connection, ("::1", host["port6"]), 2)
refused("mapped", socket.create_connection, ("::ffff:127.0.0.1", host["port"]), 2)
""",
    ),
    Attack(
        "the host's abstract sockets",
        """
for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET):
    refused("connected", lambda: socket.socket(socket.AF_UNIX, kind).connect(
        "\\0" + host["abstract"]))
""",
    ),
    Attack(
        "the host's sockets in /proc",
        """
port = f":{host['port']:04X} "
for name in ("tcp", "tcp6", "udp", "udp6", "unix", "raw", "packet", "netlink"):
    try:
        table = open("/proc/net/" + name).read()
    except OSError:
        continue
    expect(port not in table and host["abstract"] not in table, name)
try:
    interfaces = [line.split(":")[0].strip() for line in open("/proc/net/dev").readlines()[2:]]
except OSError:
    interfaces = []
usual = {"lo", "tunl0", "sit0", "ip6tnl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0",
         "ip6gre0"}
expect(set(interfaces) <= usual, interfaces)
""",
    ),
    Attack(
        "names are not resolved, and at once",
        """
started = time.monotonic()
refused("resolved", socket.getaddrinfo, "example.com", 80)
expect(time.monotonic() - started < 5, "slowly")
""",
    ),
    Attack(
        "changing its own network",
        """
import fcntl, struct
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
request = struct.pack("16sH14s", b"lo", 0x49, bytes(14))
refused("flags", fcntl.ioctl, probe, 0x8914, request)
refused("address", fcntl.ioctl, probe, 0x8916,
        struct.pack("16sH2s4s8s", b"lo", 2, bytes(2), bytes([127, 0, 0, 9]), bytes(8)))
refused("mark", probe.setsockopt, socket.SOL_SOCKET, 36, 1)
for path in ("/proc/sys/net/ipv4/ip_forward", "/proc/sys/net/ipv4/ping_group_range"):
    refused(path, lambda: os.close(os.open(path, os.O_WRONLY)))
""",
    ),
    _no_socket("AF_UNIX", 1, 1),
    _no_socket("AF_NETLINK", 16, 3),
    _no_socket("AF_PACKET", 17, 3),
    _no_socket("AF_ALG", 38, 5),
    _no_socket("AF_VSOCK", 40, 1),
    _no_socket("AF_XDP", 44, 3),
    Attack(
        "all other socket families",
        """
for family in set(range(46)) - {socket.AF_INET, socket.AF_INET6}:
    for kind in (1, 2, 3, 5):
        refused(f"family {family}, kind {kind}", socket.socket, family, kind)
""",
    ),
    _no_socket("raw socket", 2, 3, 1),
    _no_socket("raw socket, IPv6", 10, 3, 58),
    _no_socket("ping socket", 2, 2, 1),
    _no_socket("SCTP", 2, 1, 132),
    _no_socket("DCCP", 2, 6, 33),
    _no_socket("MPTCP", 2, 1, 262),
    _no_socket("UDP-Lite", 2, 2, 136),
)
