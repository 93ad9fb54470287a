"""Holds Python in its own start-up until a program arrives, and then lets Python run the program as its main module.

Python finds this module through `PYTHONPATH` and imports it after its own start and before its main path. So the interpreter itself runs
the program from its first line to its end. The module removes itself and its imports from `sys.modules` and `sys.path` before that.

A message of the link to the supervisor has 3 bytes of length and one of kind, little endian, and then JSON.
"""

import _signal
import atexit
import os
import sys
from _frozen_importlib_external import PathFinder

#: The link's descriptors as the supervisor hands them over. They move to high numbers, because programs count on low numbers or close all
#: of them.
GIVEN = (3, 4)
INCOMING, OUTGOING = 200, 201
HOLD = os.path.dirname(os.path.abspath(__file__))
LANGUAGE = os.path.dirname(HOLD)
GUEST = os.path.join(LANGUAGE, "guest")
#: With this signal the supervisor asks the program to write its buffered output before it ends the program.
FLUSH_SIGNAL = _signal.SIGRTMAX
#: The most characters of each text in the report of an error.
ERROR_CHARACTERS = 60_000


class SkillcellFinder:
    """Finds the module `skillcell` after all other finders. The import of `skillcell` adds the folder of its other modules to `sys.path`."""

    def __init__(self, held):
        self.held = held

    def find_spec(self, name, path=None, target=None):
        if name != "skillcell":
            return None
        if GUEST not in sys.path:
            sys.path.append(GUEST)
        return PathFinder.find_spec(name, [GUEST])


class Held:
    """The program that Python waited for, and its link to the supervisor."""

    def __init__(self, message):
        self.pid = os.getpid()
        self.incoming, self.outgoing = INCOMING, OUTGOING
        self.skills = message["skills"]
        self.session = message.get("session")
        self.identity = self.identify()

    def identify(self):
        return [(status.st_dev, status.st_ino) for status in map(os.fstat, (INCOMING, OUTGOING))]

    def is_open(self):
        """Whether this process owns the link and the link is open: a program may close it and open a file in its place."""
        try:
            return os.getpid() == self.pid and self.identify() == self.identity
        except OSError:
            return False

    def send(self, body):
        """Sends a whole message. A message to a closed link is dropped."""
        if self.is_open():
            send(OUTGOING, body)


class Captured:
    """Replaces stderr while the interpreter describes an error."""

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def send(descriptor, body):
    rest = memoryview(len(body).to_bytes(4, "little") + body)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def receive_exactly(size):
    received = b""
    while len(received) < size:
        chunk = os.read(GIVEN[0], size - len(received))
        if not chunk:
            # The supervisor has no program for this process.
            os._exit(70)
        received += chunk
    return received


def receive():
    size = int.from_bytes(receive_exactly(4), "little") & 0xFFFFFF
    # The supervisor's JSON is a Python literal except for three words; `json` would import a dozen modules.
    return eval(receive_exactly(size), {"__builtins__": {}, "true": True, "false": False, "null": None})


def json_text(text):
    """The JSON string of a text, in ASCII."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [units[index] << 8 | units[index + 1] for index in range(0, len(units), 2)]
    return '"' + "".join(chr(code) if 32 <= code < 127 and code not in (34, 92) else f"\\u{code:04x}" for code in codes) + '"'


def shortened(text):
    """Leaves out the middle of a long traceback, since its end names the error."""
    half = ERROR_CHARACTERS // 2
    return f"{text[:half]}\n…\n{text[-half:]}" if len(text) > 2 * half else text


def message_of(error):
    try:
        return str(error)
    except BaseException:
        return "<exception str() failed>"


def line_of(error, path):
    line = None
    if isinstance(error, SyntaxError) and error.filename == path:
        line = error.lineno
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == path:
            line = step.tb_lineno
        step = step.tb_next
    return line if isinstance(line, int) else None


def described(error):
    """The interpreter's own description of an error."""
    stderr, sys.stderr = sys.stderr, Captured()
    try:
        sys.__excepthook__(type(error), error, error.__traceback__)
        return sys.stderr.text
    except BaseException:
        return message_of(error)
    finally:
        sys.stderr = stderr


def report(held, path):
    """Reports the error that ended the program. The interpreter calls this function after all other functions in `atexit`."""
    error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    if error is None or sys.excepthook is not sys.__excepthook__ or not held.is_open():
        return
    texts = {"name": type(error).__name__, "message": message_of(error), "stack": described(error)}
    fields = [f"{json_text(key)}:{json_text(shortened(text))}" for key, text in texts.items()]
    line = line_of(error, path)
    if line is not None:
        fields.append(f'"line":{line}')
    held.send(f'{{"type":"report","error":{{{",".join(fields)}}}}}'.encode())


def flush(held):
    """Writes the program's buffered output. A forked child holds a copy of that output and does not write it."""
    if os.getpid() != held.pid:
        return
    # A program may have replaced these streams, temporarily or for good.
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:
            # The program has closed or replaced the stream, or is in the middle of a write.
            pass
    held.send(b'{"type":"flushed"}')


def check(path):
    names = {"__name__": "script_requirements"}
    source = os.path.join(LANGUAGE, "script_requirements.py")
    with open(source, "rb") as file:
        exec(compile(file.read(), source, "exec"), names)
    import json

    return json.dumps({"type": "checked", "unmet": names["unmet"](path)}).encode()


def forget(modules):
    """Undoes the changes that the import of this module made."""
    sys.path[:] = [entry for entry in sys.path if entry != HOLD]
    sys.path_importer_cache.pop(HOLD, None)
    # Folders that did not exist when the interpreter looked.
    for path in [path for path, finder in sys.path_importer_cache.items() if finder is None]:
        del sys.path_importer_cache[path]
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def begin(message):
    for given, moved in zip(GIVEN, (INCOMING, OUTGOING)):
        os.dup2(given, moved, inheritable=False)
        os.close(given)
    os.environ.clear()
    os.environ.update(message["env"])
    path = message["path"]
    sys.argv[:] = [path, *message["args"]]
    sys.orig_argv[:] = [sys.orig_argv[0], path, *message["args"]]
    os.chdir(message["cwd"])
    held = Held(message)
    sys.meta_path.append(SkillcellFinder(held))
    if held.session is None:
        atexit.register(report, held, path)
        _signal.signal(FLUSH_SIGNAL, lambda *_: flush(held))


def hold():
    modules = {name for name in sys.modules if name not in (__name__, "atexit")}
    send(GIVEN[1], b'{"type":"waiting"}')
    message = receive()
    while message["type"] != "run":
        send(GIVEN[1], b'{"type":"rehearsed"}' if message["type"] == "rehearse" else check(message["path"]))
        message = receive()
    begin(message)
    forget(modules)


hold()
try:
    # This module has hidden the machine's own module of the same name.
    import sitecustomize
except ModuleNotFoundError as error:
    # A failed import leaves no module behind, and `site` ignores a missing module of this name.
    raise ModuleNotFoundError(error.msg, name="sitecustomize") from None
