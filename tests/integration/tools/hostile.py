"""Writes hostile files into the folder at hand: damaged ones made of a sound profile, and ones made by hand.

    hostile.py PROFILE DUMP
"""
import gzip
import sys


def varint(number):
    out = b""
    while number >= 128:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, payload):
    """A number, or bytes with their length."""
    if isinstance(payload, int):
        return varint(number << 3) + varint(payload)
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def strings(*texts):
    return b"".join(field(6, text.encode()) for text in ("",) + texts)


TYPE = field(1, field(1, 1) + field(2, 2))
HEAD = strings("space", "bytes", "/bin/x") + TYPE
SAMPLE = field(2, field(1, 1) + field(2, 7))
LOCATION = field(4, field(1, 1) + field(2, 1) + field(3, 0x1234) + field(4, field(1, 1) + field(2, 3)))
MAPPING = field(3, field(1, 1) + field(2, 0x1000) + field(3, 0x2000) + field(5, 3))
FUNCTION = field(5, field(1, 1) + field(2, 1) + field(3, 1))


def by_hand():
    yield "sound", HEAD + SAMPLE + LOCATION + MAPPING + FUNCTION
    yield "length_2_63", HEAD + varint(2 << 3 | 2) + varint(1 << 63)
    yield "length_2_64", HEAD + varint(2 << 3 | 2) + varint((1 << 64) - 1)
    yield "inner_length", HEAD + field(2, varint(1 << 3 | 2) + varint(1 << 62))
    yield "endless_varint", HEAD + b"\x10" + b"\xff" * 20
    yield "dangling_location", HEAD + field(2, field(1, 9) + field(2, 7)) + LOCATION + MAPPING + FUNCTION
    yield "dangling_mapping", HEAD + SAMPLE + LOCATION + FUNCTION
    yield "dangling_function", HEAD + SAMPLE + LOCATION + MAPPING
    yield "dangling_string", HEAD.replace(field(2, 2), field(2, 99), 1) + SAMPLE + LOCATION + MAPPING + FUNCTION
    yield "id_0", HEAD + SAMPLE + LOCATION + MAPPING + field(5, field(1, 0) + field(2, 1))
    yield "id_twice", HEAD + SAMPLE + LOCATION + MAPPING + FUNCTION + FUNCTION
    yield "a_group", HEAD + b"\x13" * 100000
    yield "no_strings", TYPE + SAMPLE
    yield "two_profiles", (HEAD + field(9, 5) + SAMPLE + LOCATION + MAPPING + FUNCTION) * 2
    yield "deepest_stack", HEAD + LOCATION + MAPPING + FUNCTION + field(2, field(1, b"\x01" * (4 << 20)) + field(2, 7))
    yield "many_samples", HEAD + LOCATION + MAPPING + FUNCTION + SAMPLE * (1 << 20)
    yield "many_empty", HEAD + field(3, b"") * (1 << 20)
    yield "many_types", HEAD + TYPE * 100000
    yield "same_offset", (HEAD + MAPPING + FUNCTION + SAMPLE + b"".join(
        field(4, field(1, i + 1) + field(3, 0) + field(4, field(1, 1) + field(2, i))) for i in range(200000)))
    yield "long_name", strings("space", "bytes", "/bin/x", "n" * (8 << 20)) + TYPE + SAMPLE + LOCATION + MAPPING + field(
        5, field(1, 1) + field(2, 4) + field(3, 4))


def dump_by_hand(dump):
    end = dump.index(b"MAPPED_LIBRARIES")
    yield "dump_endless_line", dump[:20] + b"@" + b" 0x1" * (1 << 20)
    yield "dump_huge_number", dump[:end].replace(b": ", b": 9" + b"9" * 40, 1) + dump[end:]
    yield "dump_many_stacks", dump[:13] + b"@ 0x401201\n  t*: 1: 2 [0: 0]\n" * 300000 + dump[end:]
    yield "dump_many_mappings", dump + b"".join(
        b"%x-%x r-xp 00000000 08:01 5 /nowhere\n" % (1 << 44 | i << 12, (1 << 44 | i << 12) + 4096)
        for i in range(70000))


def main():
    with open(sys.argv[1], "rb") as file:
        packed = file.read()
    with open(sys.argv[2], "rb") as file:
        dump = file.read()
    files = dict(by_hand())
    files.update(dump_by_hand(dump))
    plain = gzip.decompress(packed)
    for name, data in (("packed", packed), ("plain", plain), ("dump", dump)):
        for i in range(8):
            files[f"{name}_cut_{i}"] = data[:len(data) * (2 * i + 1) // 16]
            at = len(data) * (2 * i + 1) // 16
            files[f"{name}_flip_{i}"] = data[:at] + bytes([data[at] ^ 1 << i]) + data[at + 1:]
    files["bomb.gz"] = gzip.compress(b"\0" * (1 << 20), 9) * 2000
    files["bomb_inside.gz"] = gzip.compress(HEAD + varint(6 << 3 | 2) + varint(300 << 20) + b"a" * (300 << 20), 1)
    for name, data in files.items():
        with open(name, "wb") as file:
            file.write(data)


main()
