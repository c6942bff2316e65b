#!/usr/bin/env bash
# python3: objects, threads, processes by fork and by spawn, extension modules, big arrays.  python.sh SAMPLE
# shellcheck source-path=SCRIPTDIR source=../lib/common.sh source=helpers.sh
. "$(dirname "$0")/../lib/common.sh"
. "$(dirname "$0")/helpers.sh"
needs python3
export PYTHONDONTWRITEBYTECODE=1 PYTHONHASHSEED=0
cat >"$work/work.py" <<'END'
import concurrent.futures, ctypes, hashlib, json, multiprocessing, os, subprocess, sys, threading, zlib

def work(n):
    data = {str(i): list(range(i % 50)) for i in range(n)}
    text = json.dumps(data, sort_keys=True)
    return hashlib.sha256(zlib.decompress(zlib.compress(text.encode()))).hexdigest()[:16]

def main():
    print(work(3000))
    results = [None] * 8
    def run(i):
        results[i] = work(300 + i)
    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    print(results)
    for i in range(15):
        print(subprocess.run(["sh", "-c", f"echo {i}; exit {i}"], capture_output=True, text=True).returncode, end=" ")
    print()
    for way in ("fork", "spawn"):
        with multiprocessing.get_context(way).Pool(3) as pool:
            print(pool.map(work, range(100, 120)))
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        print(list(pool.map(work, range(10))))
    pid = os.fork()
    if pid == 0:
        work(100)
        os._exit(9)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    buffers = [bytearray(1 << 20) for _ in range(20)]
    print(sum(len(b) for b in buffers), ctypes.CDLL(None).abs(-4))
    sys.exit(5)

if __name__ == "__main__":
    main()
END
same python3 "$work/work.py"
PYTHONMALLOC=malloc same python3 -c 'import ast, decimal, random, re; random.seed(1)
print(sum(random.random() for _ in range(20000)), re.sub("a+", "b", "aaa" * 5000)[:5], decimal.Decimal(2).sqrt())'
same python3 -c 'raise SystemExit("no")'
