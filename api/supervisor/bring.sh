# For `tools/setup/bring supervisor`: compiles supervisor.c into .tools/bin, by the system's C compiler or, where there is
# none, by the tcc of Debian $DEBIAN_SUITE against its musl (4 MB of packages).
# shellcheck shell=bash disable=SC2154  # sourced by `bring`

SOURCE=$ROOT/api/supervisor/supervisor.c

bring_supervisor() {
  if first_on_path cc compiles; then
    say "compiling the supervisor with $FOUND"
    run "The supervisor cannot be compiled with $FOUND." "$FOUND" -std=c11 -Os -o "$NEW/supervisor" "$SOURCE"
  else
    compile_with_tcc
  fi
  run "The supervisor that was compiled does not start." "$NEW/supervisor" --help
  place
  link supervisor "$PLACE/supervisor"
}

# What there is of that name may lack the headers of C.
compiles() {
  printf '#include <stdio.h>\nint main(void) { return puts(""); }\n' >"$NEW/trial.c"
  "$1" -o "$NEW/trial" "$NEW/trial.c" >>"$LOG" 2>&1 && rm -- "$NEW"/trial*
}

# tcc runs on the libc that it was built with.
compile_with_tcc() {
  local library headers tcc libc
  type -P apt-get dpkg-deb >/dev/null || fail "The supervisor is in C: install a C compiler (cc) and run bin/setup again."
  say "downloading tcc and musl from Debian $DEBIAN_SUITE (4 MB)"
  unpack_debian '^(libc6|musl-dev|tcc)$' tcc musl-dev
  libc=$(echo "$NEW"/usr/lib/*-linux-gnu) library=$(echo "$NEW"/usr/lib/*-linux-musl)
  headers=$(echo "$NEW"/usr/include/*-linux-musl) tcc=$libc/tcc
  run "The supervisor cannot be compiled with tcc." "$(echo "$libc"/ld-linux-*.so.*)" --library-path "$libc" \
    "$NEW/usr/bin/tcc" -nostdlib -nostdinc -static -B"$tcc" -I"$headers" -I"$tcc/include" -o "$NEW/supervisor" \
    "$library/crt1.o" "$library/crti.o" "$SOURCE" "$library/libc.a" "$tcc/libtcc1.a" "$library/crtn.o"
  rm -r -- "${NEW:?}/usr"
}
