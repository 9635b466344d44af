# Names that people expect; ./dev does the work (./dev help).

.PHONY: all test docker-build docker-build-release install uninstall manifests api doc run manager manager-release

all:
	./dev build release

test:
	./dev test

# The image lattice-operator-internal:VERSION, also named codeflare:VERSION, by docker, podman or buildah. Without any of them,
# an archive of the image for `codeflare image load`, `minikube image load` and `kind load image-archive`.
docker-build:
	./dev image

# The same image of the release edition, which checks a licence and may push usage (docs/usage.md).
docker-build-release:
	./dev image --release

# The definitions, in the cluster that kubectl uses. CODEFLARE=PROGRAM uses a program that is built already.
CODEFLARE ?= build/release/codeflare

install:
	test "$(CODEFLARE)" != build/release/codeflare || ./dev build release codeflare
	$(CODEFLARE) crds apply --ray --legacy-group

# Takes the definition of TrainingJobs away, and with it every TrainingJob. Pods that wait to be counted are freed:
# nobody counts them when no controller runs.
uninstall:
	./dev build release codeflare
	kubectl delete --ignore-not-found -f crds/breezeml.ai_trainingjobs.yaml
	build/release/codeflare usage --free-pods

# The definitions as files for kubectl: they are sources here, so there is nothing to generate but a copy.
manifests:
	mkdir -p build/manifests
	cp crds/*.yaml build/manifests/
	@echo "build/manifests: $$(ls build/manifests | wc -l) files"

# `make api doc`: docs/api/trainingjob.md from the definition.
api:
	tools/api_doc.py crds/breezeml.ai_trainingjobs.yaml docs/api/trainingjob.md

doc: api

# The operator, from a shell: the cluster of the kubeconfig, the nine variables of docs/lattice.md.
run:
	./dev build release codeflare
	build/release/codeflare controller --no-user-check

manager:
	./dev build release codeflare
	cp build/release/codeflare manager

# build/config.yaml has the values of the release edition.
manager-release:
	./dev build release codeflare-release
	cp build/release/codeflare-release manager
