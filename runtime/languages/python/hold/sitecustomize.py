"""Holds Python in its own start-up until a program is there, and then lets Python run that as its main module.

Python imports this module, by `PYTHONPATH`, after its own start and before its main path. So the program is the interpreter's own from
its first line to its end, and nothing that it can ask for shows this file: it imports nothing that a start without it would not.

The link to the supervisor: 3 bytes of length and one of kind, little endian, then JSON.
"""

import _signal
import atexit
import os
import sys
from _frozen_importlib_external import PathFinder

#: The link's descriptors as they are handed over, and where they move: programs count on low numbers, or close all of them.
GIVEN = (3, 4)
INCOMING, OUTGOING = 200, 201
HOLD = os.path.dirname(os.path.abspath(__file__))
LANGUAGE = os.path.dirname(HOLD)
GUEST = os.path.join(LANGUAGE, "guest")
#: By this signal the supervisor asks for what the program's streams still hold, before its deadline ends it.
FLUSH_SIGNAL = _signal.SIGRTMAX
#: Characters of each text of an error that the supervisor is told.
ERROR_CHARACTERS = 60_000


class SkillcellFinder:
    """Finds the module `skillcell`, behind all that a program has itself. Its other modules are found once that is imported."""

    def __init__(self, held):
        self.held = held

    def find_spec(self, name, path=None, target=None):
        if name != "skillcell":
            return None
        if GUEST not in sys.path:
            sys.path.append(GUEST)
        return PathFinder.find_spec(name, [GUEST])


class Held:
    """The program that Python was held for, and its link to the supervisor."""

    def __init__(self, message):
        self.pid = os.getpid()
        self.incoming, self.outgoing = INCOMING, OUTGOING
        self.skills = message["skills"]
        self.session = message.get("session")
        self.identity = self.identify()

    def identify(self):
        return [(status.st_dev, status.st_ino) for status in map(os.fstat, (INCOMING, OUTGOING))]

    def is_open(self):
        """Whether the link is this process's, and still there: a program may close it, and open a file in its place."""
        try:
            return os.getpid() == self.pid and self.identify() == self.identity
        except OSError:
            return False

    def send(self, body):
        """Sends a message, whole. A closed link takes none."""
        if self.is_open():
            send(OUTGOING, body)


class Captured:
    """Stands for stderr while the interpreter describes an error."""

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
    # JSON of the supervisor is a literal of Python but for three words; `json` would import a dozen modules.
    return eval(receive_exactly(size), {"__builtins__": {}, "true": True, "false": False, "null": None})


def json_text(text):
    """A text as JSON has it, in ASCII."""
    units = text.encode("utf-16-be", "surrogatepass")
    codes = [units[index] << 8 | units[index + 1] for index in range(0, len(units), 2)]
    return '"' + "".join(chr(code) if 32 <= code < 127 and code not in (34, 92) else f"\\u{code:04x}" for code in codes) + '"'


def shortened(text):
    """The end of a traceback says what it was, so the middle of a long one is left out."""
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
    """The interpreter's own words for an error."""
    stderr, sys.stderr = sys.stderr, Captured()
    try:
        sys.__excepthook__(type(error), error, error.__traceback__)
        return sys.stderr.text
    except BaseException:
        return message_of(error)
    finally:
        sys.stderr = stderr


def report(held, path):
    """Tells of the error that the program ended with. The interpreter calls this last of all that is registered for its end."""
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
    """Writes what the program has printed. A child that it forked has a copy of the same text, and leaves that alone."""
    if os.getpid() != held.pid:
        return
    # A program may have put others in their place, for a while or for ever.
    for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):
        try:
            stream.flush()
        except Exception:
            # Closed, replaced, or in the middle of a write.
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
    """Puts back what the import of this module has changed."""
    sys.path[:] = [entry for entry in sys.path if entry != HOLD]
    sys.path_importer_cache.pop(HOLD, None)
    # Folders that were not there when the interpreter looked.
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
    # The machine's own module of this name, which this one has hidden.
    import sitecustomize
except ModuleNotFoundError as error:
    # An import that fails leaves no module; `site` goes on after one of this name.
    raise ModuleNotFoundError(error.msg, name="sitecustomize") from None
