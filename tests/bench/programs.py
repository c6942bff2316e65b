"""Real programs under load: what is resident at the most, and the CPU time of a server."""

import contextlib
import glob
import os
import re
import shutil
import socket
import subprocess
import time

from contenders import GLIBC, GPERFTOOLS, OURS, PLAIN, PROF
from measuring import Failed, medians, over, ratios, run
from report import MISSING, Row
from suite import KIB, MB, cells

LIMIT = 128 << 20
PERIOD = 1 << 19
WAIT_S = 20
LOADS = {
    "400 B SETs": ["-t", "set", "-d", "400", "-r", "50000", "-P", "16"],
    "a mixed load": ["-t", "set,get,incr,lpush,rpop,sadd,hset,zadd,mset", "-d", "100", "-r", "20000", "-P", "16"],
}


def find_program(name):
    """The distribution's, whose version the report states, before any other."""
    return shutil.which(name, path="/usr/bin:/usr/sbin") or shutil.which(name)


def peak_kib(pid):
    """The most that was ever resident; 0 when the process is gone."""
    try:
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            found = re.search(r"VmHWM:\s*(\d+)", status.read())
    except OSError:
        return 0
    return int(found[1]) if found else 0


def cpu_seconds(pid):
    """Of all threads that live, from the scheduler's own books, in ns there."""
    total = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with open(path, encoding="ascii") as file:
            total += int(file.read().split()[0])
    return total / 1e9


@contextlib.contextmanager
def server(command, environment, path):
    """Runs a server until it listens on the Unix socket `path`; ends it after. -> Popen"""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + WAIT_S
        while not connects(path):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                said = process.stderr.read().decode()
                raise Failed(f"{os.path.basename(command[0])} does not come up: {said[-300:]}")
            time.sleep(0.02)
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(WAIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stderr.close()


def connects(path):
    with socket.socket(socket.AF_UNIX) as connection:
        return connection.connect_ex(path) == 0


def allocator(suite, name, **settings):
    """Debian's redis-server is linked to libjemalloc: glibc's malloc has to come before it."""
    environment = suite.environment(name, **settings)
    return environment | {"LD_PRELOAD": "libc.so.6"} if name == GLIBC else environment


# The loads of the table of resident memory: each -> {"peak_kib": …}

def python_peak(_, environment):
    here = os.path.dirname(os.path.abspath(__file__))
    return run([find_program("python3"), "-I", "-B", os.path.join(here, "python_load.py")], environment)


def edge_peak(suite, environment):
    """The example service with its fault switched off."""
    command = [os.path.join(suite.build, "examples", "edge_service"), "--fixed", "--requests", "150000", "--rate", "0"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        most = 0
        while process.poll() is None:
            most = max(most, peak_kib(process.pid))
            time.sleep(0.01)
    if process.returncode != 0:
        raise Failed(f"edge_service: status {process.returncode}")
    return {"peak_kib": most}


NGINX_CONFIGURATION = """daemon off; worker_processes 1; pid {0}/pid; error_log {0}/error.log; {1}
events {{ worker_connections 256; }}
http {{
  access_log {0}/access.log; client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
  uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi; default_type text/plain; gzip on; gzip_min_length 100;
  server {{ listen unix:{0}/socket; root {0}; }}
}}
"""


def ask_for_pages(path, connections=32, pages=50):
    """Keeps so many connections busy at once, each with its requests in a row."""
    one = b"GET /page HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nCookie: " + 400 * b"c" + b"\r\n"
    requests = (pages - 1) * (one + b"\r\n") + one + b"Connection: close\r\n\r\n"
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket(socket.AF_UNIX)) for _ in range(connections)]
        for connection in sockets:
            connection.connect(path)
            connection.sendall(requests)
        for connection in sockets:
            answers = b"".join(iter(lambda c=connection: c.recv(1 << 16), b""))
            if answers.count(b"HTTP/1.1 200") != pages:
                raise Failed(f"nginx answers: {answers[:200]}")


def nginx_peak(suite, environment):
    """The worker's, under requests for a page that it compresses."""
    folder = os.path.join(suite.folder, "nginx")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "page"), "w", encoding="ascii") as page:
        page.writelines(f"line {i} of a page, {i * i}\n" for i in range(800))
    configuration = os.path.join(folder, "nginx.conf")
    with open(configuration, "w", encoding="ascii") as file:
        file.write(NGINX_CONFIGURATION.format(folder, "user root;" if os.getuid() == 0 else ""))
    path = os.path.join(folder, "socket")
    with server([find_program("nginx"), "-c", configuration], environment, path) as process:
        for _ in range(4):
            ask_for_pages(path)
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as children:
            return {"peak_kib": max(peak_kib(pid) for pid in children.read().split())}


def redis_command(suite):
    path = os.path.join(suite.folder, "redis")
    return path, [find_program("redis-server"), "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "no",
                  "--dir", suite.folder]


def redis_load(path, load, requests):
    done = subprocess.run([find_program("redis-benchmark"), "-s", path, "-q", "-n", str(requests), *LOADS[load]],
                          capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0 or "requests per second" not in done.stdout:
        raise Failed(f"redis-benchmark: {done.stdout[-200:]}{done.stderr[-200:]}")


def redis_peak(suite, environment):
    path, command = redis_command(suite)
    with server(command, environment, path) as process:
        for load in LOADS:
            redis_load(path, load, 50_000 if load == "400 B SETs" else 10_000)
        return {"peak_kib": peak_kib(process.pid)}


PROGRAMS = {"python3": (python_peak, ["python3"]), "nginx": (nginx_peak, ["nginx"]),
            "redis-server": (redis_peak, ["redis-server", "redis-benchmark"]), "edge_service": (edge_peak, [])}


def resident(suite):
    """The most that was resident under load, against the same program on glibc's malloc."""
    names = suite.installed(OURS, GLIBC, PLAIN, PROF)
    lines = []
    for program in ("python3",) if suite.quick else PROGRAMS:
        measure, needed = PROGRAMS[program]
        row = Row(f"{program} under load, 128 MiB limit: resident over glibc's malloc", "MB", 2, {},
                  must_text="2 MB or 5 %")
        if all(find_program(name) for name in needed):
            values = suite.compare(f"memory of {program}", names, lambda name, measure=measure: measure(
                suite, allocator(suite, name, limit=LIMIT)), min(suite.rounds, 5))
            peaks = medians(values, "peak_kib")
            row.values = {n: kib * KIB / MB for n, kib in over(values, "peak_kib", GLIBC).items()}
            row.must = max(2, 0.05 * peaks[GLIBC] * KIB / MB)
            row.loose = max(3 * row.must, row.values[PLAIN] + 2 * row.must)  # jemalloc's own share varies by itself
            lines.append([program, *cells(names, peaks, 1, MB / KIB)])
        else:
            row.note = f"{program}: {MISSING}"
        suite.add_row(row)
    suite.add_table("Real programs: the most that was resident, MB", ["", *names], lines)


def redis_is_there(suite, row):
    if find_program("redis-server") and find_program("redis-benchmark"):
        return True
    row.note = f"redis-server: {MISSING}"
    suite.add_row(row)
    return False


def redis_cpu(suite):
    """CPU time of Debian's redis-server, which is linked to libjemalloc.so.2."""
    if suite.quick:
        return
    names = suite.installed(OURS, PLAIN, PROF, GPERFTOOLS)
    for load in LOADS:
        row = Row(f"Redis, {load}: CPU time, of plain jemalloc's", "x", 1.01, {}, 1.1, digits=3)
        if not redis_is_there(suite, row):
            continue

        def measure(name, load=load):
            path, command = redis_command(suite)
            with server(command, suite.environment(name, period=PERIOD), path) as process:
                requests = 300_000 if load == "400 B SETs" else 50_000
                redis_load(path, load, requests // 10)
                before = cpu_seconds(process.pid)
                redis_load(path, load, requests)
                return {"seconds": cpu_seconds(process.pid) - before}

        values = suite.compare(f"redis, {load}", names, measure, suite.rounds + 4)
        row.values = ratios(values, "seconds", PLAIN)
        suite.add_row(row, (PROF, GPERFTOOLS))
        suite.add_table(f"redis-server, {load}: CPU seconds", names, [cells(names, medians(values, "seconds"), 3)])
