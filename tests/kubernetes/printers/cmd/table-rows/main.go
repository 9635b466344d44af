// Shows objects as Kubernetes does. One case per line in: {"plural", "object"}. One per line out: the case with the columns, the cells and the
// moment to which the ages belong.
package main

import (
	"bufio"
	"encoding/json"
	"log"
	"os"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/admissionregistration/install"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
	"k8s.io/kubernetes/pkg/printers"
	"k8s.io/kubernetes/pkg/printers/internalversion"
)

type testCase struct {
	Plural  string                         `json:"plural"`
	Object  json.RawMessage                `json:"object"`
	Now     time.Time                      `json:"now"`
	Columns []metav1.TableColumnDefinition `json:"columns"`
	Cells   []interface{}                  `json:"cells"`
}

var generator = printers.NewTableGenerator().With(internalversion.AddHandlers)

// Ages count whole seconds since a moment of whole seconds: a row is good when no second began while it was made.
func print(c *testCase, object runtime.Object) error {
	for {
		c.Now = time.Now().UTC()
		table, err := generator.GenerateTable(object, printers.GenerateOptions{Wide: true})
		if err != nil {
			return err
		}
		if time.Now().Unix() != c.Now.Unix() {
			continue
		}
		c.Columns, c.Cells = table.ColumnDefinitions, table.Rows[0].Cells
		return nil
	}
}

func main() {
	log.SetFlags(0)
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 16<<20)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	for input.Scan() {
		var c testCase
		if err := json.Unmarshal(input.Bytes(), &c); err != nil {
			log.Fatal(err)
		}
		object, err := runtime.Decode(legacyscheme.Codecs.UniversalDecoder(), c.Object)
		if err == nil {
			err = print(&c, object)
		}
		if err != nil {
			log.Fatalf("%s: %v", c.Object, err)
		}
		if err := output.Encode(c); err != nil {
			log.Fatal(err)
		}
	}
}
