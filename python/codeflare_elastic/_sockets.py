"""The TCP sockets of this process, and how to end those of a group.

A collective whose peer is frozen or gone may wait indefinitely. It returns with an error when its sockets are shut down.
"""

import fcntl
import os
import socket
import stat
import struct

_SIOCGIFADDR = 0x8915


def open_sockets():
    """Inode by descriptor."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        try:
            status = os.fstat(int(name))
        except OSError:
            continue
        if stat.S_ISSOCK(status.st_mode):
            found[int(name)] = status.st_ino
    return found


def shut_down(addresses, ports, before, spared=()):
    """Shuts down TCP connections to `addresses` or over `ports`, except those with an inode in `before` or `spared`."""
    count = 0
    for descriptor, inode in open_sockets().items():
        if inode in before or inode in spared:
            continue
        try:
            found = socket.socket(fileno=os.dup(descriptor))
        except OSError:
            continue
        with found:
            try:
                if found.family not in (socket.AF_INET, socket.AF_INET6) or found.type != socket.SOCK_STREAM:
                    continue
                peer, own = found.getpeername(), found.getsockname()
                if plain(peer[0]) in addresses or peer[1] in ports or own[1] in ports:
                    found.shutdown(socket.SHUT_RDWR)
                    count += 1
            except OSError:
                continue  # not connected
    return count


def plain(address):
    """IPv4 addresses without the prefix that they have on IPv6 sockets."""
    return address[7:] if address.startswith("::ffff:") and "." in address else address.partition("%")[0]


def resolve(names):
    found = set()
    for name in names:
        try:
            found.update(plain(info[4][0]) for info in socket.getaddrinfo(name, None, type=socket.SOCK_STREAM))
        except OSError:
            found.add(name)
    return found


def own_address(peer):
    """The address of this machine that packets to `peer` carry; None without a route."""
    for family, _, _, _, target in _addresses(peer):
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((target[0], 9, *target[2:]))
                return plain(probe.getsockname()[0])
            except OSError:
                continue
    return None


def _addresses(name):
    try:
        return socket.getaddrinfo(name, 9, type=socket.SOCK_DGRAM)
    except OSError:
        return []


def interface_of(address):
    """The interface that has this IPv4 address; None if there is none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            try:
                answer = fcntl.ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
            except OSError:
                continue
            if socket.inet_ntoa(answer[20:24]) == address:
                return name
    return None


def close_on_exec():
    """Nothing but standard input and output passes to the program that replaces this one."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2:
            try:
                os.set_inheritable(int(name), False)
            except OSError:
                continue
