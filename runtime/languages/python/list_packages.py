"""Says which Python this is, and which packages programs can import: `@ version`, then `name version`."""

import sys
from importlib.metadata import distributions

print("@ %d.%d" % sys.version_info[:2])
for distribution in distributions():
    # A package that is half removed has a folder and no name.
    if distribution.metadata["Name"]:
        print(distribution.metadata["Name"], distribution.version)
