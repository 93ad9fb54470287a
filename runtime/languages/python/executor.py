"""Runs one user program in Python. Starts ahead of the job and waits.

Descriptor 3 brings messages, 4 takes them: a 4-byte little-endian length and JSON.
"""

import atexit
import io
import json
import os
import select
import struct
import sys
import threading
import traceback
import types


class WholeOutput(io.FileIO):
    """Writes all that it is given. An unbuffered stream of Python's own drops the rest of a write that a signal cut short,
    or for which another process that shares the pipe has made it non-blocking."""

    def write(self, data):
        rest = memoryview(data).cast("B")
        size = len(rest)
        while len(rest) > 0:
            written = super().write(rest)
            if written is None:
                select.select([], [self], [])
            else:
                rest = rest[written:]
        return size


def whole_output(stream, descriptor):
    raw = WholeOutput(descriptor, "wb", closefd=False)
    raw.name = stream.name
    whole = io.TextIOWrapper(raw, stream.encoding, stream.errors, newline="\n", write_through=True)
    whole.mode = stream.mode
    return whole


sys.stdout = sys.__stdout__ = whole_output(sys.stdout, 1)
sys.stderr = sys.__stderr__ = whole_output(sys.stderr, 2)
own_pid = os.getpid()
skills_folder = ""
value_json = None
last_call = 0


def send(message):
    body = json.dumps(message, ensure_ascii=True).encode()
    data = struct.pack("<I", len(body)) + body
    while data:
        data = data[os.write(4, data) :]


def receive_exactly(size):
    parts = []
    while size > 0:
        part = os.read(3, size)
        if not part:
            os._exit(70)
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def receive():
    (length,) = struct.unpack("<I", receive_exactly(4))
    return json.loads(receive_exactly(length))


call_lock = threading.Lock()


def call(target, name, arguments):
    global last_call
    with call_lock:
        last_call += 1
        send({"type": "call", "id": last_call, "target": target, "name": name, "args": arguments})
        while True:
            reply = receive()
            if reply.get("type") == "reply" and reply.get("id") == last_call:
                break
    if reply["ok"]:
        return reply.get("value")
    error = reply.get("error") or {}
    raise RuntimeError(f"{error.get('name', 'CallError')}: {error.get('message', 'the call failed')}")


def set_value(value):
    global value_json
    value_json = json.dumps(value, allow_nan=False)


def read_skill_file(skill, path):
    parts = skill.split(".", 1) + path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise FileNotFoundError(f"Cannot read a skill file: no such file, got {skill} {path}.")
    with open(os.path.join(skills_folder, *parts), "rb") as file:
        return file.read()


def describe(error, path):
    trace = error.__traceback__
    # Frames above the user's file are ours and say nothing to the user.
    while trace is not None and trace.tb_frame.f_code.co_filename != path:
        trace = trace.tb_next
    stack = "".join(traceback.format_exception(type(error), error, trace))
    line = None
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno
    step = trace
    while step is not None:
        if step.tb_frame.f_code.co_filename == path:
            line = step.tb_lineno
        step = step.tb_next
    return {"name": type(error).__name__, "message": str(error), "stack": stack, "line": line}


def exit_code(error):
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 255
    print(error.code, file=sys.stderr)
    return 1


def run(message):
    global skills_folder
    skills_folder = message["skills"]
    path = message["path"]
    os.environ.clear()
    os.environ.update(message["env"])
    os.chdir(message["cwd"])
    sys.argv = [path, *message["args"]]
    sys.path.insert(0, message["cwd"])
    main = types.ModuleType("__main__")
    main.__file__ = path
    main.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    code, error = 0, None
    try:
        with open(path, "rb") as file:
            program = compile(file.read(), path, "exec")
        exec(program, main.__dict__)
    except SystemExit as ended:
        code = exit_code(ended)
    except BaseException as raised:
        code, error = 1, describe(raised, path)
        sys.stderr.write(error["stack"])
    return code, error


bridge = types.ModuleType("_skillcell_bridge")
bridge.call, bridge.set_value, bridge.read_skill_file = call, set_value, read_skill_file
sys.modules["_skillcell_bridge"] = bridge
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest"))

for descriptor in (3, 4):
    os.set_inheritable(descriptor, False)
send({"type": "waiting"})
request = receive()
while request["type"] == "rehearse":
    # Does what a run does up to the program, so that its code has been used once.
    environment = dict(request["env"])
    exec(compile(b"pass", "rehearsal", "exec"), {"environment": environment})
    send({"type": "rehearsed"})
    request = receive()
code, error = run(request)
if os.getpid() == own_pid:
    # What an interpreter does at its end, without the time it takes to free everything.
    threading._shutdown()
    atexit._run_exitfuncs()
for stream in (sys.stdout, sys.stderr):
    try:
        stream.flush()
    except (OSError, ValueError):
        code = code or 120
if os.getpid() == own_pid:
    message = {"type": "exit", "code": code, "error": error, "json": value_json}
    send({name: field for name, field in message.items() if field is not None})
os._exit(code)
