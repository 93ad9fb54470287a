#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.8"
# dependencies = []
# ///
"""Sums the invoices of a table by customer: sum.py TABLE, with the columns `customer` and `amount`."""

import csv
import os
import sys

from amounts import in_cents, shown
from skillcell import set_value

with open(os.path.join(os.environ["WORKSPACE"], sys.argv[1]), encoding="utf-8", newline="") as table:
    rows = list(csv.DictReader(table))

sums = {}
for row in rows:
    sums[row["customer"]] = sums.get(row["customer"], 0) + in_cents(row["amount"])

with open(os.path.join(os.environ["OUTPUT_DIR"], "sums.csv"), "w", encoding="utf-8", newline="") as table:
    csv.writer(table).writerows([name, shown(cents)] for name, cents in sums.items())
for name, cents in sums.items():
    print(f"{name:<14}{shown(cents):>10}")
set_value(sums)
