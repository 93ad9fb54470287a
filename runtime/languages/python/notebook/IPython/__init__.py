"""Replaces IPython in a session that does not have it: the display functions of notebooks, and no shell."""

from IPython import display
from IPython.core import get_ipython

__version__ = "8.0.0"
version_info = (8, 0, 0, "")
__all__ = ["display", "get_ipython", "version_info"]
