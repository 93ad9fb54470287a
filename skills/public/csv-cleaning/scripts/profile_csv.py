#!/usr/bin/env python3
"""Profiles a CSV file: encoding, delimiter, rows of a wrong length, and what each column holds. Prints JSON.

Usage: profile_csv.py FILE [--delimiter CHARACTER] [--rows N]
Exit codes: 0 profiled, 2 wrong usage or unreadable file.
"""
import argparse
import codecs
import csv
import io
import json
import os
import re
import sys
from collections import Counter

MISSING = {'', 'na', 'n/a', 'nan', 'null', 'none', '-', '?', '#n/a'}
TYPES = [
    ('integer', re.compile(r'[+-]?\d+')),
    ('decimal_point', re.compile(r'[+-]?(\d+|\d{1,3}(,\d{3})+)?\.\d+([eE][+-]?\d+)?')),
    ('decimal_comma', re.compile(r'[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+')),
    ('date_iso', re.compile(r'\d{4}-\d{2}(-\d{2}([T ]\d{2}:\d{2}.*)?)?')),
    ('date_slash', re.compile(r'\d{1,2}[./-]\d{1,2}[./-](\d{4}|\d{2})')),
    ('boolean', re.compile(r'true|false|yes|no', re.IGNORECASE)),
]
MOJIBAKE = re.compile('\u00c3[\u0080-\u00bf]|\u00e2\u20ac|\ufffd')
INVISIBLE = re.compile('[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u00ad\u200b-\u200f\u2060\ufeff]')


def decode(data):
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode('utf-16'), 'utf-16'
    try:
        return data.decode('utf-8-sig'), 'utf-8 with mark' if data.startswith(codecs.BOM_UTF8) else 'utf-8'
    except UnicodeDecodeError:
        return data.decode('cp1252', errors='strict'), 'windows-1252 (assumed)'


def find_delimiter(text):
    """The candidate that gives the most fields, among those for which most rows have the same number of fields."""
    sample = '\n'.join(text.splitlines()[:200])
    best, best_score = ',', 0.0
    for candidate in ',;\t|':
        lengths = Counter(len(row) for row in csv.reader(io.StringIO(sample), delimiter=candidate) if row)
        if not lengths:
            continue
        length, count = lengths.most_common(1)[0]
        score = 0.0 if length < 2 else count / sum(lengths.values()) + length / 1000
        if score > best_score:
            best, best_score = candidate, score
    return best


def type_of(value):
    for name, pattern in TYPES:
        if pattern.fullmatch(value):
            return name
    return 'text'


def profile_column(values):
    trimmed = [value.strip() for value in values]
    present = [value for value in trimmed if value.lower() not in MISSING]
    types = Counter(type_of(value) for value in present)
    distinct = Counter(present)
    column = {
        'present': len(present),
        'missing': dict(Counter(value for value in trimmed if value.lower() in MISSING).most_common()),
        'types': dict(types.most_common()),
        'distinct': len(distinct),
        'most_common': distinct.most_common(5),
    }
    numbers = [float(value) for value in present if re.fullmatch(r'[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?', value)]
    if numbers:
        column['minimum'], column['maximum'] = min(numbers), max(numbers)
    signs = []
    if any(re.fullmatch(r'0\d+', value) for value in present):
        signs.append('leading zeros: identifier?')
    if len(types) > 1:
        signs.append('mixed types')
    if any(value != value.strip() for value in values):
        signs.append('blanks at the ends')
    if len({value.casefold() for value in distinct}) < len(distinct):
        signs.append('values that differ only in case')
    if any(MOJIBAKE.search(value) for value in present):
        signs.append('mojibake')
    if any(INVISIBLE.search(value) for value in values):
        signs.append('invisible characters')
    column['signs'] = signs
    return column


def profile(data, delimiter=None, limit=None):
    text, encoding = decode(data)
    if '\0' in text:
        raise ValueError('the file holds NUL characters, it is no text')
    delimiter = delimiter or find_delimiter(text)
    reader = csv.reader(io.StringIO(text, newline=''), delimiter=delimiter)
    header = next(reader, None)
    if header is None:
        raise ValueError('the file is empty')
    columns = [[] for _ in header]
    rows = blank = repeated_header = duplicates = 0
    wrong = []
    seen = set()
    for row in reader:
        if limit is not None and rows >= limit:
            break
        if not row:
            blank += 1
            continue
        rows += 1
        if len(row) != len(header):
            wrong.append({'line': reader.line_num, 'fields': len(row)})
            continue
        if row == header:
            repeated_header += 1
            continue
        key = tuple(row)
        duplicates += key in seen
        seen.add(key)
        for values, cell in zip(columns, row):
            values.append(cell)
    names = Counter(header)
    return {
        'encoding': encoding,
        'delimiter': delimiter,
        'columns_count': len(header),
        'rows': rows,
        'blank_lines': blank,
        'repeated_headers': repeated_header,
        'duplicate_rows': duplicates,
        'wrong_length_count': len(wrong),
        'wrong_length': wrong[:20],
        'repeated_names': [name for name, count in names.items() if count > 1],
        'columns': [{'name': name, **profile_column(values)} for name, values in zip(header, columns)],
    }


def main(arguments):
    parser = argparse.ArgumentParser(description='Profile a CSV file and print JSON.')
    parser.add_argument('file')
    parser.add_argument('--delimiter', help='one character; found out when not given')
    parser.add_argument('--rows', type=int, help='read at most this many rows')
    options = parser.parse_args(arguments)
    if options.delimiter is not None and len(options.delimiter) != 1:
        parser.error('--delimiter takes one character')
    if options.rows is not None and options.rows < 1:
        parser.error('--rows takes a positive number')
    csv.field_size_limit(2**31 - 1)
    try:
        # A script of a skill may run in the skill's own folder; the files of its job are then here.
        found = options.file if os.path.exists(options.file) else os.path.join(os.environ.get('WORKSPACE', ''), options.file)
        with open(found, 'rb') as file:
            result = profile(file.read(), options.delimiter, options.rows)
    except (OSError, ValueError, csv.Error) as error:
        print(f'Cannot profile {options.file}: {error}', file=sys.stderr)
        return 2
    json.dump(result, sys.stdout, ensure_ascii=False, indent=2)
    print()
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
