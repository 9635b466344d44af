package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/features"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/tools/cache"
)

// follower is an informer, what its handlers were told, and who writes what it follows.
type follower struct {
	informer cache.SharedIndexInformer
	synced   cache.InformerSynced
	ledger   *ledger
	writer   *writer
}

func follow(ctx context.Context, o options) error {
	// Writes and informers have clients of their own, so that the wire shows the informers' requests alone.
	writing, err := open(o.kubeconfig)
	if err != nil {
		return err
	}
	watching, err := open(o.kubeconfig)
	if err != nil {
		return err
	}
	watching.wire.verbose = o.verbose
	if err := prepare(ctx, writing); err != nil {
		return err
	}
	writers := []*writer{configMaps(writing), pods(writing), gadgets(writing)}
	shares := []int{o.objects / 2, o.objects * 3 / 10, o.objects - o.objects/2 - o.objects*3/10}
	for i, w := range writers {
		if err := w.createAll(ctx, "old", shares[i]); err != nil {
			return fmt.Errorf("create %s: %w", w.name, err)
		}
	}

	began := time.Now()
	followers, err := start(ctx, watching, writers)
	if err != nil {
		return err
	}
	for _, f := range followers {
		if !cache.WaitForCacheSync(ctx.Done(), f.synced) {
			return fmt.Errorf("%s did not sync", f.ledger.name)
		}
	}
	fmt.Printf("%d informers synced %d objects in %d ms\n", len(followers), o.objects, time.Since(began).Milliseconds())
	if err := settle(ctx, followers, false); err != nil {
		return fmt.Errorf("after the sync: %w", err)
	}
	if err := usedAsAsked(watching.wire); err != nil {
		return err
	}

	last := "live"
	if err := change(ctx, writers, batch{made: last, deleted: last, from: 0, to: 30}); err != nil {
		return err
	}
	if err := settle(ctx, followers, false); err != nil {
		return fmt.Errorf("after changes: %w", err)
	}
	for number := range o.restarts {
		before := watching.wire.seen("get") + watching.wire.seen("watch list")
		if err := askForRestart(); err != nil {
			return err
		}
		// Only objects that every informer knew before go: what comes and goes while nobody looks need not be told.
		if err := change(ctx, writers, batch{made: fmt.Sprintf("restart-%d", number), deleted: last, from: 30, to: 60}); err != nil {
			return err
		}
		if err := settle(ctx, followers, true); err != nil {
			return fmt.Errorf("after restart %d: %w", number, err)
		}
		fresh := watching.wire.seen("get") + watching.wire.seen("watch list") - before
		fmt.Printf("restart %d: %d informers listed anew, %d went on\n", number, fresh, len(followers)-fresh)
		// Now that all are back, nothing may be merged or missed any more.
		last = fmt.Sprintf("after-%d", number)
		if err := change(ctx, writers, batch{made: last, deleted: last, from: 0, to: 30}); err != nil {
			return err
		}
		if err := settle(ctx, followers, false); err != nil {
			return fmt.Errorf("after restart %d, when all were back: %w", number, err)
		}
	}
	return nil
}

func prepare(ctx context.Context, c *clients) error {
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := c.typed.CoreV1().Namespaces().Create(ctx, object, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.dynamic.Resource(crdResource).Create(ctx, gadgetDefinition(), metav1.CreateOptions{})
	return err
}

// start has typed, dynamic and metadata informers of what the writers (maps, pods, gadgets) write.
func start(ctx context.Context, c *clients, writers []*writer) ([]*follower, error) {
	narrow := func(list *metav1.ListOptions) { list.LabelSelector = label + "=yes" }
	typed := informers.NewSharedInformerFactoryWithOptions(c.typed, 0, informers.WithNamespace(namespace), informers.WithTweakListOptions(narrow))
	dynamic := dynamicinformer.NewFilteredDynamicSharedInformerFactory(c.dynamic, 0, namespace, narrow)
	partial := metadatainformer.NewFilteredSharedInformerFactory(c.metadata, 0, namespace, narrow)
	followers := []*follower{
		{informer: typed.Core().V1().ConfigMaps().Informer(), ledger: newLedger("typed configmaps"), writer: writers[0]},
		{informer: typed.Core().V1().Pods().Informer(), ledger: newLedger("typed pods"), writer: writers[1]},
		{informer: dynamic.ForResource(mapResource).Informer(), ledger: newLedger("dynamic configmaps"), writer: writers[0]},
		{informer: dynamic.ForResource(gadgetResource).Informer(), ledger: newLedger("dynamic gadgets"), writer: writers[2]},
		{informer: partial.ForResource(mapResource).Informer(), ledger: newLedger("metadata of configmaps"), writer: writers[0]},
	}
	for _, f := range followers {
		registration, err := f.informer.AddEventHandler(f.ledger.handler())
		if err != nil {
			return nil, err
		}
		f.synced = registration.HasSynced
	}
	typed.Start(ctx.Done())
	dynamic.Start(ctx.Done())
	partial.Start(ctx.Done())
	return followers, nil
}

// usedAsAsked: the informers took the way that the feature gate says.
func usedAsAsked(w *wire) error {
	if features.FeatureGates().Enabled(features.WatchListClient) {
		if w.seen("watch list") == 0 || w.seen("get") != 0 {
			return fmt.Errorf("%d watch lists and %d lists with WatchListClient on", w.seen("watch list"), w.seen("get"))
		}
	} else if w.seen("watch list") != 0 || w.seen("get") == 0 {
		return fmt.Errorf("%d watch lists and %d lists with WatchListClient off", w.seen("watch list"), w.seen("get"))
	}
	return nil
}

// batch is what one step of the test makes and deletes.
type batch struct {
	made    string
	deleted string // batch of which the objects from..to go
	from    int
	to      int
}

// change makes 60 objects of each kind, changes old ones and deletes some.
func change(ctx context.Context, writers []*writer, b batch) error {
	for _, w := range writers {
		steps := []func() error{
			func() error { return w.createAll(ctx, b.made, 60) },
			func() error { return w.updateAll(ctx, "old", 100, 3) },
			func() error { return w.removeAll(ctx, b.deleted, b.from, b.to) },
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return fmt.Errorf("%s of %s: %w", w.name, b.made, err)
			}
		}
	}
	return nil
}

// settle waits until every informer was told exactly what was written, and holds exactly what the server has.
func settle(ctx context.Context, followers []*follower, loosely bool) error {
	ctx, stop := context.WithTimeout(ctx, 60*time.Second)
	defer stop()
	truth := map[*writer]map[string]int64{}
	for _, f := range followers {
		if truth[f.writer] != nil {
			continue
		}
		versions, err := f.writer.versions(ctx)
		if err != nil {
			return err
		}
		truth[f.writer] = versions
	}
	for _, f := range followers {
		same := func() error { return f.holds(truth[f.writer], loosely) }
		if err := eventually(ctx, same); err != nil {
			return err
		}
	}
	if loosely {
		for _, f := range followers {
			f.ledger.forgive(f.writer.expected)
		}
	}
	return nil
}

func (f *follower) holds(truth map[string]int64, loosely bool) error {
	if wrong := f.ledger.complaints(); len(wrong) != 0 {
		return fmt.Errorf("%v", wrong[:min(5, len(wrong))])
	}
	held := map[string]int64{}
	for _, object := range f.informer.GetStore().List() {
		name, version, err := identify(object)
		if err != nil {
			return err
		}
		held[name] = version
	}
	if !maps.Equal(held, truth) {
		return fmt.Errorf("%s: holds %d objects, the server %d, or in other versions", f.ledger.name, len(held), len(truth))
	}
	f.writer.lock.Lock()
	defer f.writer.lock.Unlock()
	return f.ledger.compare(f.writer.expected, loosely)
}
