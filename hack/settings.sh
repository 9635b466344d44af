# Settings of the scripts in this folder, which source it. Each can be set in the environment.
# shellcheck shell=bash disable=SC2034
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VERSION=$(cat "$ROOT/VERSION")
CLUSTER_NAME=${CLUSTER_NAME:-codeflare-platform}
NAMESPACE=${NAMESPACE:-codeflare-system}
RELEASE=${RELEASE:-codeflare-platform}
IMAGE=codeflare:$VERSION
TIMEOUT_SECONDS=${TIMEOUT_SECONDS:-180}
# The custom platform: a chart and its release; empty: none.
CUSTOM_PLATFORM=${CUSTOM_PLATFORM-$ROOT/watsonx_ai}
CUSTOM_RELEASE=${CUSTOM_RELEASE:-codeflare-watsonx-ai}
# Python environment behind the images rayproject/ray on `codeflare up`; init.sh makes it. `none`: no such images.
RAY_VENV=${RAY_VENV:-$ROOT/build/ray-venv}
# Set to 1: an object store for the tests with S3 data. On `codeflare up` it is the program versitygw of PATH, or VERSITYGW.
S3=${S3:-}
S3_KEY=for-tests-only # as tests/templates/datasets/s3-test.yaml has it
# The local cluster of `codeflare up`.
UP_DIR=${UP_DIR:-$ROOT/build/up}
CODEFLARE=${CODEFLARE:-$ROOT/build/static/codeflare}

say() { printf '==> %s\n' "$*"; }
die() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}
need() { # PROGRAM HOW-TO-GET-IT
  command -v "$1" >/dev/null || die "$1 is missing: $2"
}
works() { # an engine whose daemon answers
  command -v "$1" >/dev/null && "$1" info >/dev/null 2>&1
}

# The engine for kind: docker, or podman by KIND_EXPERIMENTAL_PROVIDER or where docker does not work; empty: none.
container_engine() {
  if [[ ${KIND_EXPERIMENTAL_PROVIDER:-docker} == podman ]] || ! works docker; then
    ! works podman || echo podman
  else
    echo docker
  fi
}

# Where the platform goes: given, kind or local.
target() {
  if [[ -n ${KUBECONFIG_GIVEN:-} ]]; then
    echo given
  elif [[ -z ${LOCAL:-} ]] && command -v kind >/dev/null && [[ -n $(container_engine) ]]; then
    echo kind
  else
    echo local
  fi
}

# The cluster of tests/kind: the one given, the one that up.sh made, or that of the environment.
test_kubeconfig() {
  local made="$UP_DIR/admin.kubeconfig"
  [[ $(target) != kind ]] || made="$ROOT/build/$CLUSTER_NAME.kubeconfig"
  if [[ -n ${KUBECONFIG_GIVEN:-} ]]; then
    echo "$KUBECONFIG_GIVEN"
  elif [[ -f $made ]]; then
    echo "$made"
  elif [[ -n ${KUBECONFIG:-} ]]; then
    echo "$KUBECONFIG"
  else
    die "there is no cluster: run hack/up.sh, or name one with -k KUBECONFIG"
  fi
}
