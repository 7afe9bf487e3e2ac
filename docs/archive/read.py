#!/usr/bin/env python3
"""Reads an archive of rethread without rethread (docs/ARCHIVE.md).

    read.py ARCHIVE                 lists the files: generations, bytes, path
    read.py ARCHIVE PATH [N]        prints generation N (default: the last) of the file with this path
"""
import json
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
    """Returns the content of each file by path: {path: {generation: [(hash, bytes), …]}}, and the place of each segment."""
    manifest = json.loads((folder / "manifest").read_text().splitlines()[0])
    places, files, segments = {}, {}, {}
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
            else:
                path = f"{places[record['place']]}/{record['path']}"
                content = files.setdefault(path, {}).setdefault(record["generation"], [])
                while sum(length for _, length in content) > record["offset"]:
                    content.pop()
                content.extend(record["segments"])
    return files, segments


def print_content(folder, content, segments):
    for hash, length in content:
        pack, offset, size, start = segments[hash]
        with open(folder / "packs" / f"{pack}.zst", "rb") as file:
            file.seek(offset)
            frame = decompress(file.read(size))
        sys.stdout.buffer.write(frame[start:start + length])


archive, wanted = Path(sys.argv[1]), sys.argv[2:]
for folder in sorted((archive / "machines").iterdir()):
    files, segments = read_machine(folder)
    for path, generations in sorted(files.items()):
        if wanted and wanted[0] == path:
            print_content(folder, generations[int(wanted[1]) if wanted[1:] else max(generations)], segments)
        elif not wanted:
            print(len(generations), sum(length for _, length in generations[max(generations)]), path, sep="\t")
