// Prints objects of every served kind as protobuf and as the JSON that the same Go value gives: for each kind one that is
// all zero, one with every field set and some with random fields; the choices follow from -seed. The JSON is made after one
// trip through protobuf, which does not tell nil from empty: that is also what kube-apiserver stores. One line each:
//
//	group/version kind PROTOBUF JSON LOOSE LOOSE_STORED
//
// LOOSE is the object as careless people write it (zero values spelled out, nulls, unknown fields, other time zones, other
// spellings of quantities) and LOOSE_STORED what upstream makes of it; both are "-" when it is refused. All in base64.
package main

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"reflect"
	"sort"
	"strings"
	"time"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	jsonserializer "k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

const depthMax = 12

type filler struct {
	*rand.Rand
	full bool                 // set every field, once
	open map[reflect.Type]int // structures on the way here: schemas contain themselves
}

// wanted decides about a field.
func (f *filler) wanted(depth int) bool { return f.full || f.chance(60-4*depth) }

func (f *filler) elements() int {
	if f.full {
		return 1
	}
	return f.Intn(4)
}

func (f *filler) chance(percent int) bool { return f.Intn(100) < percent }

func (f *filler) text() string {
	letters := []string{"", "a", "name", "x/y", "ä€", "\"quoted\"\n", strings.Repeat("long ", 40)}
	return letters[f.Intn(len(letters))]
}

func (f *filler) raw() []byte {
	values := []string{`{"a":[1,{"b":null}]}`, `"text"`, `[]`, `12.50`, `true`, `{}`}
	return []byte(values[f.Intn(len(values))])
}

func (f *filler) integer() int64 {
	values := []int64{0, 1, -1, 127, 128, 1 << 20, -1 << 31, 1<<31 - 1}
	return values[f.Intn(len(values))]
}

// special fills types whose JSON is not that of their fields.
func (f *filler) special(v reflect.Value) bool {
	switch p := v.Addr().Interface().(type) {
	case *metav1.TypeMeta:
		return true
	case *metav1.Time:
		if f.chance(70) {
			*p = metav1.Unix(f.Int63n(4e9)-1e9, 0)
		}
	case *metav1.MicroTime:
		if f.chance(70) {
			*p = metav1.NewMicroTime(time.Unix(f.Int63n(4e9)-1e9, f.Int63n(1e6)*1000))
		}
	case *metav1.Duration:
		p.Duration = time.Duration(f.integer()) * time.Duration(f.integer())
	case *metav1.FieldsV1:
		p.Raw = f.raw()
	case *resource.Quantity:
		texts := []string{"0", "1", "500m", "1536Mi", "-3", "1e3", "100k", "1n"}
		*p = resource.MustParse(texts[f.Intn(len(texts))])
	case *intstr.IntOrString:
		*p = intstr.FromInt32(int32(f.integer()))
		if f.chance(50) {
			*p = intstr.FromString(f.text())
		}
	case *runtime.RawExtension:
		p.Raw = f.raw()
	case *apiextensions.JSON:
		p.Raw = f.raw()
	default:
		return false
	}
	return true
}

func (f *filler) fill(v reflect.Value, depth int) {
	if f.special(v) {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		if f.open[v.Type()] == 2 {
			return
		}
		f.open[v.Type()]++
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && f.wanted(depth) {
				f.fill(v.Field(i), depth+1)
			}
		}
		f.open[v.Type()]--
	case reflect.Pointer:
		if f.full || depth < depthMax {
			v.Set(reflect.New(v.Type().Elem()))
			f.fill(v.Elem(), depth+1)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			v.SetBytes([]byte(f.text()))
			return
		}
		for n := f.elements(); n > 0 && (f.full || depth < depthMax); n-- {
			element := reflect.New(v.Type().Elem()).Elem()
			f.fill(element, depth+1)
			v.Set(reflect.Append(v, element))
		}
	case reflect.Map:
		for n := f.elements(); n > 0 && (f.full || depth < depthMax); n-- {
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			key, element := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.SetString(f.text())
			f.fill(element, depth+1)
			v.SetMapIndex(key, element)
		}
	case reflect.String:
		v.SetString(f.text())
	case reflect.Bool:
		v.SetBool(f.chance(50))
	case reflect.Int32, reflect.Int64, reflect.Int:
		v.SetInt(f.integer())
	case reflect.Float64:
		v.SetFloat([]float64{0, 1, -2.5, 1e21, 1e-7, 0.1}[f.Intn(6)])
	default:
		panic("no random value for " + v.Type().String())
	}
}

var codec = protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
var textCodec = jsonserializer.NewSerializerWithOptions(jsonserializer.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, jsonserializer.SerializerOptions{})

func encode(codec runtime.Encoder, object runtime.Object) ([]byte, error) {
	var body bytes.Buffer
	err := codec.Encode(object, &body)
	return body.Bytes(), err
}

// stored is the JSON of an object after one trip through the form in which it is kept.
func stored(kind schema.GroupVersionKind, object runtime.Object) ([]byte, error) {
	if kind.Group != apiextensions.GroupName && kind.Group != apiregistration.GroupName {
		body, err := encode(codec, object)
		if err != nil {
			return nil, err
		}
		if object, _, err = codec.Decode(body, nil, nil); err != nil {
			return nil, err
		}
	}
	return json.Marshal(object)
}

func print(out *bufio.Writer, f *filler, kind schema.GroupVersionKind, object runtime.Object) error {
	object.GetObjectKind().SetGroupVersionKind(kind)
	body, err := encode(codec, object)
	if err != nil {
		return err
	}
	decoded, _, err := codec.Decode(body, nil, nil)
	if err != nil {
		return err
	}
	text, err := json.Marshal(decoded)
	if err != nil {
		return err
	}
	loose, err := json.Marshal(f.loosen(spelledOut(reflect.ValueOf(object).Elem()), ""))
	if err != nil {
		return err
	}
	columns := []string{kind.GroupVersion().String(), kind.Kind}
	for _, data := range [][]byte{body, text} {
		columns = append(columns, base64.StdEncoding.EncodeToString(data))
	}
	looseColumns := []string{"-", "-"}
	if decoded, _, err := textCodec.Decode(loose, nil, nil); err == nil {
		if kept, err := stored(kind, decoded); err == nil {
			looseColumns = []string{base64.StdEncoding.EncodeToString(loose), base64.StdEncoding.EncodeToString(kept)}
		}
	}
	_, err = fmt.Fprintln(out, strings.Join(append(columns, looseColumns...), " "))
	return err
}

func run(seed int64, count int) error {
	for _, add := range []func(*runtime.Scheme) error{apiextensions.AddToScheme, apiregistration.AddToScheme} {
		if err := add(scheme.Scheme); err != nil {
			return err
		}
	}
	known := scheme.Scheme.AllKnownTypes()
	var kinds []schema.GroupVersionKind
	for kind := range known {
		kinds = append(kinds, kind)
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].String() < kinds[j].String() })
	out := bufio.NewWriter(os.Stdout)
	random := &filler{Rand: rand.New(rand.NewSource(seed)), open: map[reflect.Type]int{}}
	for _, kind := range kinds {
		if kind.Version == runtime.APIVersionInternal || kind.Kind == "WatchEvent" {
			continue
		}
		for i := 0; i <= count; i++ {
			object := reflect.New(known[kind])
			if i > 0 {
				random.full = i == 1
				random.fill(object.Elem(), 0)
			}
			if err := print(out, random, kind, object.Interface().(runtime.Object)); err != nil {
				return fmt.Errorf("%v: %w", kind, err)
			}
		}
	}
	return out.Flush()
}

func main() {
	seed := flag.Int64("seed", 1, "decides what is random")
	count := flag.Int("count", 20, "objects per kind besides the empty one")
	flag.Parse()
	if err := run(*seed, *count); err != nil {
		fmt.Fprintln(os.Stderr, "pairs:", err)
		os.Exit(1)
	}
}
