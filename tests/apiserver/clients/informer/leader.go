package main

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const (
	leaseDuration = 3 * time.Second
	renewDeadline = 2 * time.Second
	retryPeriod   = 200 * time.Millisecond
)

// election counts who leads; two at a time is what a lease is there to prevent.
type election struct {
	leading  atomic.Int32
	overlaps atomic.Int32
}

type candidate struct {
	id      string
	clients *clients
	leads   atomic.Bool
	seen    atomic.Pointer[string] // the leader as this candidate knows it
	stop    context.CancelFunc
	done    chan struct{}
}

func (e *election) join(ctx context.Context, kubeconfig, id string) (*candidate, error) {
	c, err := open(kubeconfig)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(ctx)
	a := &candidate{id: id, clients: c, stop: stop, done: make(chan struct{})}
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Name: "leader", Namespace: "default"},
			Client:     c.typed.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: id},
		},
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: true,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) {
				a.leads.Store(true)
				if e.leading.Add(1) > 1 {
					e.overlaps.Add(1)
				}
			},
			OnStoppedLeading: func() {
				if a.leads.Swap(false) {
					e.leading.Add(-1)
				}
			},
			OnNewLeader: func(id string) { a.seen.Store(&id) },
		},
	})
	if err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(a.done)
		elector.Run(running)
	}()
	return a, nil
}

func (a *candidate) becomesLeader() error {
	if !a.leads.Load() {
		return fmt.Errorf("%s does not lead", a.id)
	}
	return nil
}

func (a *candidate) sees(leader *candidate) error {
	if seen := a.seen.Load(); seen == nil || *seen != leader.id {
		return fmt.Errorf("%s does not see that %s leads", a.id, leader.id)
	}
	return nil
}

func leader(ctx context.Context, o options) error {
	e := &election{}
	first, err := e.join(ctx, o.kubeconfig, "first")
	if err != nil {
		return err
	}
	if err := eventually(ctx, first.becomesLeader); err != nil {
		return err
	}
	second, err := e.join(ctx, o.kubeconfig, "second")
	if err != nil {
		return err
	}
	if err := eventually(ctx, func() error { return second.sees(first) }); err != nil {
		return err
	}

	// A leader that steps down hands over without waiting for its lease to run out.
	began := time.Now()
	first.stop()
	<-first.done
	if err := eventually(ctx, second.becomesLeader); err != nil {
		return err
	}
	handover := time.Since(began)
	if handover >= leaseDuration {
		return fmt.Errorf("a released lease was taken over after %s only", handover)
	}
	third, err := e.join(ctx, o.kubeconfig, "third")
	if err != nil {
		return err
	}
	if err := eventually(ctx, func() error { return third.sees(second) }); err != nil {
		return err
	}

	// A leader that cannot reach the server any more stops before another one begins.
	began = time.Now()
	second.clients.wire.cut.Store(true)
	if err := eventually(ctx, third.becomesLeader); err != nil {
		return err
	}
	takeover := time.Since(began)
	<-second.done
	lease, err := third.clients.typed.CoordinationV1().Leases("default").Get(ctx, "leader", metav1.GetOptions{})
	if err != nil {
		return err
	}
	if lease.Spec.LeaseTransitions == nil || lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != "third" {
		return fmt.Errorf("the lease says %+v", lease.Spec)
	}
	third.stop()
	<-third.done
	if e.overlaps.Load() != 0 {
		return errors.New("two led at once")
	}
	fmt.Printf("handover in %d ms, takeover in %d ms, %d transitions\n", handover.Milliseconds(), takeover.Milliseconds(), *lease.Spec.LeaseTransitions)
	return nil
}
