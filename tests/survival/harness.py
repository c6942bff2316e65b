"""One run of grow in a memory cgroup of its own, watched by witness: shared by survival.py, quiet.py, verdicts.py."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

LIMIT = 128 << 20
SKIPPED = 77
JEMALLOC = "libjemalloc.so.2"  # as the loader finds it
JEMALLOC_CONF = "prof:true,lg_prof_sample:17"  # as many samples as heapprof takes at this limit

# What is preloaded with which settings: {folder} is where dumps go.
WAYS = {
    "heapprof": {"HEAPPROF_DUMP_DIR": "{folder}"},
    "prof_gdump": {"MALLOC_CONF": JEMALLOC_CONF + ",prof_gdump:true,prof_prefix:{folder}/jeprof"},
    "lg_prof_interval:22": {"MALLOC_CONF": JEMALLOC_CONF + ",lg_prof_interval:22,prof_prefix:{folder}/jeprof"},
    "poller 100 ms": {"MALLOC_CONF": JEMALLOC_CONF, "SURVIVAL_PREFIX": "{folder}/jeprof"},
}
BASELINES = [way for way in WAYS if way != "heapprof"]


def parser(description):
    p = argparse.ArgumentParser(description=description)
    for tool in ("library", "command", "grow", "witness", "poller", "memcg"):
        p.add_argument("--" + tool, required=True, type=os.path.abspath)
    p.add_argument("--keep", metavar="FOLDER", help="what failing runs left is moved there")
    return p


def skip(why):
    print("SKIP:", why)
    sys.exit(SKIPPED)


class Run:
    """What one run left: its dumps in `folder`, what the witness saw, how memcg.sh says it ended."""

    def __init__(self, folder, seen, ending, log):
        self.folder = folder
        self.seen = seen
        self.ending = ending
        self.log = log

    @property
    def was_killed(self):
        return self.ending.get("oom_kill", 0) > 0


class Harness:
    def __init__(self, tools):
        self.tools = tools
        self.root = tempfile.mkdtemp(prefix="survival.")
        self.count = 0
        if shutil.which("go") is None:
            self.close()
            skip("go is not installed, and only its pprof counts as a witness")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def new_folder(self):
        self.count += 1
        folder = os.path.join(self.root, str(self.count))
        os.mkdir(folder)
        return folder

    def preload_of(self, way):
        if way == "heapprof":
            return self.tools.library
        return JEMALLOC + (":" + self.tools.poller if way.startswith("poller") else "")

    def run(self, pattern, seed=1, seconds=8.0, way="heapprof", settings=None, file="", folder=None, limit=LIMIT):
        """Runs until grow is killed or ends. `settings` are environment variables beside the way's own."""
        folder = folder or self.new_folder()
        shared = os.path.join(self.root, "shared")
        report = os.path.join(self.root, "ending")
        values = {"LD_PRELOAD": self.preload_of(way), "SURVIVAL_SHARED": shared}
        values.update({name: value.format(folder=folder) for name, value in WAYS[way].items()})
        values.update(settings or {})
        command = [self.tools.witness, shared, str(limit), folder,
                   "bash", self.tools.memcg, "-r", report, str(limit),
                   "env", *(f"{name}={value}" for name, value in values.items()),
                   self.tools.grow, shared, pattern, str(seed), str(seconds), file]
        clean = {name: value for name, value in os.environ.items()
                 if not name.startswith("HEAPPROF") and name not in ("MALLOC_CONF", "LD_PRELOAD")}
        done = subprocess.run(command, env=clean, capture_output=True, text=True, timeout=300 + seconds, check=False)
        if done.returncode != 0:
            raise RuntimeError(f"witness: {done.stderr}")
        seen = json.loads(done.stdout.splitlines()[-1])
        if seen["status"] == SKIPPED:
            skip(done.stderr.strip().removeprefix("SKIP: "))
        with open(report, encoding="utf-8") as f:
            words = f.read().split()[1:]
        return Run(folder, seen, {k: int(v) for k, v in (word.split("=") for word in words)}, done.stderr)

    def forget(self, run, failed):
        """Removes what a run left, or moves it to where --keep says."""
        if failed and self.tools.keep:
            os.makedirs(self.tools.keep, exist_ok=True)
            shutil.move(run.folder, tempfile.mkdtemp(dir=self.tools.keep))
        else:
            shutil.rmtree(run.folder, ignore_errors=True)
