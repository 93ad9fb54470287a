"""The link of a program to its supervisor, for the module `skillcell`. Imported with it, so that other programs hold none of this code.

Descriptors and folders come from the finder that found the module. Frames: 3 bytes of length and one of kind, little endian, then JSON, a
call or an answer (kind 0), or the 4-byte number of a part and bytes of it (kind 1). A message names the parts that follow it.
"""

import _thread
import json
import os
import struct
import sys
import threading

# `signal` wraps the result in enumerations, which takes ten times as long, and each call asks.
import _signal

held = next((finder.held for finder in sys.meta_path if type(finder).__name__ == "SkillcellFinder"), None)
if held is None:
    raise ModuleNotFoundError("Cannot load skillcell: this process is not the program of a job.", name="_skillcell_bridge")
value_json = None
in_session = held.session is not None


def send_frame(kind, body):
    if not held.is_open():
        raise ToolCallError("tool.job-over", "Cannot make the call: the link to the host is closed, or this process is a forked one.")
    rest = memoryview(struct.pack("<I", len(body) | kind << 24) + body)
    while rest:
        rest = rest[os.write(held.outgoing, rest) :]


def send(message):
    send_frame(0, json.dumps(message, ensure_ascii=True).encode())


received = bytearray()


def receive_exactly(size):
    while len(received) < size:
        chunk = os.read(held.incoming, 65536)
        if not chunk:
            os._exit(70)
        received.extend(chunk)
    wanted = bytes(received[:size])
    del received[:size]
    return wanted


def receive_frame():
    (head,) = struct.unpack("<I", receive_exactly(4))
    return head >> 24, receive_exactly(head & 0xFFFFFF)


class ToolCallError(RuntimeError):
    """A call that returned no value. `code` names the reason: a code listed in docs/errors.md."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


#: The heads of calls and answers, as in `src/protocol/channel/packed-call.ts`.
CALL, ANSWER = struct.Struct("<BIBHI"), struct.Struct("<BIBI")
CALL_KIND, TOOL_TARGET = 1, 0
#: No tool has a longer name.
MAX_NAME = 1_000
JSON_BYTES = 256 * 1024
PART_BYTES = 8 * 1024 * 1024
# Most bytes of a value under any limit; of a larger value the supervisor gets only the size.
VALUE_BYTES = 4 * 1024 * 1024
#: JSON readers round larger integers.
GREATEST_INTEGER = 2**53 - 1
BEYOND = f"JSON has no integer beyond {GREATEST_INTEGER}; give it as text"
MAX_PARTS = 64
#: A program may have a handler for these signals that raises between any two steps of the main thread. SIGINT always has one.
INTERRUPTING = [getattr(_signal, "SIG" + name) for name in "ALRM VTALRM PROF TERM HUP QUIT USR1 USR2".split()]
FRAME_BYTES = 256 * 1024


def json_key(key):
    """The form of a dict's key in JSON."""
    return key if isinstance(key, str) else next(iter(json.loads(json.dumps({key: 0}))))


def distinct(pairs):
    """The dict of pairs by their JSON keys; two equal keys are an error."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        twice = next(key for index, (key, _) in enumerate(pairs) if key in dict(pairs[:index]))
        raise ValueError(f"two keys of a dict are the same in JSON, {json.dumps(twice)[:100]}")
    return fields


def may_be_interrupted():
    if threading.current_thread() is not threading.main_thread():
        return False
    if in_session:
        return True
    return any(callable(_signal.getsignal(number)) for number in INTERRUPTING)


def constructor_of(value):
    found = value.get("constructor")
    return found if isinstance(found, dict) else {}


def detach(value):
    """The value with None in place of bytes, the places of the bytes, and the bytes."""
    places, parts = [], []

    def copy(current, path):
        if isinstance(current, (bytes, bytearray, memoryview)):
            part = bytes(current)
            places.append({"path": path, "bytes": len(part)})
            parts.append(part)
            return None
        if len(path) >= 60 and isinstance(current, (dict, list, tuple)):
            raise ToolCallError("tool.invalid-arguments", "Cannot make the call: the arguments are nested over 60 levels.")
        if isinstance(current, dict):
            if "__proto__" in current or "prototype" in constructor_of(current):
                raise ToolCallError("tool.invalid-arguments", "Cannot make the call: a key that reaches a prototype is not allowed.")
            keyed = ((json_key(key), child) for key, child in current.items())
            return distinct([(key, copy(child, [*path, key])) for key, child in keyed])
        if isinstance(current, (list, tuple)):
            return [copy(child, [*path, index]) for index, child in enumerate(current)]
        if isinstance(current, int) and abs(current) > GREATEST_INTEGER:
            raise ToolCallError("tool.invalid-arguments", f"Cannot make the call: {BEYOND}.")
        return current

    return copy(value, []), places, parts


def attach(value, places, parts):
    """Puts bytes back into their places."""
    top = [value]
    for place in places:
        holder, key = top, 0
        for step in place["path"]:
            holder, key = holder[key], step
        holder[key] = bytes(parts[place["stream"]])
    return top[0]


class Calls:
    """The calls of this process, from any thread. A waiting thread reads; only one at a time, for all waiting threads."""

    def __init__(self):
        self.sending = threading.Lock()
        self.changed = threading.Condition()
        self.reading = False
        self.last_call = 0
        self.last_part = 0
        # By id: the function that takes the reply.
        self.waiting = {}
        self.arriving = {}
        self.messages = []

    def begin(self, name, arguments, settle):
        if os.getpid() != held.pid:
            raise ToolCallError("tool.job-over", "Cannot make the call: a forked process has no tools.")
        try:
            value, places, parts = detach(arguments)
            body = json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ToolCallError("tool.invalid-arguments", f"Cannot make the call: {error}.") from None
        if len(body) > JSON_BYTES and len(body.encode()) > JSON_BYTES or len(places) > MAX_PARTS:
            raise ToolCallError("tool.too-large", f"Cannot make the call: over {JSON_BYTES} bytes of JSON or {MAX_PARTS} parts.")
        if sum(map(len, parts)) > PART_BYTES:
            raise ToolCallError("tool.too-large", f"Cannot make the call: over {PART_BYTES} bytes.")
        encoded_name = name.encode(errors="replace")[:MAX_NAME]
        with self.sending:
            self.last_call += 1
            call_id = self.last_call
            self.waiting[call_id] = settle
            for place in places:
                self.last_part += 1
                place["stream"] = self.last_part
            listed = json.dumps(places).encode() if places else b""
            head = CALL.pack(CALL_KIND, call_id, TOOL_TARGET, len(encoded_name), len(listed))
            send_frame(0, head + encoded_name + listed + body.encode())
            for place, part in zip(places, parts):
                for start in range(0, len(part), FRAME_BYTES):
                    send_frame(1, struct.pack("<I", place["stream"]) + part[start : start + FRAME_BYTES])
        return call_id

    def read_one(self):
        kind, body = receive_frame()
        if kind == 0 and body[:1] == b"{":
            # A message of a session, which can arrive while background code has open calls.
            self.messages.append(json.loads(body))
            return
        if kind == 1:
            (number,) = struct.unpack_from("<I", body)
            part, finish = self.arriving[number]
            part.extend(body[4:])
            finish()
            return
        _, call_id, is_value, place_bytes = ANSWER.unpack_from(body)
        settle = self.waiting.pop(call_id, None)
        if settle is None:
            return
        rest = ANSWER.size + place_bytes
        given = json.loads(body[rest:])
        if not is_value:
            settle(None, ToolCallError(given.get("code", "tool.failed"), given.get("message", "the call failed")))
            return
        places = json.loads(body[ANSWER.size : rest]) if place_bytes else []
        parts = {place["stream"]: bytearray() for place in places}
        missing = {place["stream"]: place["bytes"] for place in places if place["bytes"] > 0}

        def finish():
            for number in [number for number, size in missing.items() if len(parts[number]) >= size]:
                del missing[number], self.arriving[number]
            if not missing:
                settle(attach(given, places, parts), None)

        for number in missing:
            self.arriving[number] = (parts[number], finish)
        finish()

    def read_until(self, done):
        """Reads, or waits while another thread reads, until `done()`."""
        while True:
            with self.changed:
                while not done() and self.reading:
                    self.changed.wait()
                if done():
                    return
                self.reading = True
            try:
                self.read_one()
            finally:
                with self.changed:
                    self.reading = False
                    self.changed.notify_all()

    def call(self, name, arguments):
        return self.undisturbed(lambda: self.call_here(name, arguments))

    def undisturbed(self, work):
        return self.call_aside(work) if may_be_interrupted() else work()

    def send_alone(self, message):
        with self.sending:
            send(message)

    def call_aside(self, work):
        """Works in its own thread, so that no signal handler raises in the middle of a frame. A caller that stops waiting does not stop the work."""
        ended, outcome = threading.Event(), []

        def run():
            try:
                outcome.append((work(), None))
            except BaseException as error:
                outcome.append((None, error))
            ended.set()

        # If a handler raised while a `threading.Thread` starts, that class's own bookkeeping would raise a KeyError.
        _thread.start_new_thread(run, ())
        ended.wait()
        value, error = outcome[0]
        if error is not None:
            raise error
        return value

    def call_here(self, name, arguments):
        answer = []
        self.begin(name, arguments, lambda value, error: answer.append((value, error)))
        self.read_until(lambda: answer)
        value, error = answer[0]
        if error is not None:
            raise error
        return value

    async def call_async(self, name, arguments):
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def resolve(value, error):
            if future.cancelled():
                return
            if error is None:
                future.set_result(value)
            else:
                future.set_exception(error)

        def settle(value, error):
            try:
                loop.call_soon_threadsafe(resolve, value, error)
            except RuntimeError:
                # The loop is closed, so no task waits for the answer.
                pass

        if may_be_interrupted():
            await asyncio.to_thread(self.begin, name, arguments, settle)
        else:
            self.begin(name, arguments, settle)
        self.start_reader()
        return await future

    def start_reader(self):
        """Starts one thread that reads for all awaiting tasks; it ends when no task waits."""
        with self.changed:
            if getattr(self, "reader", None) is not None:
                return
            self.reader = threading.Thread(target=self.read_for_all, daemon=True)
        self.reader.start()

    def read_for_all(self):
        while True:
            self.read_until(lambda: not self.waiting and not self.arriving)
            with self.changed:
                if not self.waiting and not self.arriving:
                    self.reader = None
                    return


calls = Calls()


def require_exact(digits):
    if abs(int(digits)) > GREATEST_INTEGER:
        raise ValueError(f"Cannot set the value: {BEYOND}.")


# Made once: a session encodes a value after each run, and creating an encoder takes longer than a short run.
exact_encoder = json.JSONEncoder(allow_nan=False)
exact_decoder = json.JSONDecoder(parse_int=require_exact, object_pairs_hook=distinct)


def exact_json(value):
    text = exact_encoder.encode(value)
    exact_decoder.decode(text)
    return text


def set_value(value):
    global value_json
    text = exact_json(value)
    value_json = text if len(text) <= VALUE_BYTES else len(text)
    if not in_session and os.getpid() == held.pid:
        tell_value()


def tell_value():
    """Sends the value at once, so that it survives any end of the program. If the link is closed, the value goes to the value file."""
    if held.is_open():
        message = {"type": "value", "json": value_json}
        calls.undisturbed(lambda: calls.send_alone(message))
    elif isinstance(value_json, str):
        with open(os.environ["SKILLCELL_VALUE"], "w", encoding="utf-8") as file:
            file.write(value_json)


def read_skill_file(skill, path):
    parts = skill.split(".", 1) + path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        raise FileNotFoundError(f"Cannot read a skill file: no such file, got {skill} {path}.")
    with open(os.path.join(held.skills, *parts), "rb") as file:
        return file.read()
