"""Who can call whom in a linked library, from its machine code: for the checks under tests/audit.

A function reaches whatever its instructions name: a call or jump target, but also a function whose address it
takes, and every function that a constant table it touches points to. That is more than it can call, never
less, but for calls through pointers: those are counted, and the caller of this module has to say where they go.
"""
import bisect
import collections
import os
import re
import subprocess

JUMP_TABLE_WINDOW = 4  # instructions up to an indirect jump in which a switch computes its target


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


Symbol = collections.namedtuple("Symbol", "name kind file start size")


def read_symbols(readelf, path):
    """Symbols of an object, a library or an archive, each with the source file that its object names, or the
    archive's member. A global one of a linked library has no file: the linker puts it behind the last."""
    symbols = []
    file = None
    for line in run(readelf, "--symbols", "--wide", path).splitlines():
        fields = line.split()
        member = re.match(r"File: .*\((.*)\)$", line)
        if member:
            file = member[1]
        if len(fields) < 8 or not fields[0].rstrip(":").isdigit():
            continue
        value, size, kind, section, name = fields[1], fields[2], fields[3], fields[6], fields[7]
        if kind == "FILE":
            file = os.path.basename(name)
        elif section not in ("UND", "ABS"):
            symbols.append(Symbol(name, kind, file, int(value, 16), int(size, 0)))
    return symbols


def exported_symbols(nm, library):
    lines = run(nm, "--dynamic", "--defined-only", library).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def undefined_symbols(nm, path):
    return {line.split()[1] for line in run(nm, "--undefined-only", path).splitlines() if len(line.split()) == 2}


class Function:
    def __init__(self, symbol, file):
        self.name = symbol.name
        self.file = file
        self.start = symbol.start
        self.end = symbol.start + symbol.size
        self.targets = set()  # functions, and names outside the library (str)
        self.indirect = []  # the instructions that call through a pointer
        self.code = []  # (address, text)

    def __repr__(self):
        return f"{self.file}:{self.name}"


class CallGraph:
    """The functions of `library`. `parts` are the objects and archives it was linked from: they know the file of
    a function that is global among them."""

    def __init__(self, tools, library, parts):
        self.tools = tools
        owner = {}
        for part in parts:
            for symbol in read_symbols(tools["readelf"], part):
                owner.setdefault(symbol.name, symbol.file)
        globals_of_parts = {
            line.split()[-1]
            for part in parts
            for line in run(tools["nm"], "--defined-only", "--extern-only", part).splitlines()
            if len(line.split()) == 3
        }
        self.functions = {}
        self.objects = []
        for symbol in read_symbols(tools["readelf"], library):
            file = owner.get(symbol.name) if symbol.name in globals_of_parts else symbol.file
            if symbol.kind in ("FUNC", "IFUNC") and symbol.size > 0:
                self.functions.setdefault(symbol.start, Function(symbol, file))
            elif symbol.kind == "OBJECT" and symbol.size > 0:
                self.objects.append((symbol.start, symbol.start + symbol.size))
        self.objects.sort()
        self.starts = sorted(self.functions)
        self._read_relocations(library)
        self._read_code(library)

    def function_at(self, address):
        i = bisect.bisect_right(self.starts, address) - 1
        if i >= 0 and address < self.functions[self.starts[i]].end:
            return self.functions[self.starts[i]]
        return None

    def named(self, name):
        return [f for f in self.functions.values() if f.name == name]

    def _read_relocations(self, library):
        """Where the loader writes an address: place -> function's address, or a name outside."""
        self.pointers = {}
        for line in run(self.tools["readelf"], "--relocs", "--wide", library).splitlines():
            fields = line.split()
            if len(fields) < 4 or not re.fullmatch("[0-9a-f]{16}", fields[0]):
                continue
            if fields[2].endswith("RELATIV") or fields[2].endswith("RELATIVE"):
                self.pointers[int(fields[0], 16)] = int(fields[3], 16)
            elif len(fields) >= 5 and not fields[4].startswith("+"):
                self.pointers[int(fields[0], 16)] = fields[4].split("@")[0]
        self.places = sorted(self.pointers)
        self.got = (0, 0)
        for line in run(self.tools["readelf"], "--sections", "--wide", library).splitlines():
            section = re.match(r" *\[ *\d+\] \.got +\w+ +([0-9a-f]+) +[0-9a-f]+ +([0-9a-f]+)", line)
            if section:
                self.got = (int(section[1], 16), int(section[1], 16) + int(section[2], 16))

    def _targets_of_data(self, address):
        """What the constant or variable at `address` points to."""
        i = bisect.bisect_right(self.objects, (address, 1 << 64)) - 1
        if i >= 0 and self.objects[i][0] <= address < self.objects[i][1]:
            first, end = self.objects[i]
        else:  # a slot of the global offset table, or a constant without a name: its first word at least
            first, end = address, address + 8
            while end in self.pointers and not self.got[0] <= end < self.got[1]:
                end += 8
        first = bisect.bisect_left(self.places, first)
        for place in self.places[first : bisect.bisect_left(self.places, end)]:
            yield self.pointers[place]

    def _add(self, function, target, through_data=False):
        if isinstance(target, str):
            local = self.named(target)
            function.targets.add(local[0] if local else target)
            return
        callee = self.function_at(target)
        if callee is not None:
            if callee is not function:
                function.targets.add(callee)
        elif not through_data:  # tables that point to tables are followed no further
            for pointed in self._targets_of_data(target):
                self._add(function, pointed, True)

    def _read_code(self, library):
        function = None
        text = run(self.tools["objdump"], "--disassemble", "--no-show-raw-insn", library)
        for line in text.splitlines():
            match = re.match(r" *([0-9a-f]+):\t(.*)", line)
            if not match:
                continue
            address, code = int(match[1], 16), match[2].strip()
            if function is None or not function.start <= address < function.end:
                function = self.function_at(address)
            if function is not None:
                self._read_instruction(function, address, code)
        if not any(function.targets for function in self.functions.values()):
            raise ValueError(f"{library}: no call was found; is {self.tools['objdump']} GNU objdump?")

    def _read_instruction(self, function, address, code):
        function.code.append((address, code))
        outside = re.search(r"<([^>@+]+)@plt", code)
        if outside:
            self._add(function, outside[1])
            return
        for hexadecimal in re.findall(r"\b([0-9a-f]+) <", code):
            self._add(function, int(hexadecimal, 16))
        if re.match(r"(notrack |bnd )?(call|jmp) +\*|blr |br ", code) and not self._is_switch(function):
            function.indirect.append(f"{address:x}: {code}")

    @staticmethod
    def _is_switch(function):
        """A jump through a table of offsets inside the function: the offset, plus the table, is the target. No
        compiler computes a function's address like this."""
        recent = [code for _, code in function.code[-JUMP_TABLE_WINDOW:]]
        register = re.search(r"jmp +\*(%r\w+)$", recent[-1])
        return bool(register) and any(re.match(rf"add +%r\w+,{register[1]}$", code) for code in recent)
