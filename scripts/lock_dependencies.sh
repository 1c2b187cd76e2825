#!/usr/bin/env bash
# Writes the lock files from pyproject.toml: every version pinned, every file by its hash, no index host named.
# Run it with an interpreter of the oldest supported Python: later ones read the same lock.
set -euo pipefail
cd "$(dirname "$0")/.."
compile() {
    local output=$1
    shift
    .venv/bin/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links --no-emit-trusted-host \
        --strip-extras --allow-unsafe --no-header "$@" -o "$output" pyproject.toml
    # The project itself is installed from its folder, so it has no hash.
    sed -i '/^loom-memory @ /,/^    # via/d; /^# WARNING: pip install will require/d; /^# Consider using a hashable URL/d' "$output"
}
compile lock/dev.txt --all-extras
compile lock/run.txt --extra embedded --extra spacy --extra litellm --extra communities --extra tracing --constraint lock/dev.txt
