# The Python tools of requirements.txt in a virtual environment of the system's Python.
# The scripts of a virtual environment name their interpreter by its path: .tools/bin has scripts
# of our own that start them by the interpreter, so that the checkout may be moved. It is built in
# its place, and linked and stamped only when its last package is in.
# shellcheck shell=bash disable=SC2154  # sourced by `bring`

COMMANDS='locust mypy pytest ruff schemathesis shellcheck'

bring_python() {
  local python pip
  first_on_path python3 is_new_python ||
    fail "Python $PYTHON_MINIMUM or newer is needed: install it (on Debian: apt-get install python3, on macOS: brew install python) and run bin/setup again."
  python=$("$FOUND" -c 'import sys; print(sys._base_executable)') # behind any shim or environment
  say "using $python, downloading the packages of tools/setup/requirements.txt (55 MB)"
  rm -rf -- "$PLACE"
  make_environment
  run "pip could not install tools/setup/requirements.txt: check the network and at \`pip config list\`, then run bin/setup again." \
    "${pip[@]}" install --disable-pip-version-check --require-hashes --no-deps --only-binary :all: \
    --requirement "$ROOT/tools/setup/requirements.txt"
  publish
}

is_new_python() { at_least "$("$1" -c 'import platform; print(platform.python_version())' 2>/dev/null || echo 0)" "$PYTHON_MINIMUM"; }

# Debian's python3 comes without the pip that a virtual environment starts from.
make_environment() {
  local sentence="$python cannot make a virtual environment: install its venv module (on Debian: apt-get install python3-venv) and run bin/setup again."
  if "$python" -c 'from ensurepip import version' 2>/dev/null; then
    run "$sentence" "$python" -m venv "$PLACE"
    pip=("$PLACE/bin/python" -m pip)
  else
    type -P apt-get dpkg-deb >/dev/null || fail "$sentence"
    run "$sentence" "$python" -m venv --without-pip "$PLACE"
    unpack_debian '^python3-pip-whl$' python3-pip-whl
    pip=("$PLACE/bin/python" "$(echo "$NEW"/usr/share/python-wheels/pip-*.whl)/pip")
  fi
}

# Python looks for its environment beside the path it was called by: a link would lose it.
publish() {
  local name
  rm -f -- "$PLACE"/bin/[Aa]ctivate* # they name this folder
  for name in python python3; do
    start_by_python | wrap "$name"
  done
  for name in $COMMANDS; do
    if [[ $(head -c 2 -- "$PLACE/bin/$name") == '#!' ]]; then
      start_by_python "$PLACE/bin/$name" | wrap "$name"
    else
      link "$name" "$PLACE/bin/$name"
    fi
  done
  stamp_covers "$TOOL" "$PLACE/bin/python"
  stamp_covers "$TOOL" "$python"
}

# The last line of a wrapper that runs SCRIPT, or Python itself.
start_by_python() {
  printf 'exec %s' "$(in_checkout "$PLACE/bin/python")"
  [[ $# -eq 0 ]] || printf ' %s' "$(in_checkout "$1")"
  printf ' "$@"\n'
}
