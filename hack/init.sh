#!/usr/bin/env bash
# Names what up.sh needs and this machine does not have, with the command for it.
set -euo pipefail
# shellcheck source=hack/settings.sh
source "$(dirname "$0")/settings.sh"

need helm 'https://helm.sh/docs/intro/install, or: go install helm.sh/helm/v3/cmd/helm@v3.20.2'
need kubectl 'https://kubernetes.io/docs/tasks/tools'
case $(target) in
  given) say "init: the cluster of $KUBECONFIG_GIVEN" ;;
  kind) say "init: kind by $(container_engine)" ;;
  local)
    say 'init: codeflare up, without containers (no kind, or neither docker nor podman works)'
    if [[ $RAY_VENV != none && ! -x $RAY_VENV/bin/ray ]]; then
      need python3 'apt-get install python3 python3-venv, or set RAY_VENV=none to do without Ray'
      say "init: Ray and qiskit for the examples, once, in $RAY_VENV (RAY_VENV=none: do without)"
      log="$ROOT/build/ray-venv.log"
      mkdir -p "$ROOT/build"
      if ! { python3 -m venv "$RAY_VENV" && "$RAY_VENV/bin/pip" install --quiet --no-deps -r "$ROOT/hack/requirements.txt"; } >"$log" 2>&1; then
        rm -rf "$RAY_VENV"
        die "no Python environment with Ray: $(tail -n 1 "$log"); see $log, or set RAY_VENV=none to do without"
      fi
    fi
    ;;
esac
