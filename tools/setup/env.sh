# Sourced by every script in bin/: puts the tools that bin/setup installed first on PATH.
# The location comes from this file, so it works from any folder.
# shellcheck shell=bash

TV_ROOT=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
export TV_ROOT
case ":$PATH:" in
  ":$TV_ROOT/.tools/bin:"*) ;;
  *) export PATH="$TV_ROOT/.tools/bin:$PATH" ;;
esac
