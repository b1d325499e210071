#!/usr/bin/env bash
# A fake Python that is VERSION (filled in by the sandbox) and, like Debian's, has no ensurepip.
set -euo pipefail
case "$*" in
  *python_version*) echo VERSION ;;
  *_base_executable*) echo "$0" ;;
  *ensurepip*) exit 1 ;;
  '-m venv '*)
    printf 'python %s\n' "-m venv $3" >>"$CALLS"
    folder=${*: -1}
    mkdir -p -- "$folder/bin"
    cp -- "$0" "$folder/bin/python"
    ;;
  *'pip '*install*)
    printf 'pip from %s\n' "${1##*/.tools/}" >>"$CALLS"
    [[ -z ${OFFLINE-} ]] || exit 1
    for name in locust mypy pytest ruff schemathesis shellcheck; do
      printf '#!/bin/sh\necho %s\n' "$name" >"${0%/*}/$name"
      chmod +x -- "${0%/*}/$name"
    done
    ;;
  */python/bin/*) exec "$@" ;; # a script of the environment
  *) echo "fake python VERSION" ;;
esac
