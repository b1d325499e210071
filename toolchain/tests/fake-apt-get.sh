#!/usr/bin/env bash
# A fake apt-get: one mirror, one suite, packages that are empty files.
set -euo pipefail
[[ $1 != -c ]] || { configuration=$2; shift 2; }
printf 'apt-get %s\n' "$*" >>"$CALLS"
case $1 in
  indextargets) printf '%s\n' http://mirror.example/debian/ http://mirror.example/debian-security/ ;;
  update)
    [[ -z ${OFFLINE-} ]] || { echo 'E: no route to mirror.example' >&2; exit 100; }
    sed -n 's/^URIs: /reads /p' "$(sed -n 's/^Dir::Etc::SourceList "\(.*\)";/\1/p' "$configuration")" >>"$CALLS"
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
