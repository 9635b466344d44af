package main

import (
	"encoding/json"
	"reflect"
	"sort"
	"strings"
	"time"
)

var marshaler = reflect.TypeFor[json.Marshaler]()

// spelledOut is the JSON of a value with every field, also those that JSON leaves out when they are empty.
func spelledOut(v reflect.Value) any {
	if v.Kind() != reflect.Pointer && (v.Type().Implements(marshaler) || reflect.PointerTo(v.Type()).Implements(marshaler)) {
		return plain(v.Interface())
	}
	switch v.Kind() {
	case reflect.Struct:
		result := map[string]any{}
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			switch {
			case name == "-":
			case name != "":
				result[name] = spelledOut(v.Field(i))
			default:
				for key, value := range spelledOut(v.Field(i)).(map[string]any) {
					result[key] = value
				}
			}
		}
		return result
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return spelledOut(v.Elem())
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return plain(v.Interface())
		}
		result := []any{}
		for i := range v.Len() {
			result = append(result, spelledOut(v.Index(i)))
		}
		return result
	case reflect.Map:
		result := map[string]any{}
		for entries := v.MapRange(); entries.Next(); {
			result[entries.Key().String()] = spelledOut(entries.Value())
		}
		return result
	default:
		return plain(v.Interface())
	}
}

func plain(value any) any {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	var result any
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.UseNumber()
	if err := decoder.Decode(&result); err != nil {
		panic(err)
	}
	return result
}

// loosen drops members, sets some to null, adds unknown ones and spells texts in other ways. `key` is the member's name.
func (f *filler) loosen(value any, key string) any {
	switch value := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(value))
		for name := range value {
			names = append(names, name)
		}
		sort.Strings(names)
		for _, name := range names {
			switch chance := f.Intn(100); {
			case name == "apiVersion" || name == "kind":
			case chance < 4:
				value[name] = nil
			case chance < 20:
				delete(value, name)
			default:
				value[name] = f.loosen(value[name], name)
			}
		}
		if f.chance(3) && len(value) > 0 {
			value["zzUnknown"] = map[string]any{"a": 1}
		}
	case []any:
		for i := range value {
			value[i] = f.loosen(value[i], key)
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil && f.chance(50) {
			layout := time.RFC3339
			if strings.Contains(value, ".") {
				layout = "2006-01-02T15:04:05.000000Z07:00"
			}
			return at.In(time.FixedZone("", 7200)).Format(layout)
		}
		others := map[string]string{"500m": "0.5", "1536Mi": "1.5Gi", "100k": "100000", "1": "1000m", "1e3": "1000e0"}
		if other, found := others[value]; found && f.chance(70) {
			return other
		}
	}
	return value
}
