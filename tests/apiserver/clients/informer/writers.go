package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

const (
	namespace = "follow"
	label     = "followed"
	workers   = 16
)

var (
	mapResource    = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	gadgetResource = schema.GroupVersionResource{Group: "informers.example.com", Version: "v1", Resource: "gadgets"}
	crdResource    = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	labels         = map[string]string{label: "yes"}
)

// stamps make every patch another one: what changes nothing is no event.
var stamps atomic.Int64

// writer makes, changes and deletes the objects of one resource. The tallies say what informers must be told.
type writer struct {
	name     string
	create   func(ctx context.Context, name string) error
	update   func(ctx context.Context, name string, number int) error
	remove   func(ctx context.Context, name string) error
	versions func(ctx context.Context) (map[string]int64, error)
	lock     sync.Mutex
	expected map[string]tally
}

func (w *writer) note(name string, change func(*tally)) {
	w.lock.Lock()
	defer w.lock.Unlock()
	t := w.expected[name]
	change(&t)
	w.expected[name] = t
}

// objectName of the number-th object of a batch.
func objectName(batch string, number int) string { return batch + "-" + strconv.Itoa(number) }

func (w *writer) createAll(ctx context.Context, batch string, count int) error {
	return parallel(count, func(i int) error {
		name := objectName(batch, i)
		w.note(name, func(t *tally) { t.adds++ })
		return w.create(ctx, name)
	})
}

func (w *writer) updateAll(ctx context.Context, batch string, count, times int) error {
	return parallel(count, func(i int) error {
		for number := range times {
			w.note(objectName(batch, i), func(t *tally) { t.updates++ })
			if err := w.update(ctx, objectName(batch, i), number); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *writer) removeAll(ctx context.Context, batch string, from, to int) error {
	return parallel(to-from, func(i int) error {
		name := objectName(batch, from+i)
		w.note(name, func(t *tally) { t.deletes++ })
		return w.remove(ctx, name)
	})
}

// parallel calls for 0..count-1 from a few goroutines and joins their errors.
func parallel(count int, call func(int) error) error {
	var group sync.WaitGroup
	failures := make([]error, workers)
	for first := range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for i := first; i < count && failures[first] == nil; i += workers {
				failures[first] = call(i)
			}
		}()
	}
	group.Wait()
	return errors.Join(failures...)
}

func configMaps(c *clients) *writer {
	maps := c.typed.CoreV1().ConfigMaps(namespace)
	return &writer{
		name:     "configmaps",
		expected: map[string]tally{},
		create: func(ctx context.Context, name string) error {
			object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Data: map[string]string{"n": "0"}}
			_, err := maps.Create(ctx, object, metav1.CreateOptions{})
			return err
		},
		update: func(ctx context.Context, name string, number int) error {
			if number%2 == 0 {
				patch := fmt.Sprintf(`{"data":{"patched":"%d"}}`, stamps.Add(1))
				_, err := maps.Patch(ctx, name, types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{})
				return err
			}
			object, err := maps.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			object.Data["n"] += "+"
			_, err = maps.Update(ctx, object, metav1.UpdateOptions{})
			return err
		},
		remove:   func(ctx context.Context, name string) error { return maps.Delete(ctx, name, metav1.DeleteOptions{}) },
		versions: listVersions(c, mapResource),
	}
}

func pods(c *clients) *writer {
	pods := c.typed.CoreV1().Pods(namespace)
	return &writer{
		name:     "pods",
		expected: map[string]tally{},
		create: func(ctx context.Context, name string) error {
			spec := corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "busybox"}}}
			object := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}, Spec: spec}
			_, err := pods.Create(ctx, object, metav1.CreateOptions{})
			return err
		},
		update: func(ctx context.Context, name string, number int) error {
			object, err := pods.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			object.Status.Phase = corev1.PodRunning
			object.Status.Message += "+"
			_, err = pods.UpdateStatus(ctx, object, metav1.UpdateOptions{})
			return err
		},
		remove:   func(ctx context.Context, name string) error { return pods.Delete(ctx, name, metav1.DeleteOptions{}) },
		versions: listVersions(c, corev1.SchemeGroupVersion.WithResource("pods")),
	}
}

func gadgets(c *clients) *writer {
	gadgets := c.dynamic.Resource(gadgetResource).Namespace(namespace)
	return &writer{
		name:     "gadgets",
		expected: map[string]tally{},
		create: func(ctx context.Context, name string) error {
			_, err := gadgets.Create(ctx, gadget(name), metav1.CreateOptions{})
			return err
		},
		update: func(ctx context.Context, name string, number int) error {
			patch := fmt.Sprintf(`{"spec":{"patched":"%d"}}`, stamps.Add(1))
			if number%2 == 0 {
				_, err := gadgets.Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
				return err
			}
			object, err := gadgets.Get(ctx, name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			old, _, _ := unstructured.NestedString(object.Object, "spec", "n")
			if err := unstructured.SetNestedField(object.Object, old+"+", "spec", "n"); err != nil {
				return err
			}
			_, err = gadgets.Update(ctx, object, metav1.UpdateOptions{})
			return err
		},
		remove:   func(ctx context.Context, name string) error { return gadgets.Delete(ctx, name, metav1.DeleteOptions{}) },
		versions: listVersions(c, gadgetResource),
	}
}

func gadget(name string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": gadgetResource.GroupVersion().String(),
		"kind":       "Gadget",
		"metadata":   map[string]any{"name": name, "labels": map[string]any{label: "yes"}},
		"spec":       map[string]any{"n": "0"},
	}}
}

func gadgetDefinition() *unstructured.Unstructured {
	open := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	schema := map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "properties": map[string]any{"spec": open}}}
	version := map[string]any{"name": "v1", "served": true, "storage": true, "schema": schema}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": "gadgets." + gadgetResource.Group},
		"spec": map[string]any{
			"group":    gadgetResource.Group,
			"scope":    "Namespaced",
			"names":    map[string]any{"plural": "gadgets", "kind": "Gadget"},
			"versions": []any{version},
		},
	}}
}

// listVersions reads what is there now, page by page.
func listVersions(c *clients, resource schema.GroupVersionResource) func(context.Context) (map[string]int64, error) {
	return func(ctx context.Context) (map[string]int64, error) {
		found := map[string]int64{}
		list := metav1.ListOptions{LabelSelector: label + "=yes", Limit: 300}
		for {
			page, err := c.dynamic.Resource(resource).Namespace(namespace).List(ctx, list)
			if err != nil {
				return nil, err
			}
			for i := range page.Items {
				name, version, err := identify(&page.Items[i])
				if err != nil {
					return nil, err
				}
				found[name] = version
			}
			if list.Continue = page.GetContinue(); list.Continue == "" {
				return found, nil
			}
		}
	}
}
