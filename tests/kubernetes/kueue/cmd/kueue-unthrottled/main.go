// kueue-unthrottled is the Kueue of Kueue's scheduler benchmark (its minimalkueue: core controllers and scheduler, no
// webhooks, no job integrations), but without the 50 requests a second per kind that minimalkueue fixes in its code.
package main

import (
	"fmt"
	"os"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"go.uber.org/zap/zapcore"
	configapi "sigs.k8s.io/kueue/apis/config/v1beta2"
	kueuealpha "sigs.k8s.io/kueue/apis/kueue/v1alpha1"
	kueue "sigs.k8s.io/kueue/apis/kueue/v1beta2"
	qcache "sigs.k8s.io/kueue/pkg/cache/queue"
	schdcache "sigs.k8s.io/kueue/pkg/cache/scheduler"
	"sigs.k8s.io/kueue/pkg/constants"
	"sigs.k8s.io/kueue/pkg/controller/core"
	"sigs.k8s.io/kueue/pkg/controller/core/indexer"
	"sigs.k8s.io/kueue/pkg/scheduler"
	"sigs.k8s.io/kueue/pkg/scheduler/preemption/expectations"
)

// As minimalkueue has them.
var workers = map[string]int{"Workload": 5, "LocalQueue": 1, "ClusterQueue": 1, "ResourceFlavor": 1}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, kueue.AddToScheme, kueuealpha.AddToScheme, configapi.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			return nil, err
		}
	}
	return scheme, nil
}

func newManager() (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	cluster, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	cluster.QPS = -1 // no limiter at all
	concurrency := map[string]int{}
	for kind, count := range workers {
		concurrency[kueue.SchemeGroupVersion.WithKind(kind).GroupKind().String()] = count
	}
	return ctrl.NewManager(cluster, ctrl.Options{
		Scheme:     scheme,
		Metrics:    server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: ptr.To(true), GroupKindConcurrency: concurrency},
	})
}

func run() error {
	ctrl.SetLogger(zap.New(zap.Level(zapcore.ErrorLevel)))
	ctx := ctrl.SetupSignalHandler()
	manager, err := newManager()
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	if err := indexer.Setup(ctx, manager.GetFieldIndexer()); err != nil {
		return fmt.Errorf("indexes: %w", err)
	}
	cache := schdcache.New(manager.GetClient())
	requeuer := qcache.NewRequeuer()
	if err := manager.Add(requeuer); err != nil {
		return fmt.Errorf("requeuer: %w", err)
	}
	preemptions := expectations.New()
	queues := qcache.NewManager(manager.GetClient(), cache, requeuer, qcache.WithPreemptionExpectations(preemptions))
	go queues.CleanUpOnContext(ctx)
	go cache.CleanUpOnContext(ctx)
	options := core.SetupControllersOpts{PreemptionExpectations: preemptions}
	if name, err := core.SetupControllers(manager, queues, cache, &configapi.Configuration{}, options); err != nil {
		return fmt.Errorf("controller %s: %w", name, err)
	}
	events := manager.GetEventRecorder(constants.AdmissionName)
	decider := scheduler.New(queues, cache, manager.GetClient(), events, scheduler.WithPreemptionExpectations(preemptions))
	if err := manager.Add(decider); err != nil {
		return fmt.Errorf("scheduler: %w", err)
	}
	return manager.Start(ctx)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "kueue-unthrottled:", err)
		os.Exit(1)
	}
}
