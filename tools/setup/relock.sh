#!/usr/bin/env bash
# Updates the locks after a change of versions in package.json, versions.sh or pyproject.toml: npm-hashes.txt as
# the npm registry has it now, requirements.txt as uv resolves the dependency groups for every platform.
set -euo pipefail
TOOL=relock
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"

main() {
  type -P npm uv >/dev/null || fail "Locking needs npm and uv (https://docs.astral.sh/uv/) on PATH: install what is missing."
  cd -- "$ROOT/tools/setup"
  npm_hashes >npm-hashes.new
  mv -- npm-hashes.new npm-hashes.txt
  uv pip compile --quiet --upgrade --universal --python-version "$PYTHON_MINIMUM" --generate-hashes --no-annotate \
    --custom-compile-command tools/setup/relock.sh --group ../../pyproject.toml:dev --output-file requirements.txt
}

# The packages are those of the present list.
npm_hashes() {
  local name version hash
  echo '# Written by tools/setup/relock.sh: name, version, SHA-512 of every npm package that bin/setup may unpack.'
  while read -r name _; do
    case $name in
      \#*) continue ;;
      npm) version=$NPM_VERSION ;;
      node-*) version=$NODE_VERSION ;;
      @sparticuz/chromium) version=$CHROMIUM_VERSION ;;
      *) version=$BUN_VERSION ;;
    esac
    hash=$(npm view "$name@$version" dist.integrity)
    [[ $hash == sha512-* ]] || fail "npm has no $name@$version: choose another version."
    printf '%s %s %s\n' "$name" "$version" "$hash"
  done <npm-hashes.txt
}

main
