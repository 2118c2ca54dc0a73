#!/usr/bin/env python3
"""Miss ratios of a page cache by scale, distribution of keys and share of the data that is cached: the tables of
docs/model.md, and the figures against which crates/workload/src/page_cache.rs is tested.

The cache is an LRU of chunks, by Che's approximation (Che, Tung & Wang, IEEE JSAC 20, 2002). Each rank of popularity p
falls on one of C chunks at random. In the mean over where ranks fall, a chunk is cached with 1 - exp(-G(T) / C), where
G(T) = sum(1 - exp(-p T)) over ranks, so that with a share s cached

    G(T) = -C ln(1 - s)        misses = (1 - s) sum(p exp(-p T))

The program reckons otherwise: it lets ranks fall on chunks (few chunks), or gives each its own (many).

    scripts/model-misses.py            # the tables, in some seconds
"""

import math

RECORD_BYTES = 1_000
CHUNK_BYTES = 16_384
# YCSB's scrambled zipfian: so many ranks, whatever the number of records (ScrambledZipfianGenerator.ITEM_COUNT).
RANKS = 10**10
CONSTANT = 0.99
SHARES = (0.05, 0.1, 0.2, 0.3, 0.5)
SCALES = (1, 4, 16, 64)


def zipfian(ranks):
    """(number of ranks, popularity of each): each of the first thousand, then ranks within 1 % of each other."""
    bins, first = [], 1
    while first <= ranks:
        last = min(ranks, max(first, int(first * 1.01))) if first > 1000 else first
        middle = math.sqrt(first * last)
        bins.append((last - first + 1, middle**-CONSTANT))
        first = last + 1
    weight = sum(n * p for n, p in bins)
    return [(n, p / weight) for n, p in bins]


def at(bins, chunks, time):
    """(share cached, share of the reads that miss) at a characteristic time."""
    left = math.exp(-sum(n * -math.expm1(-p * time) for n, p in bins) / chunks)
    return 1 - left, left * sum(n * p * math.exp(-p * time) for n, p in bins)


def where(bins, chunks, is_too_short):
    """The point at which it is no longer so, by bisection over ln T."""
    low, high = 0.0, math.log(1e15)
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if is_too_short(*at(bins, chunks, math.exp(middle))) else (low, middle)
    return at(bins, chunks, math.exp(low))


def misses(bins, chunks, share):
    return where(bins, chunks, lambda cached, _: cached < share)[1]


def share_for(bins, chunks, miss):
    return where(bins, chunks, lambda _, missed: missed > miss)[0]


def table(title, bins_of, records):
    print(f"\n{title}, {records:,} records at full scale: misses, and the share cached that keeps those of 1:1")
    print("| share cached | " + " | ".join(f"1:{scale}" for scale in SCALES) + " |")
    print("|---" * (len(SCALES) + 1) + "|")
    models = [(bins_of(records // scale), records // scale * RECORD_BYTES / CHUNK_BYTES) for scale in SCALES]
    for share in SHARES:
        row = [misses(bins, chunks, share) for bins, chunks in models]
        kept = [share_for(bins, chunks, row[0]) for bins, chunks in models]
        cells = [f"{row[0]:.3f}"]
        cells += [f"{miss:.3f} ({miss / row[0]:.2f}); {kept * 100:.0f} %" for miss, kept in list(zip(row, kept))[1:]]
        print(f"| {share * 100:.0f} % | " + " | ".join(cells) + " |")


def main():
    scrambled = zipfian(RANKS)
    for records in (100_000_000, 6_400_000):
        table("zipfian", lambda rows: scrambled, records)
    table("latest", zipfian, 100_000_000)


if __name__ == "__main__":
    main()
