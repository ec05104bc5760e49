"""Files are written whole or not at all."""

import os
import stat
import sys
import threading

import pytest

from surefoot import files
from surefoot.files import write_whole


def test_what_is_written(tmp_path):
    path = tmp_path / "a.csv"
    for content in ("first, ä\r\n", "second\n"):
        write_whole(path, content)
        assert path.read_bytes() == content.encode("utf-8")
    write_whole(path, b"\x00\xff")
    assert path.read_bytes() == b"\x00\xff"
    assert os.listdir(tmp_path) == ["a.csv"]


def test_what_fails_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("old")

    write = files._write

    def half(path, content, how):
        write(path, content[: len(content) // 2], how)
        raise OSError(28, "No space left on device", str(path))

    with monkeypatch.context() as broken:
        broken.setattr(files, "_write", half)
        with pytest.raises(OSError, match="No space left") as error:
            write_whole(path, "x" * 1000)
    assert error.value.filename == str(path)
    assert path.read_text() == "old"
    with pytest.raises(UnicodeEncodeError):
        write_whole(path, "\ud800")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="links and modes of POSIX")
def test_links_modes_and_long_names(tmp_path):
    path, link = tmp_path / ("a" * 250), tmp_path / "link"
    path.write_text("old")
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(path, "new")
    assert path.read_text() == "new"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    for leads_to in ("new", None):  # a link is replaced, and what it points to stays as it is
        write_whole(link, "newer")
        assert not link.is_symlink()
        assert (link.read_text(), path.read_text()) == ("newer", "new")
        if leads_to is not None:
            link.unlink()
            link.symlink_to(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    assert stat.S_IMODE(link.stat().st_mode) == 0o666 & ~_umask()


def _umask():
    found = os.umask(0)
    os.umask(found)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="links of POSIX")
def test_nobody_can_place_a_link_where_a_file_is_prepared(tmp_path, monkeypatch):
    """Whoever guesses the name all the same gets an error, not a file written through his link."""
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr(files.secrets, "token_hex", lambda _: "guessed")
    (tmp_path / ".a.csv.guessed.tmp").symlink_to(victim)
    with pytest.raises(FileExistsError):
        write_whole(tmp_path / "a.csv", "new")
    assert victim.read_text() == "precious"


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_is_written_as_it_is(tmp_path):
    path, read = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: read.append(path.read_text()))
    reader.start()
    write_whole(path, "through")
    reader.join(10)
    assert read == ["through"]
    assert stat.S_ISFIFO(path.stat().st_mode)


def test_a_reader_never_finds_half_of_a_file(tmp_path):
    """While one writes again and again, another reads: always a whole text."""
    path, texts = tmp_path / "a.json", ["a" * 300_000, "b" * 300_000]
    write_whole(path, texts[0])
    over = threading.Event()

    def write():
        for k in range(30):
            write_whole(path, texts[k % 2])
        over.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not over.is_set():
        assert path.read_text() in texts
    writer.join()
