"""Makes distinct photos, and folders of them."""

import hashlib
import os
import random
from pathlib import Path

FIXTURES = Path(os.environ["FIXTURES"])
#: Longest content of a JPEG comment, in bytes (ITU-T T.81, B.2.4.5).
MAX_COMMENT = 65_533

#: Folders with names that clients must escape in URLs and in XML.
FOLDERS = [
    "",
    "2019",
    "2019/Übergrößen & Söhne",
    "2019/a b/c  d",
    "emoji 🌸🏔️",
    "100% #1 + more; a=b?",
    "<Ski> 'n' \"Snow\"",
    "日本/京都",
]
#: Names in each folder, followed by a number.
NAMES = ["IMG_", "Straße ", "a+b & c", "50% #", "😀 ", "(1) [2] {3} ", "x=y,z;~!$@'"]


def photo(number: int, padding: int = 0) -> bytes:
    """A small JPEG. Photos of different numbers differ in a comment and in one step of the quantisation table, so that
    their renditions differ too. `padding` adds about this many bytes of comments."""
    file = (FIXTURES / "media" / "position-without-time.jpg").read_bytes()
    table = _first_quantisation_table(file)
    noise = random.Random(number)
    comments = [_comment(number.to_bytes(8, "big"))]
    while padding > 0:
        size = min(padding, MAX_COMMENT)
        comments.append(_comment(noise.randbytes(size)))
        padding -= size
    steps = bytearray(file[table:])
    # The steps follow the marker, the length and the table's number. Changes a low frequency, which every picture has.
    place = 5 + 1 + number % 20
    steps[place] = (steps[place] + number // 20) % 254 + 1
    return b"".join([file[:table], *comments, bytes(steps)])


def _comment(content: bytes) -> bytes:
    return b"\xff\xfe" + (len(content) + 2).to_bytes(2, "big") + content


def _first_quantisation_table(file: bytes) -> int:
    """The position of the first DQT segment."""
    at = 2
    while file[at + 1] != 0xDB:
        assert file[at] == 0xFF and file[at + 1] != 0xDA, "a JPEG without a quantisation table"
        at += 2 + int.from_bytes(file[at + 2 : at + 4], "big")
    return at


def write(path: Path, content: bytes, modified_s: int):
    """Writes a file with a modification time, in seconds since 1970."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    os.utime(path, (modified_s, modified_s))


def write_tree(folder: Path, count: int, first: int = 0, padding: int = 0):
    """Writes this many photos into folders with awkward names. `first` is the number of the first photo."""
    for place in range(count):
        number = first + place
        name = f"{NAMES[number // len(FOLDERS) % len(NAMES)]}{number}.jpg"
        path = folder / FOLDERS[number % len(FOLDERS)] / name
        write(path, photo(number, padding), 1_500_000_000 + 86_400 * number)


def hashes(folder: Path) -> set[str]:
    """The SHA-256 of every file in a folder."""
    return {hashlib.sha256(path.read_bytes()).hexdigest() for path in files(folder).values()}


def files(folder: Path) -> dict[str, Path]:
    """The files of a folder and its sub-folders, by relative path. Hidden files are left out."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    return {name: path for name, path in paths.items() if not path.name.startswith(".")}
