package main

import (
	gojson "encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// A custom resource with everything that a structural schema can say about ownership.
const widgetSchema = `{"type":"object","properties":{"spec":{"type":"object","properties":{
  "size":{"type":"integer"},"title":{"type":"string"},"both":{"x-kubernetes-int-or-string":true},
  "tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
  "numbers":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"integer"}},
  "args":{"type":"array","items":{"type":"string"}},
  "ports":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["port","protocol"],
    "items":{"type":"object","required":["port"],"properties":{"port":{"type":"integer"},
      "protocol":{"type":"string","default":"TCP"},"name":{"type":"string"}}}},
  "settings":{"type":"object","additionalProperties":{"type":"string"}},
  "deep":{"type":"object","additionalProperties":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"integer"}}}},
  "whole":{"type":"object","x-kubernetes-map-type":"atomic","properties":{"name":{"type":"string"},"kind":{"type":"string"}}},
  "free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
  "mixed":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"known":{"type":"string"},
    "list":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}},
  "template":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true},
  "parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],
    "items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"},
      "labels":{"type":"object","additionalProperties":{"type":"string"}},
      "more":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
      "inner":{"type":"object","properties":{"x":{"type":"string"},"y":{"type":"string"}}}}}}}},
 "status":{"type":"object","properties":{"phase":{"type":"string"},
  "conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],
    "items":{"type":"object","required":["type"],"properties":{"type":{"type":"string"},"status":{"type":"string"}}}}}}}}`

const widgetDocument = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w","labels":{"a":"b"},"finalizers":["x","y"]},
  "spec":{"size":3,"title":"t","both":"x","tags":["a","b","c"],"numbers":[1,2,30],"args":["p","q"],
   "ports":[{"port":80,"name":"http"},{"port":80,"protocol":"UDP"},{"port":443,"protocol":"TCP"}],
   "settings":{"one":"1","two":"2"},"deep":{"k":{"a":"1","b":2},"l":{"a":"2"}},"whole":{"name":"n","kind":"K"},
   "free":{"a":{"b":{"c":1}},"d":[1,{"e":2}],"f":"g"},"mixed":{"known":"k","list":["r","s"],"unknown":{"u":"v"}},
   "template":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":{"in":"side"},"finalizers":["z"]},"spec":{"x":{"y":"z"}}},
   "parts":[{"name":"one","labels":{"q":"r"},"more":["m","n"],"inner":{"x":"1","y":"2"}},{"name":"two","inner":{"x":"3"}},{"name":"three"}]},
  "status":{"phase":"Ready","conditions":[{"type":"Ready","status":"True"},{"type":"Busy","status":"False"}]}}`

// As the server publishes it: with the members that every object has, also an embedded one.
func addWidget(schemas map[string]*spec.Schema) {
	widget := &spec.Schema{}
	must(0, gojson.Unmarshal([]byte(widgetSchema), widget))
	addObjectMembers(widget)
	properties := widget.Properties["spec"].Properties
	template := properties["template"]
	addObjectMembers(&template)
	properties["template"] = template
	widget.AddExtension("x-kubernetes-group-version-kind",
		[]interface{}{map[string]interface{}{"group": "example.com", "version": "v1", "kind": "Widget"}})
	schemas["com.example.v1.Widget"] = widget
}

func addObjectMembers(object *spec.Schema) {
	if object.Properties == nil {
		object.Properties = map[string]spec.Schema{}
	}
	object.Properties["apiVersion"] = *spec.StringProperty()
	object.Properties["kind"] = *spec.StringProperty()
	object.Properties["metadata"] = spec.Schema{SchemaProps: spec.SchemaProps{
		AllOf: []spec.Schema{*spec.RefSchema("#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta")}}}
}

// Converter, defaulter and creator of a resource with a single version.
type sameVersion struct{}

func (sameVersion) Convert(in, out, context interface{}) error { return nil }
func (sameVersion) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}
func (sameVersion) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
func (sameVersion) Default(runtime.Object) {}
func (sameVersion) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	return object, nil
}
