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
  local) say 'init: codeflare up, without containers (no kind, or neither docker nor podman works)' ;;
esac
