"""The engine's configuration for one small machine: two cores, a few GB, other processes beside it."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as Xml

_MIB = 1 << 20
_SERVER = {
    # Half of the memory: workers, models and the HTTP server share the machine.
    "max_server_memory_usage_to_ram_ratio": "0.5",
    "mark_cache_size": str(256 * _MIB),
    "index_mark_cache_size": str(64 * _MIB),
    "primary_index_cache_size": str(128 * _MIB),
    "text_index_tokens_cache_size": str(32 * _MIB),
    "text_index_header_cache_size": str(32 * _MIB),
    "text_index_postings_cache_size": str(64 * _MIB),
    "vector_similarity_index_cache_size": str(256 * _MIB),
    "query_condition_cache_size": str(32 * _MIB),
    "compiled_expression_cache_size": str(32 * _MIB),
    "timezone": "UTC",  # D1
}

PROFILE = {
    "local_filesystem_read_method": "pread",
    "optimize_use_projections": "0",
    "optimize_use_implicit_projections": "0",
    "use_statistics": "0",
}
"""Most statements read a few rows of local files, and their plan costs more than their execution: what looks for
projections and statistics, of which the tables have none, is a quarter of it, and so is another pool's read."""
_LOG_LEVELS = {
    # A caller's wrong SQL is the caller's to see; here it would be 35 lines of stack each time.
    "executeQuery": "none",
    # With pools of one or two threads these warn all the time that a task waits for its turn.
    "BackgroundSchedulePool/BgSchPool": "error",
    "BackgroundSchedulePool/BgStrmSchPool": "error",
}


def write_config(path: Path) -> None:
    """Write the configuration file. Log lines go to standard error, at the level the engine is given."""
    root = Xml.Element("clickhouse")
    logger = Xml.SubElement(root, "logger")
    Xml.SubElement(logger, "console").text = "1"
    levels = Xml.SubElement(logger, "levels")
    for name, level in _LOG_LEVELS.items():
        own = Xml.SubElement(levels, "logger")
        Xml.SubElement(own, "name").text = name
        Xml.SubElement(own, "level").text = level
    for name, value in _SERVER.items():
        Xml.SubElement(root, name).text = value
    # Where the file names users of its own, they need to be as free as the engine's own would be.
    Xml.SubElement(root, "users_config").text = str(path)
    profile = Xml.SubElement(Xml.SubElement(root, "profiles"), "default")
    for name, value in PROFILE.items():
        Xml.SubElement(profile, name).text = value
    user = Xml.SubElement(Xml.SubElement(root, "users"), "default")
    for name, value in {"password": "", "profile": "default", "access_management": "1"}.items():
        Xml.SubElement(user, name).text = value
    path.write_bytes(Xml.tostring(root))
