"""The main module of a session: gives its interpreter the link to the supervisor, and streams that write at once."""

import io
import os
import select
import struct
import sys

sys.path[0] = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest")
import _skillcell_bridge as bridge

#: Most characters of each text of an error in a report.
ERROR_CHARACTERS = 60_000


class WholeOutput(io.FileIO):
    """Writes all given bytes. An unbuffered stream of Python drops the rest of a write that a signal cut short, or that fails because
    another process made the shared pipe non-blocking."""

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


def short_texts(error):
    """The texts of an error, short enough for a message. The end of a traceback names the error, so the middle is left out."""
    half = ERROR_CHARACTERS // 2
    return {
        key: f"{field[:half]}\n…\n{field[-half:]}" if isinstance(field, str) and len(field) > 2 * half else field
        for key, field in error.items()
    }


def own_module(name):
    # Loaded by path, so that programs cannot import these modules by name.
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".py")
    names = {"__name__": name}
    with open(source, "rb") as file:
        exec(compile(file.read(), source, "exec"), names)
    return names


class SessionLink:
    """The services of its process that a session uses."""

    folder = os.path.dirname(os.path.abspath(__file__))
    own_module = staticmethod(own_module)
    send = staticmethod(bridge.calls.send_alone)
    exact_json = staticmethod(bridge.exact_json)
    short_texts = staticmethod(short_texts)

    @staticmethod
    def send_result(data, message):
        """Send bytes and the message that names them directly after each other, even if an interrupt hits the showing thread."""

        def send_both():
            with bridge.calls.sending:
                for start in range(0, len(data), bridge.FRAME_BYTES):
                    bridge.send_frame(1, struct.pack("<I", 0) + data[start : start + bridge.FRAME_BYTES])
                bridge.send(message)

        bridge.calls.undisturbed(send_both)

    @staticmethod
    def next_message():
        bridge.calls.read_until(lambda: bridge.calls.messages)
        return bridge.calls.messages.pop(0)

    @staticmethod
    def take_set():
        text, bridge.value_json = bridge.value_json, None
        return text

    @staticmethod
    def is_forked():
        return os.getpid() != bridge.held.pid

    @staticmethod
    def write_error(text):
        WholeOutput(2, "wb", closefd=False).write(text.encode(errors="backslashreplace"))

    @staticmethod
    def leave(ended):
        """End the interpreter with the code of a SystemExit, as Python does."""
        raise ended


sys.stdout = sys.__stdout__ = whole_output(sys.stdout, 1)
sys.stderr = sys.__stderr__ = whole_output(sys.stderr, 2)
own_module("session")["serve"](bridge.held.session, SessionLink)
