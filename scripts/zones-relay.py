"""The link between the zones of zones.sh on a kernel without netem: a TAP in each, and each frame comes out of the other
one so many milliseconds later.

    zones-relay.py ONE_WAY_MS NAMESPACE_A NAMESPACE_B
"""

import ctypes
import fcntl
import os
import queue
import struct
import sys
import threading
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454CA
IFF_TAP, IFF_NO_PI = 0x0002, 0x1000


def tap(namespace, name):
    """Makes a TAP in a network namespace; gives what its frames are read from and written to."""
    with open(f"/run/netns/{namespace}") as place:
        if ctypes.CDLL(None, use_errno=True).setns(place.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter the network namespace {namespace}")
    opened = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(opened, TUNSETIFF, struct.pack("16sH22s", name.encode(), IFF_TAP | IFF_NO_PI, b""))
    return opened


def carry(source, target, delay_s):
    """Carries frames, each after its delay and in order, for ever."""
    on_the_way = queue.SimpleQueue()

    def deliver():
        while True:
            due, frame = on_the_way.get()
            time.sleep(max(0.0, due - time.monotonic()))
            try:
                os.write(target, frame)
            except OSError:
                pass  # the interface is down: a lost frame

    threading.Thread(target=deliver, daemon=True).start()
    while True:
        try:
            frame = os.read(source, 65536)
        except OSError:
            time.sleep(0.05)  # the interface is not up yet
            continue
        on_the_way.put((time.monotonic() + delay_s, frame))


def main():
    delay_s = float(sys.argv[1]) / 1000
    a, b = tap(sys.argv[2], "far"), tap(sys.argv[3], "far")
    threading.Thread(target=carry, args=(a, b, delay_s), daemon=True).start()
    print("up", flush=True)
    carry(b, a, delay_s)


main()
