// Prints strategic merge patches of real kinds with the result of k8s.io/apimachinery, one case per line:
//
//	{"group":"apps","version":"v1","kind":"Deployment","original":{...},"patch":{...},"result":{...}}
//
// or "error" instead of "result". The same seed gives the same cases.
package main

import (
	"bufio"
	gojson "encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

type kind struct {
	group, version, name string
	object               interface{}
	documents            []string
}

var kinds = []kind{
	{"", "v1", "Pod", &corev1.Pod{}, podDocuments},
	{"", "v1", "Service", &corev1.Service{}, serviceDocuments},
	{"", "v1", "Node", &corev1.Node{}, nodeDocuments},
	{"apps", "v1", "Deployment", &appsv1.Deployment{}, deploymentDocuments},
	{"policy", "v1", "PodDisruptionBudget", &policyv1.PodDisruptionBudget{}, budgetDocuments},
}

type caseLine struct {
	Group    string            `json:"group"`
	Version  string            `json:"version"`
	Kind     string            `json:"kind"`
	Original gojson.RawMessage `json:"original"`
	Patch    gojson.RawMessage `json:"patch"`
	Result   gojson.RawMessage `json:"result,omitempty"`
	Error    string            `json:"error,omitempty"`
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
	if err := json.Unmarshal(text, &value); err != nil {
		must(0, fmt.Errorf("%w in %s", err, text))
	}
	return value
}

// The library panics on a few malformed patches; such a case says nothing about the result.
func merge(original, patch []byte, object interface{}) (result map[string]interface{}, err error, usable bool) {
	defer func() {
		if recover() != nil {
			usable = false
		}
	}()
	merged, err := strategicpatch.StrategicMergeMapPatch(decode(original), decode(patch), object)
	return merged, err, true
}

func main() {
	seed := flag.Int64("seed", 1, "of the random choices")
	count := flag.Int("cases", 1000, "how many lines")
	flag.Parse()
	out := bufio.NewWriter(os.Stdout)
	random := &chooser{rand.New(rand.NewSource(*seed))}
	for done := 0; done < *count; {
		k := kinds[random.Intn(len(kinds))]
		original := random.document(k)
		patch, ok := random.patch(k, original)
		if !ok {
			continue
		}
		line := caseLine{Group: k.group, Version: k.version, Kind: k.name, Original: original, Patch: patch}
		result, err, usable := merge(original, patch, k.object)
		if !usable {
			continue
		}
		// Members of a map come in any order; where that shows in the outcome, there is nothing to compare with.
		stable := true
		for i := 0; i < 4 && stable; i++ {
			again, errAgain, _ := merge(original, patch, k.object)
			stable = (err == nil) == (errAgain == nil) &&
				(err != nil || string(must(json.Marshal(result))) == string(must(json.Marshal(again))))
		}
		if !stable {
			continue
		}
		if err != nil {
			line.Error = err.Error()
		} else {
			line.Result = must(json.Marshal(result))
		}
		out.Write(append(must(json.Marshal(line)), '\n'))
		done++
	}
	must(0, out.Flush())
}
