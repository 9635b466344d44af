#!/usr/bin/env bash
# Puts the credentials of my.secrets.sh, if there is one, into the cluster of KUBECONFIG.
set -euo pipefail
# shellcheck source=hack/settings.sh
source "$(dirname "$0")/settings.sh"

file="$ROOT/hack/my.secrets.sh"
if [[ ! -f $file ]]; then
  say 'secrets: none (hack/my.secrets.sh.template says how to add some)'
  exit 0
fi
# shellcheck disable=SC1090
source "$file"
[[ -n ${REPO_USER:-} && -n ${REPO_TOKEN:-} ]] || die 'hack/my.secrets.sh sets no REPO_USER and REPO_TOKEN'
quoted() { # a text of YAML that stands for any one line
  printf "'%s'" "$(printf '%s' "$1" | sed "s/'/''/g")"
}
# By standard input: what is in an argument list, everybody on the machine can read.
kubectl apply -f - >/dev/null <<YAML
apiVersion: v1
kind: Secret
metadata: {name: repo-secret, namespace: $NAMESPACE}
stringData: {user: $(quoted "$REPO_USER"), pat: $(quoted "$REPO_TOKEN")}
YAML
say "secrets: repo-secret in $NAMESPACE"
if [[ -n ${REPO:-} ]]; then
  kubectl apply -f - >/dev/null <<YAML
apiVersion: codeflare.dev/v1alpha1
kind: PlatformRepoSecret
metadata: {name: my-secrets}
spec: {repo: $(quoted "$REPO"), secret: {name: repo-secret, namespace: $NAMESPACE}}
YAML
  say "secrets: PlatformRepoSecret my-secrets for $REPO"
fi
