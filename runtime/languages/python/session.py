"""Keeps the interpreter of a session: runs code in the state that earlier code left, and reports the result of each run.

Executed by session_main.py with its own names: `link` provides the functions that read and send messages.
"""

import ast
import asyncio
import collections
import inspect
import linecache
import os
import signal
import sys
import time
import traceback
import types

#: The text of a message that cannot be read, as in Python's own tracebacks.
UNSAID = "<exception str() failed>"
#: Total source of runs that tracebacks can still quote.
KEPT_SOURCE = 1024 * 1024
#: Debian's package of matplotlib has a copy of its settings here; it reads the settings in /etc, which are not in a sandbox.
MATPLOTLIB_SETTINGS = "/usr/share/matplotlib/matplotlib.conf/matplotlibrc"
#: Types without display forms.
PLAIN = frozenset([bool, int, float, str, list, tuple, dict])


def has_text_keys(value):
    """Whether JSON preserves the keys of all dicts in a value: `{1: 2}` would become `{"1": 2}`."""
    if isinstance(value, dict):
        return all(isinstance(key, str) and has_text_keys(child) for key, child in value.items())
    return not isinstance(value, (list, tuple)) or all(map(has_text_keys, value))


def status_of(ended):
    """The exit status of a `sys.exit`, as in Python: a text is printed, and means 1."""
    if ended.code is None:
        return 0
    if isinstance(ended.code, int):
        # An integer that does not fit into C's 64 bits becomes -1.
        return ended.code & 255 if -(2**63) <= ended.code < 2**63 else 255
    print(ended.code, file=sys.stderr)
    return 1


def without_indent(code):
    """The code without the indentation of its first line, which every line has if it was cut out of a block."""
    lines = code.split("\n")
    first = next((line for line in lines if line.strip()), "")
    indent = first[: len(first) - len(first.lstrip(" \t"))]
    return "\n".join(line.removeprefix(indent) for line in lines)


def quote(name, code):
    """Makes the code available to tracebacks. They require that each line has a line end."""
    linecache.cache[name] = (len(code), None, [line + "\n" for line in code.split("\n")], name)


def leave_out_print(report):
    """Removes the frames of the session's `print` from a traceback and its chained tracebacks: the program sees a built-in."""
    for told in (report.__cause__, report.__context__, *(getattr(report, "exceptions", None) or ())):
        if told is not None:
            leave_out_print(told)
    report.stack[:] = [frame for frame in report.stack if os.path.basename(frame.filename) != "whole_print.py"]


class Session:
    def __init__(self, message, link):
        self.link = link
        self.value_bytes = message["valueBytes"]
        self.result_bytes = message["resultBytes"]
        self.forms = types.SimpleNamespace(**link.own_module("shown_forms"))
        self.display = self.new_display(0)
        self.loop = None
        self.running = False
        #: Whether the current run was interrupted: a KeyboardInterrupt may also be the program's own.
        self.interrupted = False
        self.sources = collections.deque()
        self.kept_source = 0
        #: Kept here, because the code may replace it.
        self.environ = os.environ
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

    def new_display(self, run):
        def send(sizes, data):
            if not self.link.is_forked():
                self.link.send_result(data, {"type": "shown", "run": run, "forms": sizes})

        return self.forms.Display(self.result_bytes, send)

    def show(self, *values):
        """Show values: in the forms that they offer, else as text; one value and a media type: as that type."""
        if len(values) == 2 and isinstance(values[1], str) and self.forms.is_named_type(values[1]):
            return self.display.put({values[1]: self.forms.as_bytes(values[0])})
        for value in values:
            self.display.show(value)

    def show_forms(self, value, include, exclude):
        """Show a value in the requested subset of its forms."""
        self.display.show(value, include, exclude)

    def put_forms(self, forms):
        self.display.put({str(name): self.forms.form_bytes(str(name), form) for name, form in forms.items()})

    def on_interrupt(self, number, frame):
        if self.running:
            self.interrupted = True
            raise KeyboardInterrupt

    def remember(self, name, code):
        quote(name, code)
        self.sources.append((name, len(code)))
        self.kept_source += len(code)
        while self.kept_source > KEPT_SOURCE or len(self.sources) > 1_000:
            oldest, size = self.sources.popleft()
            self.kept_source -= size
            linecache.cache.pop(oldest, None)

    def parse(self, name, code):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST
        try:
            return compile(code, name, "exec", flags, dont_inherit=True)
        except IndentationError:
            code = without_indent(code)
            tree = compile(code, name, "exec", flags, dont_inherit=True)
            # Tracebacks quote the executed source, and mark places in it.
            quote(name, code)
            return tree

    def execute(self, name, code):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        tree = self.parse(name, code)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        if tree.body:
            self.evaluate(compile(tree, name, "exec", flags, dont_inherit=True))
        if last is None:
            return None
        value = self.evaluate(compile(ast.Expression(last.value), name, "eval", flags, dont_inherit=True))
        # Work that the last expression has started belongs to the run.
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
        except (KeyboardInterrupt, SystemExit):
            # The awaited task is canceled and gets a moment to end. It may have been about to raise the same.
            task.cancel()
            self.loop.run_until_complete(asyncio.wait([task], timeout=0.5))
            raise

    def attempt(self, work):
        """Do interruptible work and return the exception it raised: program code may run in any part of it."""
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

    def lend(self, variables):
        """Set variables, and return a function that restores them."""
        before = {name: self.environ.get(name) for name in variables}

        def set_all(values):
            for variable, value in values.items():
                if value is None:
                    self.environ.pop(variable, None)
                else:
                    self.environ[variable] = value
            if "TZ" in values:
                # C reads TZ only when told to.
                time.tzset()

        set_all(variables)
        return lambda: set_all(before)

    def run(self, message):
        take_back = self.lend(message["env"])
        name = f"cell-{message['run']}"
        self.display = self.new_display(message["run"])
        self.interrupted = False
        self.close_figures()
        self.link.take_set()
        self.remember(name, message["code"])
        report = {"type": "cell", "run": message["run"]}
        executed = False

        def whole():
            nonlocal executed
            value = self.execute(name, message["code"])
            executed = True
            # Showing the value is part of the run: an object may take long to make its forms.
            if not self.link.is_forked():
                self.finish(report, value)

        raised = self.attempt(whole)
        leaving = isinstance(raised, SystemExit) and not executed
        if raised is not None and not leaving:
            words = self.describe(raised, name)
            report["error"] = self.link.short_texts(words)
            self.print_error(words["stack"])
        if self.link.is_forked():
            # The run continues in the process of the session; this forked process ends like any fork of the code.
            self.link.leave(raised if leaving else SystemExit(0 if raised is None else 1))
        if not executed:
            self.attempt(lambda: self.finish(report, None))
        take_back()
        if leaving:
            self.attempt(lambda: report.update(code=status_of(raised)))
        self.report(report)

    def report(self, report):
        for stream in ("stdout", "stderr"):
            # The program may have replaced the streams by any object.
            self.attempt(lambda: getattr(sys, stream).flush())
        if self.display.dropped:
            report["dropped"] = self.display.dropped
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
                # The value has no JSON form, and is shown instead.
                text = None
        if text is not None:
            size = text if isinstance(text, int) else len(text.encode())
            report["json"] = size if size > self.value_bytes else text
        if value is not None and (text is None or is_set or type(value) not in PLAIN and self.forms.forms_of(value)):
            self.display.show(value)
        self.show_figures()

    def show_figures(self):
        if "_skillcell_figures" in sys.modules:
            sys.modules["_skillcell_figures"].show_all(self.display.put)

    def close_figures(self):
        if "matplotlib.pyplot" in sys.modules:
            sys.modules["matplotlib.pyplot"].close("all")

    def describe(self, error, name):
        if isinstance(error, KeyboardInterrupt) and self.interrupted:
            return {"name": "Interrupted", "message": "The run was interrupted.", "stack": "Interrupted: The run was interrupted."}
        found = {}
        if self.attempt(lambda: found.update(self.words_of(error, name))) is not None:
            # An interrupt ended the description of the error.
            title = type.__dict__["__name__"].__get__(type(error))
            found = {"name": title, "message": UNSAID, "stack": f"{title}: {UNSAID}"}
        return found

    def words_of(self, error, name):
        try:
            # Before the traceback, because building it would swallow an interrupt.
            message = str(error)
        except (Exception, SystemExit):
            message = UNSAID
        trace = error.__traceback__
        # Frames above the run's own frames are internal and do not help the user.
        while trace is not None and not trace.tb_frame.f_code.co_filename.startswith("cell-"):
            trace = trace.tb_next
        report = traceback.TracebackException(type(error), error, trace)
        leave_out_print(report)
        stack = "".join(report.format())
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
    bridge.show_forms, bridge.put_forms = session.show_forms, session.put_forms
    link.own_module("notebook_modules")["install"](os.path.join(link.folder, "notebook"))
    link.own_module("whole_print")["install"]()
    link.send({"type": "waiting"})
    request = link.next_message()
    while request["type"] != "end":
        session.run(request)
        request = link.next_message()
