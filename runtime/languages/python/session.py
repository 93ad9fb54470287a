"""Keeps the interpreter of a session: runs code with what earlier code defined, and says of each run what came of it.

Executed by executor.py with names of its own: `link` has what reads and sends messages.
"""

import ast
import asyncio
import collections
import inspect
import json
import linecache
import os
import re
import signal
import sys
import traceback
import types

MOST_RESULTS = 64
MOST_FORMS = 16
TEXT_CHARACTERS = 100_000
#: In the place of words that an error does not have, as tracebacks have it.
UNSAID = "<exception str() failed>"
#: Source of runs that tracebacks can still quote.
KEPT_SOURCE = 1024 * 1024
#: Debian's package of matplotlib has a copy of its settings here; it reads those in /etc, of which a sandbox has nothing.
MATPLOTLIB_SETTINGS = "/usr/share/matplotlib/matplotlib.conf/matplotlibrc"
#: How an object says how it is shown, and as what media type.
FORMS = {
    "_repr_html_": "text/html",
    "_repr_markdown_": "text/markdown",
    "_repr_svg_": "image/svg+xml",
    "_repr_png_": "image/png",
    "_repr_jpeg_": "image/jpeg",
    "_repr_pdf_": "application/pdf",
    "_repr_latex_": "text/latex",
    "_repr_json_": "application/json",
    "_repr_javascript_": "application/javascript",
}


#: Those that are registered.
TOP_LEVEL_TYPES = frozenset("application audio font haptics image message model multipart text video".split())
#: These say nothing of how they are shown.
PLAIN = frozenset([bool, int, float, str, list, tuple, dict])


def as_bytes(form):
    if not isinstance(form, str):
        try:
            return memoryview(form).tobytes()
        except (TypeError, BufferError):
            # No bytes.
            pass
    return (form if isinstance(form, str) else json.dumps(form, default=str)).encode(errors="replace")


def is_media_type(text):
    return len(text) <= 100 and re.fullmatch(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*", text, re.ASCII | re.IGNORECASE)


def is_named_type(text):
    """Whether a second value names the form of the first: `km/h` does not."""
    return is_media_type(text) and text.partition("/")[0].lower() in TOP_LEVEL_TYPES


def forms_of(value):
    """The forms that an object says it has."""
    found = {}
    bundle = getattr(value, "_repr_mimebundle_", None)
    if callable(bundle) and not inspect.isclass(value):
        forms = bundle(include=None, exclude=None)
        forms = forms[0] if isinstance(forms, tuple) else forms
        found.update(forms if isinstance(forms, dict) else {})
    for name, media_type in FORMS.items():
        if media_type in found or inspect.isclass(value):
            continue
        method = getattr(value, name, None)
        form = method() if callable(method) else None
        form = form[0] if isinstance(form, tuple) and form else form
        # An object that answers to every name has no form of any.
        if isinstance(form, (str, bytes, bytearray, memoryview, dict, list)):
            found[media_type] = form
    return {str(media_type): as_bytes(form) for media_type, form in found.items()}


def has_text_keys(value):
    """Whether JSON says the keys of all dicts in a value as what they are: `{1: 2}` would come out as `{"1": 2}`."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and has_text_keys(child) for key, child in value.items())
    return not isinstance(value, (list, tuple)) or all(map(has_text_keys, value))


class Display:
    """What one run shows."""

    def __init__(self, most_bytes):
        self.most_bytes = most_bytes
        self.results, self.parts, self.size, self.dropped = [], [], 0, 0

    def put(self, forms):
        forms = dict([pair for pair in forms.items() if is_media_type(pair[0])][:MOST_FORMS])
        if not forms:
            return
        size = sum(map(len, forms.values()))
        if len(self.results) >= MOST_RESULTS or self.size + size > self.most_bytes:
            self.dropped += 1
            return
        self.size += size
        self.results.append([[media_type, len(form)] for media_type, form in forms.items()])
        self.parts.extend(forms.values())

    def show(self, value):
        forms = forms_of(value)
        forms.setdefault("text/plain", as_bytes((value if isinstance(value, str) else repr(value))[:TEXT_CHARACTERS]))
        self.put(forms)


class Session:
    def __init__(self, message, link):
        self.link = link
        self.value_bytes = message["valueBytes"]
        self.result_bytes = message["resultBytes"]
        self.display = Display(self.result_bytes)
        self.loop = None
        self.running = False
        self.sources = collections.deque()
        self.kept_source = 0
        os.environ.setdefault("MPLBACKEND", "module://_skillcell_figures")
        if os.path.exists(MATPLOTLIB_SETTINGS):
            os.environ.setdefault("MATPLOTLIBRC", MATPLOTLIB_SETTINGS)
        sys.argv = [""]
        sys.path.insert(0, message["cwd"])
        self.main = types.ModuleType("__main__")
        self.main.__dict__["__builtins__"] = __builtins__
        self.main.__dict__["display"] = self.show
        sys.modules["__main__"] = self.main
        signal.signal(signal.SIGINT, self.on_interrupt)

    def show(self, *values):
        """Show values: in the forms that they say they have, else as text; one value and a media type: as that."""
        if len(values) == 2 and isinstance(values[1], str) and is_named_type(values[1]):
            return self.display.put({values[1]: as_bytes(values[0])})
        for value in values:
            self.display.show(value)

    def on_interrupt(self, number, frame):
        if self.running:
            raise KeyboardInterrupt

    def remember(self, name, code):
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
        self.sources.append((name, len(code)))
        self.kept_source += len(code)
        while self.kept_source > KEPT_SOURCE or len(self.sources) > 1_000:
            oldest, size = self.sources.popleft()
            self.kept_source -= size
            linecache.cache.pop(oldest, None)

    def execute(self, name, code):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = compile(code, name, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if tree.body:
            self.evaluate(compile(tree, name, "exec", flags, dont_inherit=True))
        if last is None:
            return None
        value = self.evaluate(compile(ast.Expression(last.value), name, "eval", flags, dont_inherit=True))
        # Work that the last expression has begun is a part of the run.
        return self.wait_for(value) if inspect.iscoroutine(value) else value

    def evaluate(self, code):
        awaits = code.co_flags & inspect.CO_COROUTINE
        value = eval(code, self.main.__dict__)
        return self.wait_for(value) if awaits else value

    def wait_for(self, coroutine):
        if self.loop is None or self.loop.is_closed():
            self.loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self.loop)
        task = self.loop.create_task(coroutine)
        try:
            return self.loop.run_until_complete(task)
        except KeyboardInterrupt:
            # What the run waits for is told, and has a moment to end.
            task.cancel()
            self.loop.run_until_complete(asyncio.wait([task], timeout=0.5))
            raise

    def attempt(self, work):
        """Does what an interrupt stops, and gives back what it raised: code of the program may be at work in all of it."""
        try:
            try:
                self.running = True
                work()
            finally:
                self.running = False
        except BaseException as raised:
            self.running = False
            return raised
        return None

    def run(self, message):
        name = f"cell-{message['run']}"
        self.display = Display(self.result_bytes)
        self.close_figures()
        self.link.take_set()
        self.remember(name, message["code"])
        report = {"type": "cell", "run": message["run"]}
        executed = False

        def whole():
            nonlocal executed
            value = self.execute(name, message["code"])
            executed = True
            # To show the value is a part of the run: an object may be asked for its forms for long.
            if not self.link.is_forked():
                self.finish(report, value)

        raised = self.attempt(whole)
        leaving = isinstance(raised, SystemExit) and not executed
        if raised is not None and not leaving:
            words = self.describe(raised, name)
            report["error"] = self.link.short_texts(words)
            self.print_error(words["stack"])
        if self.link.is_forked():
            # The run goes on in the process that has the session; this one is no more than what the code has made of it.
            self.link.leave(raised if leaving else SystemExit(0 if raised is None else 1))
        if not executed:
            self.attempt(lambda: self.finish(report, None))
        if leaving:
            report["leaving"] = True
        self.report(report)
        if leaving:
            self.link.leave(raised)

    def report(self, report):
        for stream in ("stdout", "stderr"):
            # The program may have put anything in their places.
            self.attempt(lambda: getattr(sys, stream).flush())
        if self.display.dropped:
            report["dropped"] = self.display.dropped
        if self.display.results:
            report["results"] = self.display.results
            self.link.send_bytes(0, b"".join(self.display.parts))
        self.link.send(report)

    def print_error(self, stack):
        text = stack.rstrip("\n") + "\n"
        if self.attempt(lambda: sys.stderr.write(text)) is not None:
            self.attempt(lambda: self.link.write_error(text))

    def finish(self, report, value):
        text = self.link.take_set()
        is_set = text is not None
        if text is None and value is not None:
            try:
                text = self.link.exact_json(value) if has_text_keys(value) else None
            except (TypeError, ValueError, RecursionError):
                # It has no JSON form, and is shown instead.
                text = None
        if text is not None:
            size = text if isinstance(text, int) else len(text.encode())
            report["json"] = size if size > self.value_bytes else text
        if value is not None and (text is None or is_set or type(value) not in PLAIN and forms_of(value)):
            self.display.show(value)
        self.show_figures()

    def show_figures(self):
        if "_skillcell_figures" in sys.modules:
            sys.modules["_skillcell_figures"].show_all(self.display.put)

    def close_figures(self):
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")

    def describe(self, error, name):
        if isinstance(error, KeyboardInterrupt):
            return {"name": "Interrupted", "message": "The run was interrupted.", "stack": "Interrupted: The run was interrupted."}
        found = {}
        if self.attempt(lambda: found.update(self.words_of(error, name))) is not None:
            # An interrupt has ended what it says of itself.
            title = type.__dict__["__name__"].__get__(type(error))
            found = {"name": title, "message": UNSAID, "stack": f"{title}: {UNSAID}"}
        return found

    def words_of(self, error, name):
        try:
            # Ahead of the traceback, whose making would catch an interrupt as well, and go on.
            message = str(error)
        except (Exception, SystemExit):
            message = UNSAID
        trace = error.__traceback__
        # Frames above the run's own are ours and say nothing to the user.
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("cell-"):
            trace = trace.tb_next
        stack = "".join(traceback.format_exception(type(error), error, trace))
        line = error.lineno if isinstance(error, SyntaxError) and error.filename == name else None
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == name:
                line = trace.tb_lineno
            trace = trace.tb_next
        found = {"name": str(type(error).__name__), "message": message, "stack": stack}
        return {**found, "line": line} if isinstance(line, int) else found


def serve(message, link):
    session = Session(message, link)
    bridge = sys.modules["_skillcell_bridge"]
    bridge.display = session.show
    bridge.put_result = lambda forms: session.display.put(forms)
    link.send({"type": "waiting"})
    while True:
        request = link.next_message()
        if request["type"] == "cell":
            session.run(request)
