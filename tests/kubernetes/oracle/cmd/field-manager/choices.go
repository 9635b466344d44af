package main

import (
	"math/rand"
	"sort"
	"strings"

	"k8s.io/apimachinery/pkg/util/json"
)

type chooser struct{ *rand.Rand }

func (c *chooser) one(n int) bool { return c.Intn(n) == 0 }

var managers = []string{"kubectl", "kubectl-client-side-apply", "controller", "helm", "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", ""}

func (c *chooser) managerName() string {
	if c.one(3) {
		return managers[c.Intn(len(managers)-1)]
	}
	return managers[c.Intn(4)]
}

func keysOf(m map[string]interface{}) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

// What items of lists are known by; without it they would be nobody's.
var kept = map[string]bool{"name": true, "containerPort": true, "port": true, "type": true, "mountPath": true, "uid": true, "ip": true,
	"apiVersion": true, "kind": true, "metadata": true, "topologyKey": true, "whenUnsatisfiable": true, "protocol": true}

// A part of the document, as somebody applies it who cares for that part only.
func (c *chooser) configuration(k kind) map[string]interface{} {
	document := decode([]byte(k.document))
	c.thin(document, 2+c.Intn(4))
	c.change(document, 8)
	if c.one(6) {
		c.spoil(document, 30)
	}
	return document
}

// Values of the wrong kind, unknown members and missing keys.
func (c *chooser) spoil(value interface{}, odds int) {
	switch typed := value.(type) {
	case map[string]interface{}:
		for _, key := range keysOf(typed) {
			c.spoil(typed[key], odds)
			if !c.one(odds) || key == "apiVersion" || key == "kind" {
				continue
			}
			switch c.Intn(6) {
			case 0:
				typed[key] = words[c.Intn(len(words))]
			case 1:
				// A quantity turns into text on its way through the Go type.
				if key != "cpu" && key != "memory" {
					typed[key] = int64(7)
				}
			case 2:
				typed[key] = []interface{}{"a", int64(1), map[string]interface{}{"b": true}}
			case 3:
				typed[key] = map[string]interface{}{"a": []interface{}{1.5, nil, "d"}}
			case 4:
				delete(typed, key)
			case 5:
				typed["unknown"] = true
			}
		}
	case []interface{}:
		for _, item := range typed {
			c.spoil(item, odds)
		}
	}
}

// The live object with changes, or a new one.
func (c *chooser) update(k kind, live []byte) map[string]interface{} {
	if live == nil {
		document := decode([]byte(k.document))
		c.thin(document, 5)
		if c.one(2) {
			configuration := c.configuration(k)
			c.annotate(document, configuration)
		}
		return document
	}
	object := decode(live)
	metadata := object["metadata"].(map[string]interface{})
	if c.one(30) {
		metadata["managedFields"] = []interface{}{map[string]interface{}{}}
	} else if c.one(30) {
		metadata["managedFields"] = []interface{}{}
	} else if c.one(3) {
		delete(metadata, "managedFields")
	}
	entries := metadata["managedFields"]
	delete(metadata, "managedFields")
	if c.one(4) {
		document := decode([]byte(k.document))
		c.thin(document, 4)
		c.join(object, document)
	}
	c.change(object, 10)
	if entries != nil {
		metadata["managedFields"] = entries
	}
	return object
}

// kubectl's annotation, sometimes of what the document says.
func (c *chooser) annotate(document, configuration map[string]interface{}) {
	text := must(json.Marshal(document))
	if c.one(2) {
		text = must(json.Marshal(configuration))
	}
	metadata := document["metadata"].(map[string]interface{})
	annotations, ok := metadata["annotations"].(map[string]interface{})
	if !ok {
		annotations = map[string]interface{}{}
		metadata["annotations"] = annotations
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(text)
}

func (c *chooser) join(object, document map[string]interface{}) {
	for _, key := range keysOf(document) {
		if below, ok := object[key].(map[string]interface{}); ok {
			if more, ok := document[key].(map[string]interface{}); ok {
				c.join(below, more)
				continue
			}
		}
		if !kept[key] {
			object[key] = document[key]
		}
	}
}

func (c *chooser) thin(value interface{}, odds int) interface{} {
	switch typed := value.(type) {
	case map[string]interface{}:
		for _, key := range keysOf(typed) {
			if !kept[key] && c.one(odds) {
				delete(typed, key)
				continue
			}
			typed[key] = c.thin(typed[key], odds)
		}
	case []interface{}:
		list := []interface{}{}
		for _, item := range typed {
			if !c.one(odds) {
				list = append(list, c.thin(item, odds))
			}
		}
		if len(list) > 0 || c.one(3) {
			return list
		}
	}
	return value
}

var words = []string{"a", "b", "c", "web", "TCP", "UDP", "80"}

func (c *chooser) change(value interface{}, odds int) {
	switch typed := value.(type) {
	case map[string]interface{}:
		for _, key := range keysOf(typed) {
			c.change(typed[key], odds)
			if list, ok := typed[key].([]interface{}); ok {
				typed[key] = c.changeList(list, odds)
			}
			if !c.one(odds) || key == "apiVersion" || key == "kind" || strings.HasPrefix(key, "kubectl") {
				continue
			}
			switch old := typed[key].(type) {
			case map[string]interface{}:
				if !kept[key] {
					delete(typed, key)
				}
			case []interface{}:
				delete(typed, key)
			case string:
				typed[key] = words[c.Intn(len(words))]
			case int64:
				typed[key] = int64(c.Intn(100))
			case bool:
				typed[key] = !old
			}
		}
	case []interface{}:
		for _, item := range typed {
			c.change(item, odds)
		}
	}
}

func (c *chooser) changeList(list []interface{}, odds int) []interface{} {
	if c.one(odds) {
		c.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	if len(list) > 1 && c.one(odds) {
		at := c.Intn(len(list))
		list = append(append([]interface{}{}, list[:at]...), list[at+1:]...)
	}
	if len(list) > 0 && c.one(odds) {
		copied := decode(must(json.Marshal(map[string]interface{}{"v": list[c.Intn(len(list))]})))["v"]
		if m, ok := copied.(map[string]interface{}); ok {
			for _, key := range keysOf(m) {
				if text, ok := m[key].(string); ok && kept[key] && !c.one(4) {
					m[key] = text + "x"
				}
			}
		}
		list = append(list, copied)
	}
	return list
}
