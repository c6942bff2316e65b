"""hostile.py SOCKET PID: 2,000 connections of every bad kind, for some seconds; then it must answer as ever."""
import os
import socket
import sys
import time

THREADS = {"heapprof-guard": 1, "heapprof-socket": 1, "heapprof-answer": 4, "heapprof-relief": 1}
DESCRIPTORS = 48  # the guard's table has some, from 32 up


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)  # waits while the queue is full
    s.settimeout(20)
    return s


def ask(path, request):
    with connect(path) as s:
        s.sendall(request)
        reply = b""
        while True:
            part = s.recv(1 << 16)
            if not part:
                return reply
            reply += part


def threads_of(pid):
    found = {}
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as comm:
                name = comm.read().strip()
            count = len(os.listdir(f"/proc/{pid}/task/{task}/fd"))
        except OSError:
            continue
        if name.startswith("heapprof"):
            found.setdefault(name, []).append(count)
    return found


def check_bounds(pid):
    for name, tables in threads_of(pid).items():
        if len(tables) > THREADS.get(name, 0):
            sys.exit(f"{len(tables)} threads {name}")
        if max(tables) > DESCRIPTORS:
            sys.exit(f"{name} has {max(tables)} descriptors")


def main():
    path, pid = sys.argv[1], int(sys.argv[2])
    words = [b"", b"\x00" * 10, b"heapprof/1 sta", b"heapprof/1 profile\n", b"x" * 300, b"heapprof/9 status\n"]
    kept = []
    for i in range(2000):
        s = connect(path)
        try:
            s.send(words[i % len(words)])
        except OSError:
            pass
        kept.append(s)
        if len(kept) > 12:
            kept.pop(0).close()
        if i % 200 == 100:
            check_bounds(pid)
    for s in kept:
        s.close()
    deadline = time.monotonic() + 15
    reply = b""
    while not reply.startswith(b"heapprof/1 ok ") and time.monotonic() < deadline:
        reply = ask(path, b"heapprof/1 status\n")
    check_bounds(pid)
    if not reply.startswith(b"heapprof/1 ok "):
        sys.exit(f"it answers no more: {reply!r}")


main()
