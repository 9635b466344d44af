#!/usr/bin/env bash
# Takes the platform down again: down.sh [-k KUBECONFIG] [--local]. A cluster that up.sh made goes with it.
set -euo pipefail
# shellcheck source=hack/settings.sh
source "$(dirname "$0")/settings.sh"

while (($#)); do
  case $1 in
    -k)
      [[ -f ${2:-} ]] || die "-k ${2:-}: there is no such kubeconfig"
      export KUBECONFIG_GIVEN=$2
      shift
      ;;
    --local) export LOCAL=1 ;;
    *) die "unknown option $1" ;;
  esac
  shift
done

case $(target) in
  given)
    export KUBECONFIG=$KUBECONFIG_GIVEN
    if [[ -n $CUSTOM_PLATFORM ]]; then
      say "custom platform: helm uninstall $CUSTOM_RELEASE -n $NAMESPACE"
      helm uninstall "$CUSTOM_RELEASE" -n "$NAMESPACE" --ignore-not-found --wait --timeout "${TIMEOUT_SECONDS}s"
    fi
    say "platform: helm uninstall $RELEASE -n $NAMESPACE"
    helm uninstall "$RELEASE" -n "$NAMESPACE" --wait --timeout "${TIMEOUT_SECONDS}s"
    ;;
  kind)
    if [[ $(container_engine) == podman ]]; then
      export KIND_EXPERIMENTAL_PROVIDER=podman
    fi
    say "cluster: kind delete cluster --name $CLUSTER_NAME"
    kind delete cluster --name "$CLUSTER_NAME" --kubeconfig "$ROOT/build/$CLUSTER_NAME.kubeconfig"
    rm -f "$ROOT/build/$CLUSTER_NAME.kubeconfig"
    ;;
  local)
    if [[ -d $UP_DIR ]]; then
      say "cluster: codeflare down --data-dir $UP_DIR"
      "$CODEFLARE" down --data-dir "$UP_DIR" >/dev/null
      rm -rf "$UP_DIR"
    fi
    ;;
esac
say 'done'
