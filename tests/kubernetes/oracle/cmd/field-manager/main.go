// Prints sequences of writes to objects of real kinds with what k8s.io/apimachinery makes of managedFields, one step per line:
//
//	{"group":"apps","version":"v1","kind":"Deployment","operation":"Apply","manager":"a","subresource":"","force":false,
//	 "now":"2020-01-01T00:00:03Z","reset":["status"],"live":{...},"sent":{...},"result":{...}}
//
// or "error" instead of "result"; no "live" for a creation. The same seed gives the same steps (several errors of one step may come in
// another order).
package main

import (
	"bufio"
	gojson "encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type kind struct {
	gvk      schema.GroupVersionKind
	file     string // of the OpenAPI document; none for the custom resource
	document string
}

func (k kind) custom() bool { return k.file == "" }

var kinds = []kind{
	{schema.GroupVersionKind{Version: "v1", Kind: "Pod"}, "api__v1_openapi.json", podDocument},
	{schema.GroupVersionKind{Version: "v1", Kind: "Service"}, "api__v1_openapi.json", serviceDocument},
	{schema.GroupVersionKind{Version: "v1", Kind: "ConfigMap"}, "api__v1_openapi.json", configDocument},
	{schema.GroupVersionKind{Version: "v1", Kind: "Node"}, "api__v1_openapi.json", nodeDocument},
	{schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}, "apis__apps__v1_openapi.json", deploymentDocument},
	{schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, "", widgetDocument},
}

// What the endpoints of a kind take from the stored object.
var resets = map[string][]string{"": {"status"}, "status": {"spec", "metadata.labels"}}

type step struct {
	Group       string            `json:"group"`
	Version     string            `json:"version"`
	Kind        string            `json:"kind"`
	Schema      gojson.RawMessage `json:"schema,omitempty"` // of a custom resource
	Operation   string            `json:"operation"`
	Manager     string            `json:"manager"`
	Subresource string            `json:"subresource"`
	Force       bool              `json:"force"`
	Now         string            `json:"now"`
	Reset       []string          `json:"reset"`
	Live        gojson.RawMessage `json:"live,omitempty"`
	Sent        gojson.RawMessage `json:"sent"`
	Result      gojson.RawMessage `json:"result,omitempty"`
	Error       string            `json:"error,omitempty"`
}

func must[T any](value T, err error) T {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	return value
}

func decode(text []byte) map[string]interface{} {
	value := map[string]interface{}{}
	must(0, json.Unmarshal(text, &value))
	return value
}

type world struct {
	scheme     *runtime.Scheme
	converters map[string]managedfields.TypeConverter
}

func newWorld(folder string) *world {
	w := &world{runtime.NewScheme(), map[string]managedfields.TypeConverter{}}
	must(0, corev1.AddToScheme(w.scheme))
	must(0, appsv1.AddToScheme(w.scheme))
	for _, k := range kinds {
		if k.custom() || w.converters[k.file] != nil {
			continue
		}
		var document struct {
			Components struct {
				Schemas map[string]*spec.Schema `json:"schemas"`
			} `json:"components"`
		}
		must(0, gojson.Unmarshal(must(os.ReadFile(filepath.Join(folder, k.file))), &document))
		w.converters[k.file] = must(managedfields.NewTypeConverter(document.Components.Schemas, false))
		if w.converters[""] == nil {
			addWidget(document.Components.Schemas)
			w.converters[""] = must(managedfields.NewTypeConverter(document.Components.Schemas, false))
		}
	}
	return w
}

func (w *world) manager(k kind, subresource string) *managedfields.FieldManager {
	set := fieldpath.NewSet()
	for _, path := range resets[subresource] {
		switch path {
		case "metadata.labels":
			set.Insert(fieldpath.MakePathOrDie("metadata", "labels"))
		default:
			set.Insert(fieldpath.MakePathOrDie(path))
		}
	}
	version := fieldpath.APIVersion(k.gvk.GroupVersion().String())
	filters := map[fieldpath.APIVersion]fieldpath.Filter{version: fieldpath.NewExcludeSetFilter(set)}
	if k.custom() {
		return must(managedfields.NewDefaultCRDFieldManager(w.converters[k.file], sameVersion{}, sameVersion{}, sameVersion{},
			k.gvk, k.gvk.GroupVersion(), subresource, filters))
	}
	return must(managedfields.NewDefaultFieldManager(w.converters[k.file], runtime.UnsafeObjectConvertor(w.scheme), w.scheme, w.scheme,
		k.gvk, k.gvk.GroupVersion(), subresource, filters))
}

// Nothing when the text does not fit the Go type.
func (w *world) typed(k kind, text []byte) runtime.Object {
	if k.custom() {
		object := &unstructured.Unstructured{Object: map[string]interface{}{}}
		if text != nil {
			object.Object = decode(text)
		}
		object.SetGroupVersionKind(k.gvk)
		return object
	}
	object := must(w.scheme.New(k.gvk))
	if text != nil {
		if err := json.Unmarshal(text, object); err != nil {
			return nil
		}
	}
	object.GetObjectKind().SetGroupVersionKind(k.gvk)
	return object
}

// What was written now gets the time of the step: the clock of the machine must not show.
func setTimes(object runtime.Object, now metav1.Time) {
	accessor := object.(metav1.Object)
	entries := accessor.GetManagedFields()
	for i := range entries {
		if entries[i].Time != nil && entries[i].Time.Year() > 2021 {
			entries[i].Time = &now
		}
	}
	accessor.SetManagedFields(entries)
}

// An empty list of managedFields means something to the server, but Go leaves it out.
func marshal(object runtime.Object) []byte {
	text := must(json.Marshal(object))
	entries := object.(metav1.Object).GetManagedFields()
	if entries == nil || len(entries) > 0 {
		return text
	}
	value := decode(text)
	value["metadata"].(map[string]interface{})["managedFields"] = []interface{}{}
	return must(json.Marshal(value))
}

func run(w *world, random *chooser, k kind, steps int, emit func(step)) {
	var live []byte
	var schema []byte
	if k.custom() {
		schema = []byte(widgetSchema)
	}
	for i := 0; i < steps; i++ {
		now := metav1.NewTime(time.Date(2020, 1, 1, 0, i, 0, 0, time.UTC))
		s := step{Group: k.gvk.Group, Version: k.gvk.Version, Kind: k.gvk.Kind, Schema: schema, Now: now.UTC().Format(time.RFC3339), Live: live,
			Operation: "Update", Manager: random.managerName(), Force: random.one(3)}
		if live != nil && random.one(5) {
			s.Subresource = "status"
		}
		s.Reset = resets[s.Subresource]
		manager := w.manager(k, s.Subresource)
		liveObject := w.typed(k, live)
		var result runtime.Object
		var err error
		if random.one(2) {
			s.Operation = "Apply"
			configuration := random.configuration(k)
			s.Sent = must(json.Marshal(configuration))
			result, err = manager.Apply(liveObject, &unstructured.Unstructured{Object: decode(s.Sent)}, s.Manager, s.Force)
		} else {
			object := w.typed(k, must(json.Marshal(random.update(k, live))))
			if object == nil {
				continue
			}
			s.Sent = marshal(object)
			result, err = manager.Update(liveObject, object, s.Manager)
		}
		if err != nil && w.typed(k, s.Sent) == nil && !strings.HasPrefix(err.Error(), "failed to create typed patch object") {
			continue // the merged object does not fit the Go type, which others look at
		}
		if err != nil {
			s.Error = err.Error()
		} else {
			result.(metav1.Object).SetUID("u")
			setTimes(result, now)
			s.Result = must(json.Marshal(result))
			live = s.Result
		}
		emit(s)
	}
}

func main() {
	seed := flag.Int64("seed", 1, "of the random choices")
	count := flag.Int("sequences", 100, "how many objects")
	steps := flag.Int("steps", 24, "writes to each")
	folder := flag.String("openapi", "", "folder of the OpenAPI v3 documents of Kubernetes")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	random := &chooser{rand.New(rand.NewSource(*seed))}
	w := newWorld(*folder)
	for i := 0; i < *count; i++ {
		run(w, random, kinds[random.Intn(len(kinds))], *steps, func(s step) {
			out.Write(append(must(json.Marshal(s)), '\n'))
		})
	}
	must(0, out.Flush())
}
