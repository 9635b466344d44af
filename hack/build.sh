#!/usr/bin/env bash
# Builds the program and its image; prints the archive of the image when no engine has it.
set -euo pipefail
# shellcheck source=hack/settings.sh
source "$(dirname "$0")/settings.sh"

archive="$ROOT/build/image/codeflare-$VERSION.tar"
if [[ ! -x $CODEFLARE ]]; then
  [[ $CODEFLARE == "$ROOT/build/static/codeflare" ]] || die "$CODEFLARE is missing"
  say 'build: the static program'
  "$ROOT/dev" build static codeflare
fi
if [[ ! -f $archive || $CODEFLARE -nt $archive ]]; then
  say "build: $IMAGE"
  "$ROOT/tools/image.py" "$CODEFLARE" --archive "$archive" >/dev/null
fi
