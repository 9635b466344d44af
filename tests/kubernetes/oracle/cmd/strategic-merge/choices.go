package main

import (
	"math/rand"
	"sort"

	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type chooser struct{ *rand.Rand }

func (c *chooser) one(n int) bool { return c.Intn(n) == 0 }

func (c *chooser) document(k kind) []byte {
	document := decode([]byte(k.documents[c.Intn(len(k.documents))]))
	if c.one(2) {
		c.change(document, 12)
	}
	return must(json.Marshal(document))
}

// Usually the difference to a changed document, as a client computes it; then, now and then, changed itself.
func (c *chooser) patch(k kind, original []byte) (patch []byte, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	modified := decode(original)
	c.change(modified, 6)
	patch, err := strategicpatch.CreateTwoWayMergePatch(original, must(json.Marshal(modified)), k.object)
	if err != nil {
		return nil, false
	}
	if c.one(3) {
		changed := decode(patch)
		c.change(changed, 10)
		c.direct(changed)
		patch = must(json.Marshal(changed))
	} else if c.one(6) {
		patch = must(json.Marshal(modified))
	}
	return patch, true
}

func keysOf(m map[string]interface{}) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}

var words = []string{"a", "b", "c", "web", "TCP", "80", "true"}

func (c *chooser) scalar() interface{} {
	switch c.Intn(5) {
	case 0:
		return int64(c.Intn(4))
	case 1:
		return c.one(2)
	default:
		return words[c.Intn(len(words))]
	}
}

// Each value below changes with a chance of one in `odds`.
func (c *chooser) change(value interface{}, odds int) {
	switch typed := value.(type) {
	case map[string]interface{}:
		for _, key := range keysOf(typed) {
			if !c.one(odds) {
				c.change(typed[key], odds)
				if list, ok := typed[key].([]interface{}); ok {
					typed[key] = c.changeList(list, odds)
				}
				continue
			}
			switch typed[key].(type) {
			case map[string]interface{}, []interface{}:
				delete(typed, key)
			case string:
				typed[key] = words[c.Intn(len(words))]
			case int64:
				typed[key] = int64(c.Intn(100))
			default:
				typed[key] = c.scalar()
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
	if len(list) > 0 && c.one(odds) {
		at := c.Intn(len(list))
		list = append(append([]interface{}{}, list[:at]...), list[at+1:]...)
	}
	if len(list) > 0 && c.one(odds) {
		copied := decode(must(json.Marshal(map[string]interface{}{"v": list[c.Intn(len(list))]})))["v"]
		if m, ok := copied.(map[string]interface{}); ok {
			for _, key := range []string{"name", "containerPort", "port", "type", "mountPath", "uid"} {
				if _, found := m[key]; found {
					m[key] = map[bool]interface{}{true: int64(c.Intn(9)), false: words[c.Intn(len(words))]}[key == "port" || key == "containerPort"]
				}
			}
		} else {
			copied = words[c.Intn(len(words))]
		}
		list = append(list, copied)
	}
	return list
}

// Directives where a person might put them, sensible or not.
func (c *chooser) direct(value interface{}) {
	switch typed := value.(type) {
	case map[string]interface{}:
		keys := keysOf(typed)
		for _, key := range keys {
			c.direct(typed[key])
			if list, ok := typed[key].([]interface{}); ok && c.one(8) {
				typed["$setElementOrder/"+key] = c.changeList(append([]interface{}{}, list...), 2)
			}
			if c.one(20) {
				typed[key] = nil
			}
		}
		if c.one(15) {
			typed["$patch"] = []interface{}{"replace", "delete", "merge", "other"}[c.Intn(4)]
		}
		if c.one(20) {
			retain := []interface{}{}
			for _, key := range keys {
				if !c.one(4) {
					retain = append(retain, key)
				}
			}
			typed["$retainKeys"] = retain
		}
	case []interface{}:
		for _, item := range typed {
			c.direct(item)
		}
	}
}
