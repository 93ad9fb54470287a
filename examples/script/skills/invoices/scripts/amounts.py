"""Amounts of money as people write them, in cents."""

import re


def in_cents(text):
    """`1.480,00`, `1,480.00` and `1480`: only a mark with two digits behind it is the decimal one."""
    whole, _, cents = re.fullmatch(r"([0-9][0-9.,]*?)(([.,])([0-9]{2}))?", text.strip()).group(1, 3, 4)
    return int(re.sub(r"[.,]", "", whole)) * 100 + int(cents or 0)


def shown(cents):
    return f"{cents // 100}.{cents % 100:02}"
