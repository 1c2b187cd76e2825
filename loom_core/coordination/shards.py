"""Namespaces spread over shards, so that more machines take more of them."""

from __future__ import annotations

import hashlib

from loom_core.tenancy import Scope


def shard_of(scope: Scope, shards: int) -> int:
    """The shard in [0, shards) of a namespace: the same in every process and release.

    Org and namespace are hashed with the length of the first, so that no two pairs run together.
    """
    org = scope.org.encode("utf-8", "surrogatepass")
    namespace = scope.namespace.encode("utf-8", "surrogatepass")
    hashed = hashlib.blake2b(len(org).to_bytes(8, "little") + org + namespace, digest_size=8)
    return int.from_bytes(hashed.digest(), "little") % shards
