#!/usr/bin/env bash
# Lets Composer list the writer's classes again (writer/vendor/autoload.php) when a file or a folder of them is newer
# than that list: a class may have been added, moved or removed. Takes a quarter of a second and no network.
set -euo pipefail
TOOL=php
# shellcheck source=tools/setup/tool.sh
. "$(dirname -- "${BASH_SOURCE[0]}")/tool.sh"

WRITER=$ROOT/writer
LIST=$WRITER/vendor/autoload.php

[[ ! -f $LIST || -n $(find "$WRITER"/{composer.json,src,tests} \( -type d -o -name '*.php' -o -name composer.json \) \
  -newer "$LIST" -print -quit 2>/dev/null) ]] || exit 0
run "Composer could not write writer/vendor/autoload.php: is there space left, and is the folder yours?" \
  env COMPOSER_HOME="$NEW.composer" COMPOSER_ALLOW_SUPERUSER=1 \
  "$TOOLS/bin/composer" dump-autoload --dev --no-interaction --no-plugins --working-dir "$WRITER"
rm -rf -- "$NEW.composer"
touch -- "$LIST" # Composer leaves a file as it is when nothing in it changes
