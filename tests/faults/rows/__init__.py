"""One module per family of faults, in the order of the table."""

import importlib

FAMILIES = ("killed", "stopped", "clocks", "crashes", "lines", "pooler", "partitions", "failover", "unreplicated",
            "patroni", "full_disk", "restored")


def load() -> None:
    for family in FAMILIES:
        importlib.import_module(f"rows.{family}")
