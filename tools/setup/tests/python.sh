# The Python tools.
# shellcheck shell=bash

test_a_Python_without_ensurepip_gets_its_pip_from_Debian() {
  new_sandbox python-bare
  fake_debian
  fake_python 3.11.2
  setup python
  says 'download python3-pip-whl' "$(<"$CALLS")"
  says 'pip from python.new/usr/share/python-wheels/pip-25.whl/pip' "$(<"$CALLS")"
  [[ $("$CLONE/.tools/bin/locust") == locust ]]
  [[ $("$CLONE/.tools/bin/python3") == 'fake python 3.11.2' ]]
}

test_a_Python_older_than_3_11_is_refused() {
  new_sandbox python-old
  fake_python 3.10.12
  says 'Python 3.11 or newer is needed' "$(complaint python)"
}

test_an_environment_that_pip_could_not_fill_is_not_linked() {
  new_sandbox python-offline
  fake_python 3.11.2
  fake_debian
  says 'run bin/setup again' "$(OFFLINE=1 complaint python)"
  absent "$CLONE/.tools/bin/locust"
}

test_the_lock_holds_every_version_that_pyproject_names() {
  local requirements
  mapfile -t requirements < <(grep -o '[a-z-]*==[0-9.]*' "$ROOT/pyproject.toml")
  ((${#requirements[@]} > 5))
  for requirement in "${requirements[@]}"; do
    says "$requirement " "$(<"$ROOT/tools/setup/requirements.txt")"
  done
}
