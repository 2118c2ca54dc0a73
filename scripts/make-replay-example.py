#!/usr/bin/env python3
"""Writes examples/replay.jsonl: 75 seconds of requests for the tables of examples/replay.cql, the same ones each time.

    scripts/make-replay-example.py >examples/replay.jsonl

A few pages are asked for often, visitors come for some seconds each, and there is a busier quarter of a minute. Values are
in the binary form of the protocol, as a driver would send them: whole numbers of 4 bytes, most significant first; text.
"""

import json
import random

PAGES, VISITORS, SECONDS = 200_000, 50_000, 75
READ_PAGE = "SELECT title, body FROM pages WHERE page = ?"
LAST_SEEN = "SELECT seen, page FROM visits WHERE visitor = ? LIMIT ?"
SEE = "INSERT INTO visits (visitor, seen, page) VALUES (?, ?, ?)"
WRITE = "UPDATE pages SET title = ? WHERE page = ?"


def number(value):
    return f"0x{value:08x}"


def text(value):
    return "0x" + value.encode().hex()


def main():
    # Only random() is used: its sequence is the same in all versions of Python.
    chance = random.Random(1).random

    def page():
        # The third power of a uniform number: few pages are popular. The factor, a prime, spreads them.
        return int(PAGES * chance() ** 3) * 7919 % PAGES

    at, visitor, seen = 0.0, 0, 0
    while at < SECONDS:
        rate = 28 if 30 <= at < 45 else 14
        # Gaps of up to twice the mean: nothing looks lost.
        at += min(chance() * 2, 1.9) / rate
        if chance() < 0.2:
            visitor = int(VISITORS * chance())
        seen += 1
        draw = chance()
        if draw < 0.6:
            statement, values, level = READ_PAGE, [number(page())], "one"
        elif draw < 0.8:
            statement, values, level = LAST_SEEN, [number(visitor), number(10)], "one"
        elif draw < 0.95:
            statement, values, level = SEE, [number(visitor), number(1_000 + seen), number(page())], "quorum"
        else:
            statement, values, level = WRITE, [text(f"title {seen}"), number(page())], "quorum"
        line = {"at": int(at * 1e6), "statement": statement, "values": values, "consistency": level}
        print(json.dumps(line))


main()
