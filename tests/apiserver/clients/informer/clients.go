package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// clients are all the ways into one server, with one record of what went over the wire.
type clients struct {
	config   *rest.Config
	typed    *kubernetes.Clientset // protobuf in both directions where the server can
	dynamic  *dynamic.DynamicClient
	metadata metadata.Interface
	wire     *wire
}

func open(kubeconfig string) (*clients, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{}).ClientConfig()
	if err != nil {
		return nil, err
	}
	c := &clients{config: config, wire: &wire{counts: map[string]int{}}}
	config.QPS = -1
	config.UserAgent = "client-go-check"
	config.Wrap(c.wire.around)
	binary := rest.CopyConfig(config)
	binary.ContentType = runtime.ContentTypeProtobuf
	binary.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	if c.typed, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	if c.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	c.metadata, err = metadata.NewForConfig(config)
	return c, err
}

// wire counts requests by what they are, and can be cut.
type wire struct {
	lock    sync.Mutex
	counts  map[string]int
	cut     atomic.Bool
	verbose bool
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func (w *wire) around(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		if w.cut.Load() {
			return nil, errors.New("the wire is cut")
		}
		query := request.URL.Query()
		switch {
		case query.Get("sendInitialEvents") == "true":
			w.count("watch list")
		case query.Get("watch") == "true":
			w.count("watch")
		case request.Method == http.MethodGet:
			w.count("get")
		}
		if strings.HasPrefix(request.Header.Get("Content-Type"), runtime.ContentTypeProtobuf) && request.Body != nil {
			w.count("protobuf body")
		}
		response, err := next.RoundTrip(request)
		if w.verbose && request.Method == http.MethodGet {
			status := 0
			if err == nil {
				status = response.StatusCode
			}
			fmt.Fprintln(os.Stderr, time.Now().Format("05.000"), request.URL.RequestURI(), status, err)
		}
		return response, err
	})
}

func (w *wire) count(what string) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.counts[what]++
}

func (w *wire) seen(what string) int {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.counts[what]
}
