#!/usr/bin/env bash
# Fakes of the programs that bin/setup runs, each under its own name. VERSION and EXTENSIONS are filled in by the sandbox.
set -euo pipefail
VERSION=
EXTENSIONS=
SQLITE=3.46.1

# One mirror, one suite, packages that are empty files. Hosts that match $UNREACHABLE do not answer.
fake_apt_get() {
  [[ $1 != -c ]] || { configuration=$2; shift 2; }
  printf 'apt-get %s\n' "$*" >>"$CALLS"
  case $1 in
    indextargets) printf '%s\n' http://mirror.example/debian/ http://mirror.example/debian-security/ ;;
    update)
      sources=$(sed -n 's/^Dir::Etc::SourceList "\(.*\)";/\1/p' "$configuration")
      sed -n 's/^URIs: /reads /p' "$sources" >>"$CALLS"
      if grep -qE "^URIs: .*(${UNREACHABLE:-none})" "$sources"; then
        echo 'E: cannot be reached' >&2
        exit 100
      fi
      ;;
    --simulate)
      shift 2
      printf 'Inst %s (1 Debian)\n' libc6 perl-base "$@"
      ;;
    download)
      shift
      for package in "$@"; do : >"${package}_1_all.deb"; done
      ;;
  esac
}

# dpkg-deb --extract PACKAGE FOLDER for the packages of the fake apt-get: PHP's libc has a loader that starts the program
# it is given; so has tcc's.
fake_dpkg_deb() {
  folder=$3
  put() {
    mkdir -p -- "$(dirname -- "$folder/$1")"
    cat >"$folder/$1"
    chmod +x -- "$folder/$1"
  }
  case $(basename -- "$2") in
    libc6_*)
      put usr/lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 <<'LOADER'
#!/bin/sh
while [ "${1##*/}" != php8.4 ] && [ "${1##*/}" != tcc ]; do shift; done
exec "$@"
LOADER
      ;;
    php8.4-cli_*)
      mkdir -p -- "$folder/usr/lib/php/20240924"
      put usr/bin/php8.4 <"$(dirname -- "$0")/php-8.4"
      ;;
    phpunit_*) put usr/bin/phpunit </dev/null ;;
    composer_*)
      put usr/bin/composer </dev/null
      echo "require_once '/usr/share/php/Y/autoload.php';" |
        tee >(put usr/share/php/Vendor/X/autoload.php) | put usr/share/php/Vendor/autoload.php
      ;;
    promtool_*)
      for program in prometheus promtool prometheus-node-exporter prometheus-blackbox-exporter; do
        printf '#!/bin/sh\necho fake %s\n' "$program" | put "usr/bin/$program"
      done
      ;;
    libfaketime_*) echo library | put usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1 ;;
    tcc_*) put usr/bin/tcc <"$(dirname -- "$0")/fake-tcc" ;;
    python3-pip-whl_*) echo wheel | put usr/share/python-wheels/pip-25.whl ;;
  esac
}

# npm pack --pack-destination FOLDER -- NAME@VERSION: the packages hold tools that say VERSION, and are the same bytes every
# time. OFFLINE=1 makes it fail, HANG=1 stop half-way.
fake_npm() {
  folder=$3 name=${5%@*} version=${5##*@}
  printf 'npm %s\n' "$name@$version" >>"$CALLS"
  [[ -z ${OFFLINE-} ]] || { echo 'npm error network' >&2; exit 1; }
  tarball=$folder/$(basename -- "$name").tgz
  if [[ -n ${HANG-} ]]; then
    echo 'half a package' >"$tarball"
    echo "hanging as $$" >>"$CALLS"
    exec sleep 600
  fi
  scratch=$(mktemp -d)
  mkdir -p -- "$scratch/package/bin"
  for tool in bun node npm-cli.js npx-cli.js; do
    # shellcheck disable=SC2016  # the tool expands these
    printf '#!/bin/sh\n[ "$1" != install ] || { echo "bun $*" >>"$CALLS"; exit ${OFFLINE:-0}; }\necho %s\n' "$version" \
      >"$scratch/package/bin/$tool"
    chmod +x -- "$scratch/package/bin/$tool"
  done
  # In Brotli: a script that says "Chromium", and archives without files.
  printf '\213\013\200\043\041\057\142\151\156\057\163\150\012\145\143\150\157\040\103\150\162\157\155\151\165\155\012\003' \
    >"$scratch/package/bin/chromium.br"
  for archive in al2023 fonts; do
    printf '\033\377\003\370\047\000\242\261\100\040\067' >"$scratch/package/bin/$archive.tar.br"
  done
  tar -C "$scratch" --sort=name --mtime=@0 --owner=0 --group=0 -cf - package | gzip -n >"$tarball"
  rm -r -- "$scratch"
}

# PHP as far as bin/setup asks.
fake_php() {
  while [[ ${1-} == -? && $1 != -r ]]; do
    [[ $1 == -n ]] || shift
    shift
  done
  case "$*" in
    *PHP_BINARY*) printf %s "$0" ;;
    *PHP_VERSION\;*) printf %s "$VERSION" ;;
    -r*' -- '*)
      shift 3
      printf '%s\n' "$1" "$VERSION" | sort -V -C || exit 1
      printf '%s\n' "$2" "$SQLITE" | sort -V -C || exit 1
      shift 2
      for name; do [[ " $EXTENSIONS " == *" $name "* ]] || exit 1; done
      ;;
    *phpunit*' --version') echo 'PHPUnit 11.5.19 by Sebastian Bergmann and contributors.' ;;
    *composer' dump-autoload '*)
      mkdir -p -- "${!#}/vendor"
      echo "$*" >"${!#}/vendor/autoload.php"
      ;;
    *) printf 'fake php %s\n' "$VERSION" ;;
  esac
}

# Like Debian's, it has no ensurepip.
fake_python() {
  case "$*" in
    *python_version*) echo "$VERSION" ;;
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
    *) echo "fake python $VERSION" ;;
  esac
}

case ${0##*/} in
  apt-get) fake_apt_get "$@" ;;
  dpkg-deb) fake_dpkg_deb "$@" ;;
  php*) fake_php "$@" ;;
  python*) fake_python "$@" ;;
  *) fake_npm "$@" ;;
esac
