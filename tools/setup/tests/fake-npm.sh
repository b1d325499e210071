#!/usr/bin/env bash
# A fake npm that knows `npm pack --pack-destination FOLDER -- NAME@VERSION`: its packages
# hold tools that say VERSION, and are the same bytes every time. OFFLINE=1 makes it fail,
# HANG=1 stop half-way.
set -euo pipefail
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
