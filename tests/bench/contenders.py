"""Who is compared: heapprof, its peers as Debian has them, and the allocators below them."""

import dataclasses
import os
import re
import subprocess

HEAPTRACK_FOLDERS = ("/usr/lib/heaptrack", "/usr/lib/x86_64-linux-gnu/heaptrack")
UNSET = ("LD_PRELOAD", "MALLOC_CONF", "TCMALLOC_SAMPLE_PARAMETER", "DUMP_HEAPTRACK_OUTPUT")

OURS = "heapprof"
PLAIN = "jemalloc"
PROF = "jemalloc prof"
GPERFTOOLS = "gperftools"
HEAPTRACK = "heaptrack"
GLIBC = "glibc"
ALL = (OURS, PLAIN, PROF, GPERFTOOLS, HEAPTRACK, GLIBC)


@dataclasses.dataclass(frozen=True)
class Contender:
    name: str
    preload: str  # "" when it is not there, or when nothing is to be preloaded
    is_installed: bool

    def environment(self, folder, period=None, limit=None):
        """A clean environment with this allocator in it. `period` is in bytes, a power of two; without one heapprof
        takes its own, the others 512 KiB. `limit`, in bytes, is heapprof's alone. Files go to `folder`."""
        values = {k: v for k, v in os.environ.items() if k not in UNSET and not k.startswith("HEAPPROF")}
        if self.preload:
            values["LD_PRELOAD"] = self.preload
        if self.name == OURS:
            values["HEAPPROF_DUMP_DIR"] = folder
            values |= {"HEAPPROF_SAMPLE": str(period)} if period else {}
            values |= {"HEAPPROF_LIMIT": str(limit)} if limit else {}
        elif self.name == PROF:
            values["MALLOC_CONF"] = f"prof:true,lg_prof_sample:{(period or 1 << 19).bit_length() - 1}"
        elif self.name == GPERFTOOLS:
            values["TCMALLOC_SAMPLE_PARAMETER"] = str(period or 1 << 19)
        elif self.name == HEAPTRACK:  # the least that it costs: what it writes is not read, compressed or kept
            values["DUMP_HEAPTRACK_OUTPUT"] = "/dev/null"
        return values


def _in_loader_cache(soname):
    listing = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    found = re.search(rf"\t{re.escape(soname)} \(.*x86-64.*\) => (\S+)", listing)
    return found[1] if found else ""


def find(library):
    """-> {name: Contender}, for the heapprof in the file `library`."""
    jemalloc = _in_loader_cache("libjemalloc.so.2")
    heaptrack = [os.path.join(f, "libheaptrack_preload.so") for f in HEAPTRACK_FOLDERS]
    preloads = {
        OURS: library,
        PLAIN: jemalloc,
        PROF: jemalloc,
        GPERFTOOLS: _in_loader_cache("libtcmalloc.so.4"),
        HEAPTRACK: next((path for path in heaptrack if os.path.exists(path)), ""),
    }
    found = {name: Contender(name, preload, bool(preload)) for name, preload in preloads.items()}
    found[GLIBC] = Contender(GLIBC, "", True)
    return found
