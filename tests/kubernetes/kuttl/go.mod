module codeflare.dev/tests/kubernetes/kuttl

go 1.25.0

// As published, with the libraries of its release; runs MCAD's own suites in tests/up/kuttl_test.py.
tool github.com/kudobuilder/kuttl/cmd/kubectl-kuttl

require github.com/kudobuilder/kuttl v0.22.0 // indirect
