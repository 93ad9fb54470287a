"""Results of a run: the forms that a value offers, and their way to the supervisor.

Executed by session.py with its own names.
"""

import base64
import inspect
import json
import re

MOST_RESULTS = 64
MOST_FORMS = 16
TEXT_CHARACTERS = 100_000
#: Most rows of a table in JSON, and most characters; a larger table has only its other forms.
MOST_ROWS = 1_000
ROWS_CHARACTERS = 4 * 1024 * 1024
#: Display methods of objects, with their media types.
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
#: Binary forms.
BINARY = re.compile(r"application/pdf|(audio|video|image)/(?!svg\+xml$).*", re.IGNORECASE)
#: The registered top-level types.
TOP_LEVEL_TYPES = frozenset("application audio font haptics image message model multipart text video".split())


def as_bytes(form):
    if not isinstance(form, str):
        try:
            return memoryview(form).tobytes()
        except (TypeError, BufferError):
            # Not bytes.
            pass
    return (form if isinstance(form, str) else json.dumps(form, default=str)).encode(errors="replace")


def is_media_type(text):
    return len(text) <= 100 and re.fullmatch(r"[a-z0-9][a-z0-9.+-]*/[a-z0-9][a-z0-9.+-]*", text, re.ASCII | re.IGNORECASE)


def is_named_type(text):
    """Whether the second of two values is a media type for the first: `km/h` is not."""
    return is_media_type(text) and text.partition("/")[0].lower() in TOP_LEVEL_TYPES


def forms_of(value):
    """The forms that an object offers."""
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
        # An object that returns a value for any attribute has no real form.
        if isinstance(form, (str, bytes, bytearray, memoryview, dict, list)):
            found[media_type] = form
    if "text/html" in found and "application/json" not in found:
        rows = rows_of(value)
        found.update({} if rows is None else {"application/json": rows})
    return {str(media_type): form_bytes(str(media_type), form) for media_type, form in found.items()}


def form_bytes(media_type, form):
    """The bytes of a form. A picture given as text is base64, as in notebooks."""
    if isinstance(form, str) and BINARY.fullmatch(media_type):
        try:
            return base64.b64decode("".join(form.split()), validate=True)
        except ValueError:
            # The text is not base64.
            pass
    return as_bytes(form)


def rows_of(value):
    """The rows of a table of pandas or polars as JSON. A longer table ends with its total number of rows."""
    shape = getattr(value, "shape", None)
    if not (isinstance(shape, tuple) and len(shape) == 2 and isinstance(shape[0], int) and hasattr(value, "columns")):
        return None
    try:
        first = value.head(MOST_ROWS)
        text = json.dumps(first.to_dicts(), default=str) if hasattr(first, "to_dicts") else pandas_rows(first)
    except Exception:
        # A table with duplicate column names, or another kind of table, has no such form.
        return None
    if not (isinstance(text, str) and text.startswith("[") and len(text) <= ROWS_CHARACTERS):
        return None
    return text if shape[0] <= MOST_ROWS else f"{text[:-1]},{shape[0]}]"


def pandas_rows(table):
    index = table.index
    # A default index from 0 on is left out; any other index becomes a column.
    if getattr(index, "names", [None]) != [None] or type(index).__name__ != "RangeIndex":
        table = table.reset_index()
    return table.to_json(orient="records", date_format="iso", double_precision=15, force_ascii=False, default_handler=str)


class Display:
    """The results of one run, each sent as soon as it is shown."""

    def __init__(self, most_bytes, send):
        self.most_bytes = most_bytes
        self.send = send
        self.count, self.size, self.dropped = 0, 0, 0

    def put(self, forms):
        forms = dict([pair for pair in forms.items() if is_media_type(pair[0])][:MOST_FORMS])
        if not forms:
            return
        size = sum(map(len, forms.values()))
        if self.count >= MOST_RESULTS or self.size + size > self.most_bytes:
            self.dropped += 1
            return
        self.count += 1
        self.size += size
        self.send([[media_type, len(form)] for media_type, form in forms.items()], b"".join(forms.values()))

    def show(self, value, include=None, exclude=None):
        forms = forms_of(value)
        if "text/plain" not in forms:
            forms["text/plain"] = as_bytes((value if isinstance(value, str) else repr(value))[:TEXT_CHARACTERS])
        self.put({name: form for name, form in forms.items() if name in (include or forms) and name not in (exclude or ())})
