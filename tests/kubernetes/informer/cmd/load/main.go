// load makes, changes and removes many realistic pods on an API server. It is meant for a cluster without controllers
// (`kubernetes up --no-controller-manager --no-scheduler`): its pods claim nodes that do not exist.
//
//	load create --pods 10000              pods load-000000 ... with a running status
//	load status --pods 10000 --updates M  M status patches, round-robin over the pods
//	load delete                           all pods that `create` made in the namespace
//
// What is written depends on --seed and the index only, so two runs leave the same objects behind. Each verb ends with one
// JSON line on stdout.
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
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"codeflare.dev/tests/kubernetes/informer/internal/client"
)

type options struct {
	kubeconfig string
	namespace  string
	pods       int
	workers    int
	updates    int
	seed       uint64
}

type summary struct {
	Event     string  `json:"event"`
	Count     int64   `json:"count"`
	Seconds   float64 `json:"seconds"`
	PerSecond float64 `json:"per_second"`
	// Mean sizes of a pod, only for `create`: JSON, JSON without managedFields, protobuf.
	MeanJSON      int64 `json:"mean_json_bytes,omitempty"`
	MeanJSONPlain int64 `json:"mean_json_bytes_without_managed_fields,omitempty"`
	MeanProtobuf  int64 `json:"mean_protobuf_bytes,omitempty"`
}

func main() {
	verb, arguments := "create", os.Args[1:]
	if len(arguments) > 0 && len(arguments[0]) > 0 && arguments[0][0] != '-' {
		verb, arguments = arguments[0], arguments[1:]
	}
	var o options
	flags := flag.NewFlagSet("load "+verb, flag.ExitOnError)
	flags.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig file (default: KUBECONFIG)")
	flags.StringVar(&o.namespace, "namespace", "default", "namespace; created when it is missing")
	flags.IntVar(&o.pods, "pods", 1000, "number of pods")
	flags.IntVar(&o.workers, "workers", 16, "requests in flight")
	flags.IntVar(&o.updates, "updates", 1000, "number of status patches (status only)")
	flags.Uint64Var(&o.seed, "seed", 1, "seed of everything that varies between pods")
	_ = flags.Parse(arguments)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := run(ctx, verb, o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, verb string, o options) error {
	if o.pods < 1 || o.workers < 1 || o.updates < 0 {
		return errors.New("--pods and --workers must be at least 1, --updates at least 0")
	}
	clientset, err := client.Open(o.kubeconfig, "protobuf")
	if err != nil {
		return err
	}
	begin := time.Now()
	var s summary
	switch verb {
	case "create":
		s, err = create(ctx, clientset, o)
	case "status":
		s, err = updateStatus(ctx, clientset, o)
	case "delete":
		s, err = remove(ctx, clientset, o)
	default:
		return fmt.Errorf("unknown verb %q: expected create, status or delete", verb)
	}
	if err != nil {
		return err
	}
	s.Seconds = time.Since(begin).Seconds()
	s.PerSecond = float64(s.Count) / s.Seconds
	return json.NewEncoder(os.Stdout).Encode(s)
}

// forEach calls work(i) for 0 <= i < n from `workers` goroutines and ends at the first error. Index i always goes to
// goroutine i % workers, so calls for indices that are equal modulo a multiple of workers happen in order.
func forEach(ctx context.Context, n, workers int, work func(context.Context, int) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < n && ctx.Err() == nil; i += workers {
				if err := work(ctx, i); err != nil {
					cancel(err)
				}
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}

// prepare makes the namespace and its default service account, which nobody else does without a controller manager.
func prepare(ctx context.Context, clientset kubernetes.Interface, namespace string) error {
	meta := metav1.ObjectMeta{Name: namespace}
	_, err := clientset.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	meta.Name = "default"
	_, err = clientset.CoreV1().ServiceAccounts(namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}

func create(ctx context.Context, clientset kubernetes.Interface, o options) (summary, error) {
	if err := prepare(ctx, clientset, o.namespace); err != nil {
		return summary{}, err
	}
	pods := clientset.CoreV1().Pods(o.namespace)
	var full, plain, protobuf atomic.Int64
	err := forEach(ctx, o.pods, o.workers, func(ctx context.Context, i int) error {
		pod, err := pods.Create(ctx, newPod(o.seed, i), metav1.CreateOptions{})
		if err != nil {
			return err
		}
		// The server drops the status of a create, so a running pod takes two requests, as with a kubelet.
		pod.Status = newStatus(o.seed, i)
		pod, err = pods.UpdateStatus(ctx, pod, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		full.Add(jsonSize(pod))
		protobuf.Add(int64(pod.Size()))
		pod.ManagedFields = nil
		plain.Add(jsonSize(pod))
		return nil
	})
	n := int64(o.pods)
	s := summary{Event: "created", Count: n}
	s.MeanJSON, s.MeanJSONPlain, s.MeanProtobuf = full.Load()/n, plain.Load()/n, protobuf.Load()/n
	return s, err
}

func updateStatus(ctx context.Context, clientset kubernetes.Interface, o options) (summary, error) {
	pods := clientset.CoreV1().Pods(o.namespace)
	// Workers own pods, not updates: two patches of one pod must not overtake each other.
	workers := min(o.workers, o.pods)
	err := forEach(ctx, workers, workers, func(ctx context.Context, worker int) error {
		for k := range o.updates {
			index := k % o.pods
			if index%workers != worker {
				continue
			}
			patch, err := statusPatch(o.seed, index, k)
			if err != nil {
				return err
			}
			if _, err := pods.Patch(ctx, podName(index), types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
				return err
			}
		}
		return nil
	})
	return summary{Event: "updated", Count: int64(o.updates)}, err
}

func remove(ctx context.Context, clientset kubernetes.Interface, o options) (summary, error) {
	pods := clientset.CoreV1().Pods(o.namespace)
	var names []string
	list := metav1.ListOptions{LabelSelector: madeBy, Limit: 500}
	for {
		page, err := pods.List(ctx, list)
		if err != nil {
			return summary{}, err
		}
		for i := range page.Items {
			names = append(names, page.Items[i].Name)
		}
		if list.Continue = page.Continue; list.Continue == "" {
			break
		}
	}
	atOnce := int64(0)
	err := forEach(ctx, len(names), o.workers, func(ctx context.Context, i int) error {
		err := pods.Delete(ctx, names[i], metav1.DeleteOptions{GracePeriodSeconds: &atOnce})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
	return summary{Event: "deleted", Count: int64(len(names))}, err
}

func jsonSize(object any) int64 {
	text, err := json.Marshal(object)
	if err != nil {
		return 0
	}
	return int64(len(text))
}
