// informer keeps a typed shared informer of pods and says what it costs. It is the yardstick for codeflare's own
// informer, which prints the same lines, so every number here must be client-go at its usual settings.
//
// Output, one JSON object per line:
//
//	{"event":"started",...}  before the first request: the cost of the empty program, to be subtracted
//	{"event":"synced",...}   the initial list is in the store and every add handler has run
//	{"event":"done",...}     after --updates update handlers have run, or on SIGTERM or SIGINT
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"codeflare.dev/tests/kubernetes/informer/internal/client"
)

type options struct {
	kubeconfig string
	namespace  string
	format     string
	transform  string
	updates    int64
	timeout    time.Duration
}

func main() {
	var o options
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file (default: KUBECONFIG)")
	flag.StringVar(&o.namespace, "namespace", "", "namespace to watch (default: all)")
	flag.StringVar(&o.format, "format", "protobuf", "wire format: protobuf or json")
	flag.StringVar(&o.transform, "transform", "off", "on: drop managedFields before an object is stored; off: client-go's default")
	flag.Int64Var(&o.updates, "updates", 0, "stop after this many update events (0: run until SIGTERM)")
	flag.DurationVar(&o.timeout, "timeout", 10*time.Minute, "give up with exit code 1 after this long (0: never)")
	flag.Parse()
	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "informer:", err)
		os.Exit(1)
	}
}

// counters of the handlers; `enough` is closed when the asked number of updates has been seen.
type counters struct {
	adds, updates, deletes atomic.Int64
	enough                 chan struct{}
	once                   sync.Once
}

func (c *counters) handler(wanted int64) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { c.adds.Add(1) },
		UpdateFunc: func(any, any) {
			if c.updates.Add(1) == wanted {
				c.once.Do(func() { close(c.enough) })
			}
		},
		DeleteFunc: func(any) { c.deletes.Add(1) },
	}
}

func dropManagedFields(object any) (any, error) {
	if pod, ok := object.(*corev1.Pod); ok {
		pod.ManagedFields = nil
	}
	return object, nil
}

func run(o options) error {
	if o.transform != "on" && o.transform != "off" {
		return fmt.Errorf("--transform %q: expected on or off", o.transform)
	}
	clientset, err := client.Open(o.kubeconfig, client.Format(o.format))
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	deadline := make(<-chan time.Time)
	if o.timeout > 0 {
		deadline = time.After(o.timeout)
	}

	factory := informers.NewSharedInformerFactoryWithOptions(clientset, 0, informers.WithNamespace(o.namespace))
	informer := factory.Core().V1().Pods().Informer()
	if o.transform == "on" {
		if err := informer.SetTransform(dropManagedFields); err != nil {
			return err
		}
	}
	c := &counters{enough: make(chan struct{})}
	registration, err := informer.AddEventHandler(c.handler(o.updates))
	if err != nil {
		return err
	}

	begin := time.Now()
	report := func(event string) {
		line := measure()
		line.Event = event
		line.Objects = len(informer.GetStore().ListKeys())
		line.Adds, line.Updates, line.Deletes = c.adds.Load(), c.updates.Load(), c.deletes.Load()
		line.Seconds = time.Since(begin).Seconds()
		_ = json.NewEncoder(os.Stdout).Encode(line)
	}

	report("started")
	running, halt := context.WithCancel(context.Background())
	defer halt()
	factory.Start(running.Done())
	synced := make(chan struct{})
	go func() {
		if cache.WaitForCacheSync(running.Done(), registration.HasSynced) {
			close(synced)
		}
	}()
	select {
	case <-synced:
	case <-ctx.Done():
		return errors.New("stopped before the first list was in the store")
	case <-deadline:
		return fmt.Errorf("no sync within %s", o.timeout)
	}
	report("synced")

	select {
	case <-c.enough:
	case <-ctx.Done():
	case <-deadline:
		report("timeout")
		return fmt.Errorf("%d of %d updates within %s", c.updates.Load(), o.updates, o.timeout)
	}
	report("done")
	return nil
}
