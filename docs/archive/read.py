#!/usr/bin/env python3
"""Reads an archive of rethread without rethread (docs/ARCHIVE.md).

    read.py ARCHIVE                 lists the files: generations, bytes, path
    read.py ARCHIVE PATH [N]        prints generation N (default: the last) of the file with this path
"""
import json
import re
import subprocess
import sys
from pathlib import Path

try:
    import zstandard

    def decompress(data):
        return zstandard.ZstdDecompressor().decompressobj().decompress(data)
except ImportError:
    def decompress(data):
        return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout


def read_machine(folder):
    """Returns files {(root, path): {generation: [(hash, bytes), …]}}, the place of each segment, and tombstones."""
    manifest = json.loads((folder / "manifest").read_text().splitlines()[0])
    places, files, segments, tombstones = {}, {}, {}, []
    for name in manifest["catalogs"]:
        for line in decompress((folder / "catalogs" / name).read_bytes()).splitlines():
            record = json.loads(line)
            if record["record"] == "place":
                places[record["place"]] = record["root"]
            elif record["record"] == "pack":
                for frame in record["frames"]:
                    start = 0
                    for hash, length in frame["segments"]:
                        segments[hash] = (record["pack"], frame["offset"], frame["bytes"], start)
                        start += length
            elif record["record"] == "tombstone":
                tombstones.append(record)
            else:
                path = to_text(places[record["place"]]), to_text(record["path"])
                content = files.setdefault(path, {}).setdefault(record["generation"], [])
                while sum(length for _, length in content) > record["offset"]:
                    content.pop()
                content.extend(record["segments"])
    return files, segments, tombstones


def list_forgotten(tombstones):
    """Returns the tombstones that count: those with the highest version of their session, if that forgets it."""
    newest = {}
    for record in tombstones:
        state = (record["version"], record["forgotten"])
        newest[record["session"]] = max(newest.get(record["session"], state), state)
    return [record for record in tombstones if newest[record["session"]] == (record["version"], True)]


def is_forgotten(path, forgotten):
    names = re.split(r"[/\\]", path)
    return any(path in map(to_text, record.get("files", []))
               or any(re.fullmatch(record["session"] + "([.-].*)?", name) for name in names) for record in forgotten)


def to_text(path):
    return path if isinstance(path, str) else bytes.fromhex(path["hex"]).decode(errors="replace")


def print_content(folder, content, segments):
    for hash, length in content:
        pack, offset, size, start = segments[hash]
        with open(folder / "packs" / f"{pack}.zst", "rb") as file:
            file.seek(offset)
            frame = decompress(file.read(size))
        sys.stdout.buffer.write(frame[start:start + length])


archive, wanted = Path(sys.argv[1]), sys.argv[2:]
machines = [(folder, *read_machine(folder)) for folder in sorted((archive / "machines").iterdir())]
forgotten = list_forgotten([record for _, _, _, tombstones in machines for record in tombstones])
for folder, files, segments, _ in machines:
    for (root, path), generations in sorted(files.items()):
        if is_forgotten(path, forgotten):
            continue
        full = f"{root}/{path}"
        if wanted and wanted[0] == full:
            print_content(folder, generations[int(wanted[1]) if wanted[1:] else max(generations)], segments)
        elif not wanted:
            print(len(generations), sum(length for _, length in generations[max(generations)]), full, sep="\t")
