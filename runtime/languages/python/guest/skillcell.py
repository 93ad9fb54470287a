"""The services of skillcell for a job's Python program."""

try:
    import _skillcell_bridge as _bridge
except ModuleNotFoundError:
    # A process that the program started, such as a process of multiprocessing.
    import _skillcell_no_bridge as _bridge

__all__ = ["ToolCallError", "call_tool", "display", "read_skill_file", "set_value", "tools"]

ToolCallError = _bridge.ToolCallError


#: None is a valid argument, so it cannot mark a missing one.
_NOTHING = object()


def _arguments(given, keywords):
    if given is _NOTHING:
        return keywords
    if keywords and not isinstance(given, dict):
        raise ToolCallError("tool.invalid-arguments", "Cannot make the call: only a dict takes keywords beside it.")
    return {**given, **keywords} if keywords else given


class _Path:
    """A tool, or the names on the way to it."""

    __slots__ = ("_id",)

    def __init__(self, tool_id):
        object.__setattr__(self, "_id", tool_id)

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Path(f"{self._id}.{name}")

    def __call__(self, given=_NOTHING, /, **keywords):
        return _bridge.calls.call(self._id, _arguments(given, keywords))

    def aio(self, given=_NOTHING, /, **keywords):
        return _bridge.calls.call_async(self._id, _arguments(given, keywords))

    def __repr__(self):
        return f"<tool {self._id}>"


class _Call:
    """Calls a tool by its id."""

    def __call__(self, tool_id, given=_NOTHING, /, **keywords):
        return _Path(tool_id)(given, **keywords)

    def aio(self, tool_id, given=_NOTHING, /, **keywords):
        return _Path(tool_id).aio(given, **keywords)


class _Tools:
    """The job's tools: `tools.crm.find(name='Ada')`, or `tools.call('crm.find', {...})`."""

    call = _Call()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return _Path(name)

    def __repr__(self):
        return "<tools of the job>"


tools = _Tools()


def call_tool(tool_id, given=_NOTHING, **keywords):
    """Call a tool of the host by its id. Raises ToolCallError when the call returns no value."""
    return tools.call(tool_id, given, **keywords)


def read_skill_file(skill, path, encoding="utf-8"):
    """Read a file of one of the job's skills, as text, or as bytes when encoding is None."""
    data = _bridge.read_skill_file(skill, path)
    return data if encoding is None else data.decode(encoding)


def display(*values):
    """Show values as results of the run: in the forms that they offer, else as text. Only in a session.

    display(data, "image/png") shows bytes or a text as the given media type.
    """
    show = getattr(_bridge, "display", None)
    if show is None:
        raise RuntimeError("Cannot display: this program runs in no session.")
    show(*values)


def set_value(value):
    """Set the job's value: anything with a JSON form, by default at most 256 KiB of it."""
    _bridge.set_value(value)
