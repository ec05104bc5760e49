"""A table read in chunks is the table."""

import gzip
import tracemalloc

import numpy as np
import pandas as pd
import pytest

from surefoot.exceptions import DataError
from surefoot.table.reading import Form, read_table
from surefoot.table.stream import streamed
from tests.thinning import covering

TEXTS = {
    "comma": b"a,b,c\n1,2.5,x\n2,,y\n3,4.5,x\n4,5.5,\n5,6.5,z\n",
    "quotes": b'a,b,c\n1,2.5,"x\ny"\n2,3.5,"a,b"\n3,4.5,"""q"""\n4,5.5,x\n',
    "semicolon": "größe;b;c\n1,5;2;ä\n2,5;3;ö\n3,5;4;ü\n".encode("latin-1"),
    "windows": "a,b,c\r\n1,2.5,“x”\r\n2,3.5,€\r\n3,1.5,x\r\n".encode("cp1252"),
    "mark": "a,b,c\n1,2.5,ä\n2,3.5,x\n".encode("utf-8-sig"),
    "mark and windows": "a,b,c\n1,2.5,ä\n".encode("utf-8-sig") + "2,3.5,€\n3,4.5,ü\n".encode("cp1252"),
    "utf-16": "a\tb\tc\n1\t2.5\tä\n2\t3.5\tx\n".encode("utf-16"),
    "declared": b"sep=;\na;b;c\n1;2.5;x\n2;3.5;y\n",
    "blank lines": b"a,b,c\n\n1,2.5,x\n\n2,3.5,y\n\n",
    "row names": b",a,b\n0,1,2.5\n1,2,3.5\n2,3,4.5\n",
    "one line": b"a,b\n1,2.5",
}


@pytest.mark.parametrize(("packed", "size", "name"), covering([False, True], [1, 2, 100], TEXTS))
def test_chunks_are_the_table(tmp_path, name, size, packed):
    path = tmp_path / "table.csv"
    path.write_bytes(gzip.compress(TEXTS[name]) if packed else TEXTS[name])
    form = Form(as_text=["c"])
    whole, found = read_table(path, form), streamed(path, form)
    chunks = list(found.chunks(size))
    frame = pd.concat([chunk.reading.frame for chunk in chunks])
    assert [chunk.start for chunk in chunks] == list(range(0, len(whole.frame), size))
    pd.testing.assert_frame_equal(frame, whole.frame, check_dtype=False)
    assert found.assumed == whole.assumed


def test_parquet_and_frames(tmp_path):
    frame = pd.DataFrame({"a": np.arange(10), "b": list("abcdefghij")})
    frame.to_parquet(tmp_path / "t.parquet", row_group_size=3)
    for source in (frame, tmp_path / "t.parquet"):
        found = streamed(source)
        assert found.rows == 10
        chunks = list(found.chunks(4))
        pd.testing.assert_frame_equal(pd.concat([c.reading.frame for c in chunks]), frame, check_dtype=False)
    assert streamed(frame).fingerprint != streamed(frame.iloc[::-1]).fingerprint
    assert streamed(frame).fingerprint == streamed(frame.copy()).fingerprint


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "empty"),
        (b"a,b\n1,2\n3\n", r"row 1 has 1 field, but the header has 2 \(line 3"),
        (b"a,b\n" + b"1,2\n" * 3000 + b"1,2,3\n", r"row 3000 has 3 fields.*line 3002.*quotes"),
        (b"a,b\n1,\0\n", "neither text nor a table"),
        (b"a,a\n1,2\n", "'a' occurs more than once"),
        ("a,b\n1,2\n".encode("utf-16")[:-1], "is not whole text in utf-16-le, as which it begins"),
        (b"PAR1nonsense", "is not a Parquet table"),
        (gzip.compress(b"a,b\n1,2\n", mtime=0)[:-9], "gzip"),
        (b"a;b\n" + b"1;2\n" * 1500 + b"1,5;2\n", "decimal commas"),
        (b'a,b\n1,"' + b"x\n" * 100_000, "field larger than"),
        (b"a,b\n1," + b"x" * 10_000_001 + b"\n", "more than 10,000,000 characters"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(DataError, match=message) as error:
        list(streamed(path).chunks(100))
    assert str(error.value).startswith(str(path))


def test_bombs_are_refused(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n" + b"1,2\n" * 20_000_000))
    with pytest.raises(DataError, match="unpacks to more than"):
        streamed(path)


def test_memory_does_not_grow_with_rows(tmp_path):
    peaks = []
    for rows in (2_000, 20_000):
        path = tmp_path / f"{rows}.csv"
        path.write_text("a,b,c\n" + "1,2.5,abc\n" * rows)
        tracemalloc.start()
        assert sum(len(chunk.reading.frame) for chunk in streamed(path).chunks(500)) == rows
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]
