# A sandbox for one test: a copy of bin/setup and tools/setup in a folder with a space, and a
# PATH with nothing on it but basic commands and fakes of what talks to the network. Each
# fake notes its call in $CALLS.
# shellcheck shell=bash disable=SC2034

BASIC_COMMANDS='awk basename bash cat chmod cksum cp cut dirname env find flock grep gzip head
  ldd ln ls mkdir mktemp mv paste readlink rm sed sha256sum sh sleep sort tail tar tee touch tr uname xargs'

# Makes the folder of basic commands that all sandboxes share.
make_system() {
  local name
  SYSTEM=$SCRATCH/system
  mkdir -- "$SYSTEM"
  for name in $BASIC_COMMANDS; do
    ln -s -- "$(type -P "$name")" "$SYSTEM/$name"
  done
  REAL_NODE=$(type -P node)
}

# Enters a new sandbox; sets CLONE, FAKES (first on PATH) and CALLS.
new_sandbox() {
  CLONE="$SCRATCH/$1/my clone" FAKES=$SCRATCH/$1/bin CALLS=$SCRATCH/$1/calls
  mkdir -p -- "$CLONE/bin" "$CLONE/tools" "$CLONE/writer" "$FAKES"
  : >"$CALLS"
  cp -R -- "$ROOT/tools/setup" "$CLONE/tools/setup"
  cp -- "$ROOT/bin/setup" "$CLONE/bin/setup"
  cp -- "$ROOT/writer/composer.json" "$CLONE/writer/composer.json"
  fake npm <"$TESTS/fakes.sh"
  fake_node 20.0.0
  : >"$CLONE/tools/setup/npm-hashes.txt"
  pin_bun 1.2.3
  # shellcheck source=tools/setup/versions.sh
  ROOT=$CLONE . "$CLONE/tools/setup/versions.sh"
  pin_hashes "$NODE_VERSION"
  pin_hashes "$NPM_VERSION"
  pin_hashes "$CHROMIUM_VERSION"
}

# A program of the sandbox: as in a shell of somebody without any tool. What OFFLINE, HANG and UNREACHABLE do, the fakes
# tell.
program() { (become_program "$@"); }

become_program() {
  exec env -i PATH="${PREPEND:+$PREPEND:}$FAKES:$SYSTEM" HOME="$SCRATCH" CALLS="$CALLS" \
    OFFLINE="${OFFLINE-}" HANG="${HANG-}" UNREACHABLE="${UNREACHABLE-}" bash "$CLONE/$1" "${@:2}"
}

setup() { program bin/setup "$@"; }

bring() { program tools/setup/bring "$@"; }

# What `setup ARGUMENT…` says, which must fail.
complaint() { complaint_of setup "$@"; }

complaint_of() {
  local said
  if said=$("$@" 2>&1); then
    echo "$* was expected to fail and said: $said" >&2
    return 1
  fi
  printf '%s\n' "$said"
}

# Puts the script on standard input on the sandbox's PATH as NAME.
fake() {
  cat >"$FAKES/$1"
  chmod +x -- "$FAKES/$1"
}

# A node that says it is VERSION and hashes for real.
fake_node() {
  fake node <<FAKE
#!/bin/sh
case "\$2" in
  process.versions.node) echo $1 ;;
  process.execPath) echo "\$0" ;;
  *) exec "$REAL_NODE" "\$@" ;;
esac
FAKE
}

# A bun that says it is VERSION.
fake_bun() {
  # shellcheck disable=SC2016  # the fake expands these
  printf '#!/bin/sh\ncase "$1" in -p) echo "$0" ;; *) echo %s ;; esac\n' "$1" | fake bun
}

# A php that says it is VERSION and has EXTENSIONS (all that are wanted, if none are named).
fake_php() {
  sed "s/^VERSION=/&$1/; s/^EXTENSIONS=/&'${2-$PHP_EXTENSIONS}'/" "$TESTS/fakes.sh" | fake "${3-php}"
}

# An apt whose archive has PHP 8.4.99.
fake_debian() {
  fake apt-get <"$TESTS/fakes.sh"
  fake dpkg-deb <"$TESTS/fakes.sh"
  echo 'echo amd64' | fake dpkg
  fake_php 8.4.99 "$PHP_EXTENSIONS" php-8.4
  sed -i.orig "s|^KEYRING=.*|KEYRING=$FAKES/dpkg|" "$CLONE/tools/setup/archives.sh"
}

fake_python() { sed "s/^VERSION=/&$1/" "$TESTS/fakes.sh" | fake python3; }

# A go that says it is VERSION and builds a program that starts.
fake_go() {
  fake go <<FAKE
#!/bin/sh
echo "go \$*" >>"\$CALLS"
[ "\$1" != env ] || { echo go$1; exit; }
[ -z "\$OFFLINE" ] || { echo 'dial tcp: lookup proxy: no such host' >&2; exit 1; }
while [ "\$1" != -o ]; do shift; done
printf '#!/bin/sh\necho 9.9\n' >"\$2"
chmod +x "\$2"
FAKE
}

# package.json asks for Bun VERSION.
pin_bun() {
  printf '{ "packageManager": "bun@%s" }\n' "$1" >"$CLONE/package.json"
  pin_hashes "$1"
}

# npm-hashes.txt gets the hash that the fake npm's packages of VERSION have.
pin_hashes() {
  local name hash=$SCRATCH/hash-$1
  [[ -f $hash ]] || hash_of_fake "$1" >"$hash"
  for name in npm @sparticuz/chromium node-linux-{x64,arm64} @oven/bun-linux-{x64,aarch64}{,-musl} @oven/bun-linux-x64{,-musl}-baseline; do
    printf '%s %s sha512-%s\n' "$name" "$1" "$(<"$hash")"
  done >>"$CLONE/tools/setup/npm-hashes.txt"
}

hash_of_fake() (
  cd -- "$SCRATCH" || exit
  CALLS=/dev/null bash "$TESTS/fakes.sh" pack --pack-destination . -- "any@$1"
  "$REAL_NODE" -p 'require("crypto").createHash("sha512").update(require("fs").readFileSync("any.tgz")).digest("base64")'
)

# Every file in .tools with its time and size.
snapshot() { find "$CLONE/.tools" ! -type d -exec ls -ln --time-style=full-iso -- {} + | sort; }

says() { [[ $2 == *"$1"* ]] || { printf 'expected "%s" in:\n%s\n' "$1" "$2"; return 1; }; }

absent() { [[ ! -e $1 ]] || { printf '%s should not be there\n' "$1"; return 1; }; }

# Waits until COMMAND succeeds, for at most five minutes: only a fault takes so long, on a busy machine.
await() {
  local try
  for try in {1..6000}; do
    ! "$@" 2>/dev/null || return 0
    sleep 0.05
  done
  printf 'gave up after %d tries: %s\n' "$try" "$*"
  return 1
}

# In a container without an init, an ended process stays on as a zombie.
has_ended() { ! kill -0 "$1" || grep -q '^State:.*Z' "/proc/$1/status"; }
