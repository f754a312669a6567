"""`airflow` without its start: one process imports Airflow and forks for each command, which runs as Airflow's own `main` does.

`serve SOCKET` is that process; `call SOCKET WORDS` hands it a command with the caller's streams and ends with its exit code.
Each command would else import for seconds, and a page of commands for minutes on a busy machine.
"""

from __future__ import annotations

import json
import os
import socket
import sys

WORDS_BYTES_MAX = 65_536


def call(path: str, words: list[str]) -> int:
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        socket.send_fds(server, [json.dumps(words).encode()], [0, 1, 2])
        return int(server.recv(16) or b"1")


def serve(path: str) -> None:
    from airflow.__main__ import main
    from airflow.providers.fab.auth_manager.cli_commands import role_command, user_command  # noqa: F401  what takes long

    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            caller, _ = server.accept()
            with caller:
                words, streams, _, _ = socket.recv_fds(caller, WORDS_BYTES_MAX, 3)
                if (child := os.fork()) == 0:
                    for number, stream in enumerate(streams):
                        os.dup2(stream, number)
                    sys.argv = ["airflow", *json.loads(words)]
                    _end(caller, main)
                for stream in streams:
                    os.close(stream)
                os.waitpid(child, 0)


def _end(caller: socket.socket, main) -> None:
    """Runs `main`; its exit code goes to the caller."""
    code: object = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code or 0
        if not isinstance(code, int):
            print(code, file=sys.stderr)
            code = 1
    except BaseException:  # noqa: BLE001  as the interpreter does
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        caller.sendall(str(code).encode())
        os._exit(0)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    sys.exit(call(sys.argv[2], sys.argv[3:]))
