#!/bin/sh
# pyarrow 26.0.1: pyarrow.compute.search_sorted returns unsigned positions (uint64), where numpy.searchsorted returns int64.
# numpy.insert, which is how one merges two sorted sides by such positions, accepts the one and raises on the other with two
# or more positions; its message speaks of float64, which occurs on neither side. A cast to int64 helps.
# Seen on Python 3.11.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pyarrow==26.0.1 numpy==2.4.6
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

print("pyarrow", pa.__version__, "numpy", np.__version__)
known, new = ["a", "c", "e"], ["b", "f"]
of_numpy = np.searchsorted(np.array(known), np.array(new))
of_arrow = pc.search_sorted(pa.array(known), pa.array(new)).to_numpy()
assert of_numpy.tolist() == of_arrow.tolist()
print("positions", of_numpy.tolist(), "as", of_numpy.dtype, "and", of_arrow.dtype)
print("numpy's:", np.insert(np.array(known), of_numpy, new).tolist())
try:
    print("pyarrow's:", np.insert(np.array(known), of_arrow, new).tolist())
except TypeError as error:
    print("pyarrow's:", type(error).__name__, error)
else:
    raise AssertionError("numpy.insert takes the positions of search_sorted now")
print("cast to int64:", np.insert(np.array(known), of_arrow.astype(np.int64), new).tolist())
PROGRAM
# Output:
# pyarrow 26.0.1 numpy 2.4.6
# positions [1, 3] as int64 and uint64
# numpy's: ['a', 'b', 'c', 'e', 'f']
# pyarrow's: UFuncTypeError Cannot cast ufunc 'add' output from dtype('float64') to dtype('uint64') with casting rule 'same_kind'
# cast to int64: ['a', 'b', 'c', 'e', 'f']
