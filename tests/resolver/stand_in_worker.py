"""Speaks the worker's protocol without SGLang: refuses a line that says so, dies when told to."""

import json
import os
import socket
import sys


def main() -> None:
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(sys.argv[1])
    listener.listen(8)
    print("ready", flush=True)
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rw", encoding="utf-8") as stream:
            request = json.loads(stream.readline())
            if "die" in request["argv"]:
                print("out of luck", file=sys.stderr, flush=True)
                os._exit(9)
            stream.write(json.dumps(verdict(request)) + "\n")


def verdict(request: dict[str, object]) -> dict[str, object]:
    if "refuse" in str(request["argv"]):
        return {"exit_code": 2, "output": "error: argument", "resolved": None}
    settings = {"pid": os.getpid(), "infiniband": request["infiniband"]}
    return {"exit_code": 0, "output": "", "resolved": settings}


if __name__ == "__main__":
    main()
