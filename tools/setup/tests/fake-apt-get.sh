#!/usr/bin/env bash
# A fake apt-get: one mirror, one suite, packages that are empty files. Hosts that match
# $UNREACHABLE do not answer.
set -euo pipefail
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
