#!/usr/bin/env bash
# Applies tests/templates and tests/runs and watches the Runs: deploy-tests.sh [-k KUBECONFIG] [--until-done]
#   -k KUBECONFIG  in this cluster; else in the one that hack/up.sh made; else in that of the environment variable KUBECONFIG
#   --until-done   end when every Run has ended: 0 if each ended as its annotation codeflare.dev/expect says
set -euo pipefail
# shellcheck source=hack/settings.sh
source "$(dirname "$0")/../../hack/settings.sh"

UNTIL_DONE=
WAIT_SECONDS=${WAIT_SECONDS:-1200}
while (($#)); do
  case $1 in
    -k)
      [[ -f ${2:-} ]] || die "-k ${2:-}: there is no such kubeconfig"
      KUBECONFIG_GIVEN=$2
      shift
      ;;
    --until-done) UNTIL_DONE=1 ;;
    *) die "unknown option $1" ;;
  esac
  shift
done
export KUBECONFIG
KUBECONFIG=$(test_kubeconfig)
need kubectl 'https://kubernetes.io/docs/tasks/tools'

say "templates: kubectl apply -R -f tests/templates"
kubectl apply -f "$ROOT/tests/templates/namespace.yaml"
kubectl apply -R -f "$ROOT/tests/templates"
# Those of an object store only where there is one.
S3_IS_THERE=1
if ! kubectl get service codeflare-s3 -n "$NAMESPACE" >/dev/null 2>&1; then
  say "SKIP test1, test2: no object store; S3=1 hack/up.sh installs one"
  S3_IS_THERE=
fi
RUNS=()
while read -r file; do
  case $file in */test1.yaml | */test2.yaml) [[ -n $S3_IS_THERE ]] || continue ;; esac
  RUNS+=(-f "$file")
done < <(find "$ROOT/tests/runs" -name '*.yaml' | sort)
say "runs: kubectl apply -R -f tests/runs"
kubectl apply "${RUNS[@]}"
if [[ -z $UNTIL_DONE ]]; then
  exec kubectl get runs.codeflare.dev --all-namespaces --watch
fi

# NAMESPACE NAME PHASE EXPECTED, a Run a line.
runs() {
  kubectl get "${RUNS[@]}" -o go-template='{{range .items}}{{.metadata.namespace}} {{.metadata.name}} {{with .status}}{{.phase}}{{else}}Pending{{end}} {{index .metadata.annotations "codeflare.dev/expect"}}{{"\n"}}{{end}}'
}
# The log of a Run that completed, the message of one that failed.
told() { # NAMESPACE NAME PHASE
  if [[ $3 == Completed ]]; then
    pod=$(kubectl get runs.codeflare.dev "$2" -n "$1" -o jsonpath='{.status.headPod}')
    kubectl logs "$pod" -n "$1"
  else
    kubectl get runs.codeflare.dev "$2" -n "$1" -o jsonpath='{.status.message}'
  fi
}
deadline=$((SECONDS + WAIT_SECONDS))
while grep -qvE '^\S+ \S+ (Completed|Failed) ' <<<"$(runs)"; do
  if ((SECONDS > deadline)); then
    kubectl get runs.codeflare.dev --all-namespaces
    die "not every Run ended within $WAIT_SECONDS s"
  fi
  sleep 1
done
wrong=0
while read -r namespace name phase wanted text; do
  if [[ $phase == "${wanted%:}" ]] && grep -qF -- "$text" <<<"$(told "$namespace" "$name" "$phase")"; then
    say "PASS $namespace/$name: $phase: $text"
  else
    say "FAIL $namespace/$name: $phase, expected $wanted $text; got: $(told "$namespace" "$name" "$phase" | tail -n 3)"
    wrong=$((wrong + 1))
  fi
done < <(runs)
((wrong == 0)) || die "$wrong Runs did not end as expected"
