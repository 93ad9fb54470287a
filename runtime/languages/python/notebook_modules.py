"""IPython as the code of notebooks imports it: an installed IPython shows its results in this session; otherwise a stand-in does.

Executed by session.py with its own names.
"""

import importlib.util
import os
import sys

#: The modules of the stand-in, by their files.
STAND_INS = {
    "IPython": "__init__.py",
    "IPython.display": "display.py",
    "IPython.core": "core.py",
    "IPython.core.display": "display.py",
    "IPython.core.display_functions": "display.py",
    "IPython.core.getipython": "core.py",
}
#: Modules of an installed IPython whose display functions would print, because there is no kernel. From version 7.22 on the functions are
#: in the second module.
SHOWING = ("IPython.core.display", "IPython.core.display_functions")
NAMES = ("display", "update_display", "clear_output", "publish_display_data", "DisplayHandle")


class NotebookModules:
    """Finds these modules, and no other."""

    def __init__(self, folder):
        self.folder = folder

    def find_spec(self, name, path=None, target=None):
        if name not in STAND_INS:
            return None
        if name != "IPython" and getattr(sys.modules.get("IPython"), "__path__", None) == []:
            return self.stand_in(name, name)
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                return showing_here(spec, self) if name in SHOWING else spec
        # A module that the installed IPython lacks is missing.
        return self.stand_in(name, name) if name == "IPython" else None

    def stand_in(self, name, module):
        spec = importlib.util.spec_from_file_location(name, os.path.join(self.folder, STAND_INS[module]))
        # Packages without a path: this finder finds their modules.
        spec.submodule_search_locations = [] if name in ("IPython", "IPython.core") else None
        return spec


def showing_here(spec, modules):
    """The spec of an installed module, with the display functions of the stand-in."""
    execute = spec.loader.exec_module

    def exec_module(module):
        execute(module)
        ours = importlib.util.module_from_spec(modules.stand_in("_skillcell_display", "IPython.display"))
        ours.__spec__.loader.exec_module(ours)
        for name in NAMES:
            if hasattr(module, name):
                setattr(module, name, getattr(ours, name))

    spec.loader.exec_module = exec_module
    return spec


def install(folder):
    sys.meta_path.insert(0, NotebookModules(os.path.join(folder, "IPython")))
