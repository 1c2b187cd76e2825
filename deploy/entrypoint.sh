#!/bin/sh
# numba refuses a cache folder that it cannot write to, even to read from: the baked one goes where writing is allowed.
set -eu
[ -d "$NUMBA_CACHE_DIR" ] || cp -R /opt/loom/numba "$NUMBA_CACHE_DIR"
exec "$@"
