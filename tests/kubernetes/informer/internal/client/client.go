// Package client opens a Kubernetes clientset the way the measuring programs need it: protobuf on the wire and no
// client-side rate limit, so that the server and the library are measured, not a token bucket.
package client

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// Format is the wire format of built-in kinds: "protobuf" or "json".
type Format string

// Open reads the kubeconfig at path; an empty path means KUBECONFIG or the user's default, as in kubectl.
func Open(path string, format Format) (*kubernetes.Clientset, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = path
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, err
	}
	switch format {
	case "protobuf":
		config.ContentType = runtime.ContentTypeProtobuf
		config.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	case "json":
		config.ContentType = runtime.ContentTypeJSON
	default:
		return nil, fmt.Errorf("--format %q: expected protobuf or json", format)
	}
	config.QPS = -1
	config.UserAgent = "codeflare-tests"
	return kubernetes.NewForConfig(config)
}
