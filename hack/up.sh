#!/usr/bin/env bash
# Brings the platform up: up.sh [-t] [-k KUBECONFIG] [--local]
#   -k KUBECONFIG  in this cluster; else in one of kind (docker, or podman by KIND_EXPERIMENTAL_PROVIDER); else by `codeflare up`
#   -t             helm test at the end
#   --local        `codeflare up`, whatever there is
# Can be run again. Touches no cluster but the one that it names.
set -euo pipefail
# shellcheck source=hack/settings.sh
source "$(dirname "$0")/settings.sh"

TEST=
while (($#)); do
  case $1 in
    -t) TEST=1 ;;
    -k)
      [[ -f ${2:-} ]] || die "-k ${2:-}: there is no such kubeconfig"
      export KUBECONFIG_GIVEN=$2
      shift
      ;;
    --local) export LOCAL=1 ;;
    -h | --help)
      sed -n '2,6s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) die "unknown option $1 (--help lists them)" ;;
  esac
  shift
done

"$ROOT/hack/init.sh"
"$ROOT/hack/build.sh"
archive="$ROOT/build/image/codeflare-$VERSION.tar"

case $(target) in
  given)
    export KUBECONFIG=$KUBECONFIG_GIVEN
    say "cluster: the one of $KUBECONFIG; its nodes must know $IMAGE ($archive)"
    ;;
  kind)
    export KUBECONFIG="$ROOT/build/$CLUSTER_NAME.kubeconfig"
    if [[ $(container_engine) == podman ]]; then
      export KIND_EXPERIMENTAL_PROVIDER=podman
    fi
    if ! kind get clusters 2>/dev/null | grep -qx "$CLUSTER_NAME"; then
      say "cluster: kind create cluster --name $CLUSTER_NAME"
      kind create cluster --name "$CLUSTER_NAME" --kubeconfig "$KUBECONFIG" --wait "${TIMEOUT_SECONDS}s"
    else
      kind export kubeconfig --name "$CLUSTER_NAME" --kubeconfig "$KUBECONFIG" >/dev/null
    fi
    say "image: kind load image-archive ($IMAGE)"
    kind load image-archive "$archive" --name "$CLUSTER_NAME"
    ;;
  local)
    if ! "$CODEFLARE" status --data-dir "$UP_DIR" >/dev/null 2>&1; then
      say "cluster: codeflare up --detach --data-dir $UP_DIR"
      "$CODEFLARE" up --detach --data-dir "$UP_DIR" --no-kubeconfig --listen 127.0.0.1:0 >/dev/null
    fi
    export KUBECONFIG="$UP_DIR/admin.kubeconfig"
    say "image: codeflare image load ($IMAGE)"
    "$CODEFLARE" image load "$archive" --data-dir "$UP_DIR" >/dev/null
    if [[ -n $S3 ]]; then
      store=${VERSITYGW:-$(command -v versitygw || true)}
      [[ -n $store ]] || die "versitygw is missing: go install github.com/versity/versitygw/cmd/versitygw@v1.8.0"
      say "image: versity/versitygw:* is $store"
      folder=$(dirname "$(realpath "$store")")
      "$CODEFLARE" image add 'versity/versitygw:*' --directory "$folder" --env "PATH=$folder:/usr/bin:/bin" --data-dir "$UP_DIR" >/dev/null
    fi
    if [[ $RAY_VENV != none ]]; then
      say "image: rayproject/ray:* is $RAY_VENV"
      "$CODEFLARE" image add 'rayproject/ray:*' --python-venv "$RAY_VENV" --data-dir "$UP_DIR" >/dev/null
    fi
    ;;
esac

values=()
if [[ -n $S3 ]]; then
  values=(--set s3.enabled=true --set "s3.secretAccessKey=$S3_KEY")
fi
say "platform: helm upgrade --install $RELEASE platform -n $NAMESPACE"
helm upgrade --install "$RELEASE" "$ROOT/platform" -n "$NAMESPACE" --create-namespace \
  ${values[@]+"${values[@]}"} --wait --timeout "${TIMEOUT_SECONDS}s" >/dev/null
"$ROOT/hack/secrets.sh"
if [[ -n $CUSTOM_PLATFORM ]]; then
  say "custom platform: helm upgrade --install $CUSTOM_RELEASE $(basename "$CUSTOM_PLATFORM") -n $NAMESPACE"
  helm upgrade --install "$CUSTOM_RELEASE" "$CUSTOM_PLATFORM" -n "$NAMESPACE" \
    --wait --timeout "${TIMEOUT_SECONDS}s" >/dev/null
fi
if [[ -n $TEST ]]; then
  say 'test: helm test'
  helm test "$RELEASE" -n "$NAMESPACE" --timeout "${TIMEOUT_SECONDS}s" | grep -E '^(TEST SUITE|Phase)'
fi
kubectl get pod -n "$NAMESPACE"
say "done: export KUBECONFIG=$KUBECONFIG"
