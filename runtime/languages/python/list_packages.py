"""Prints the version of this Python, and the packages that programs can import: `@ version`, then `name version`."""

import sys
from importlib.metadata import distributions

print("@ %d.%d" % sys.version_info[:2])
for distribution in distributions():
    # A half removed package has a folder and no name.
    if distribution.metadata["Name"]:
        print(distribution.metadata["Name"], distribution.version)
