# Names that people expect; ./dev does the work (./dev help).

.PHONY: all test docker-build install

all:
	./dev build release

test:
	./dev test

# The image lattice-operator-internal:VERSION, also named codeflare:VERSION, by docker, podman or buildah. Without any of them,
# an archive of the image for `codeflare image load`, `minikube image load` and `kind load image-archive`.
docker-build:
	./dev image

# The definitions, in the cluster that kubectl uses.
install:
	./dev build release codeflare
	build/release/codeflare crds apply --ray --legacy-group
