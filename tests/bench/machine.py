"""The machine and the versions that figures belong to."""

import datetime
import os
import platform
import re
import subprocess

PACKAGES = {
    "jemalloc": "libjemalloc2",
    "gperftools": "libgoogle-perftools4",
    "heaptrack": "libheaptrack",
    "glibc": "libc6",
    "python3": "python3",
    "nginx": "nginx-light",
    "redis": "redis-server",
}


def _package_version(package):
    done = subprocess.run(["dpkg-query", "-W", "-f", "${Status} ${Version}", package], capture_output=True, text=True,
                          check=False)
    return done.stdout.split()[-1] if done.stdout.startswith("install ok installed") else ""


def _first_match(path, pattern):
    try:
        with open(path, encoding="utf-8") as file:
            found = re.search(pattern, file.read(), re.MULTILINE)
    except OSError:
        return "?"
    return found[1].strip() if found else "?"


def _compiler(build):
    path = _first_match(os.path.join(build, "CMakeCache.txt"), r"^CMAKE_C_COMPILER:\w+=(.*)$")
    if not os.path.exists(path):
        return "?"
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
    return said.splitlines()[0] if said else "?"


def describe(suite):
    """Before the first measurement."""
    try:
        versions = {name: _package_version(package) for name, package in PACKAGES.items()}
    except FileNotFoundError:  # not Debian
        versions = {}
    memory_kib = _first_match("/proc/meminfo", r"^MemTotal:\s*(\d+)")
    return {
        "processor": _first_match("/proc/cpuinfo", r"^model name\s*:(.*)$"),
        "cores": os.cpu_count(),
        "memory_gib": int(memory_kib) / (1 << 20) if memory_kib.isdigit() else 0.0,
        "system": _first_match("/etc/os-release", r'^PRETTY_NAME="?([^"\n]*)'),
        "kernel": platform.release().split("-")[0],
        "versions": {name: version for name, version in versions.items() if version}
                    | {"compiler": _compiler(suite.build)},
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d"),
        "rounds": suite.rounds,
        "load_before": os.getloadavg()[0],
        "load_after": 0.0,
    }
