#!/bin/sh
# s3fs 2026.9.0: one who has listed a folder once does not see, ever, what another writer adds to it. `exists` is False, `open`
# and `cat` raise FileNotFoundError for an object that is there: they ask the listing that the file system keeps without an
# end, not the server. Of an object that the other replaced, `info` gives the old size, `open` raises FileExpired and `cat`
# the new bytes. A reader that waits for the files of an ERP needs use_listings_cache=False or invalidate_cache().
# Guessed before: a name that the kept listing does not have is asked for.
# Seen on Python 3.11 with moto 5.2.5 as the server.
set -eu
folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check s3fs==2026.9.0 'moto[server]==5.2.5'
cd "$folder"
"$folder/venv/bin/python" - <<'PROGRAM'
import os

import s3fs
from moto.server import ThreadedMotoServer

os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_DEFAULT_REGION="us-east-1")
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()


def file_system(**words):
    return s3fs.S3FileSystem(endpoint_url=f"http://{host}:{port}", skip_instance_cache=True, **words)


def tried(call):
    try:
        return call()
    except OSError as error:
        return type(error).__name__


reader, fresh, writer = file_system(), file_system(use_listings_cache=False), file_system()
writer.mkdir("erp")
writer.pipe("erp/in/monday.csv", b"a")
print("s3fs", s3fs.__version__, reader.ls("erp/in"), fresh.ls("erp/in"))
writer.pipe("erp/in/tuesday.csv", b"b")
writer.pipe("erp/in/monday.csv", b"longer")
seen = {}
for name, one in {"listed": reader, "no listings": fresh}.items():
    seen[name] = [
        one.exists("erp/in/tuesday.csv"),
        tried(lambda: one.cat("erp/in/tuesday.csv")),
        tried(lambda: one.open("erp/in/tuesday.csv").read()),
        one.info("erp/in/monday.csv")["size"],
        tried(lambda: one.cat("erp/in/monday.csv")),
        tried(lambda: one.open("erp/in/monday.csv").read()),
    ]
    print(f"{name}: exists, cat, open of the new; size, cat, open of the replaced: {seen[name]}")
server.stop()
assert seen["listed"] == [False, "FileNotFoundError", "FileNotFoundError", 1, b"longer", "FileExpired"]
assert seen["no listings"] == [True, b"b", b"b", 6, b"longer", b"longer"]
PROGRAM
# Output:
# s3fs 2026.9.0 ['erp/in/monday.csv'] ['erp/in/monday.csv']
# listed: exists, cat, open of the new; size, cat, open of the replaced: [False, 'FileNotFoundError', 'FileNotFoundError', 1, b'longer', 'FileExpired']
# no listings: exists, cat, open of the new; size, cat, open of the replaced: [True, b'b', b'b', 6, b'longer', b'longer']
