"""`print` of a session: writes the output of one call at once, so that it arrives as one piece.

The streams of a session do not buffer, and Python's `print` writes each value and each space separately.
Executed by session.py with its own names.
"""

import builtins
import functools
import io
import sys

write_each = builtins.print
#: Printing these types runs no code of the program, which might print as well.
PLAIN = frozenset([str, int, float, complex, bool, bytes, type(None)])


@functools.wraps(write_each)
def print(*values, **options):
    stream = options.get("file") or sys.stdout
    is_own = stream is sys.__stdout__ or stream is sys.__stderr__
    if stream is None or not is_own or any(type(value) not in PLAIN for value in values[1:]):
        return write_each(*values, **options)
    whole = io.StringIO(newline="")
    write_each(*values, **{**options, "file": whole, "flush": False})
    stream.write(whole.getvalue())
    if options.get("flush"):
        stream.flush()


def install():
    builtins.print = print
