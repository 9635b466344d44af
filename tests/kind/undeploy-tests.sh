#!/usr/bin/env bash
# Deletes what deploy-tests.sh applied: undeploy-tests.sh [-k KUBECONFIG]
set -euo pipefail
# shellcheck source=hack/settings.sh
source "$(dirname "$0")/../../hack/settings.sh"

if [[ ${1:-} == -k ]]; then
  [[ -f ${2:-} ]] || die "-k ${2:-}: there is no such kubeconfig"
  KUBECONFIG_GIVEN=$2
elif (($#)); then
  die "unknown option $1"
fi
export KUBECONFIG
KUBECONFIG=$(test_kubeconfig)
say 'runs: kubectl delete -R -f tests/runs'
kubectl delete -R -f "$ROOT/tests/runs" --ignore-not-found --wait
say 'templates: kubectl delete -R -f tests/templates'
kubectl delete -R -f "$ROOT/tests/templates" --ignore-not-found --wait
