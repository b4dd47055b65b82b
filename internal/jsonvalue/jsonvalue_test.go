package jsonvalue

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	kjson "sigs.k8s.io/json"
)

// texts are objects that Object accepts.
var texts = []string{
	`{}`, ` { } `, "\t{\r\n}\n", `{"a":1}`, `{"":""}`, `{"a":[]}`, `{"a":[ ]}`, `{"a":[1,"b",null,true,false,{},[[]]]}`,
	`{"a":-0}`, `{"a":-1,"b":999999999999999999,"c":0.5,"d":-1.5e-7,"e":123456789.25}`,
	`{"a":"\"\\\/\b\f\n\r\t\u00e9\u20ac\ud83d\ude00"}`, `{"\u0061b":"日本語"}`,
	`{"long":"` + strings.Repeat("x", 1000) + `"}`, `{"a" : { "b" : [ { "c" : "d" } , 2 ] } }`,
	`{"a":` + strings.Repeat("[", 400) + strings.Repeat("]", 400) + `}`,
	`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a":"b","c":"b"}}`,
}

// others are texts that Object leaves to the library.
var others = []string{
	``, ` `, `null`, `1`, `[]`, `"a"`, `{`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{"a" 1}`, `{"a":1}{}`, `{"a":1} x`, `{a:1}`, `{'a':1}`,
	`{"a":1,"a":2}`, `{"a":{"b":1,"b":1}}`, `{"a":01}`, `{"a":-}`, `{"a":+1}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`, `{"a":0x1}`, `{"a":1_0}`,
	`{"a":1e3}`, `{"a":1.0}`, `{"a":1e400}`, `{"a":9223372036854775808}`, `{"a":12345678901234567890}`, `{"a":NaN}`,
	`{"a":"\x"}`, `{"a":"\u12"}`, `{"a":"\ud800"}`, `{"a":"\ud800\u0041"}`, `{"a":"\udc00\ud800"}`, "{\"a\":\"\x01\"}", "{\"a\":\"\n\"}", "{\"a\":\"\xff\"}", "{\"\xff\":1}", `{"a":"`, `{"a":"\`, `{"a":"\"`,
	`{"a":tru}`, `{"a":True}`, `{"a":nul`, `{"a":[1,]}`, `{"a":[,1]}`, `{"a":[1 2]}`, `{"a":[1}`, `{"a":}`, "\ufeff{}", "{}\x00",
	`{"a":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`, strings.Repeat(`{"a":`, 100_000),
}

func TestObject(t *testing.T) {
	t.Parallel()
	for _, text := range texts {
		if _, ok := Object([]byte(text)); !ok {
			t.Errorf("%.100s: not accepted", text)
		}
		compare(t, []byte(text))
	}
	for _, text := range others {
		if obj, ok := Object([]byte(text)); ok {
			t.Errorf("%.100s: got %v", text, obj)
		}
	}
}

// compare checks that an accepted text has the values that sigs.k8s.io/json returns.
func compare(t *testing.T, text []byte) {
	t.Helper()
	got, ok := Object(text)
	if !ok {
		return
	}
	var want map[string]any
	strict, err := kjson.UnmarshalStrict(text, &want)
	if err != nil || len(strict) > 0 || want == nil {
		t.Fatalf("%q: accepted, but %v %v", text, strict, err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: got %#v, want %#v", text, got, want)
	}
}

// TestMemory checks that the result does not change with the text or with later texts.
func TestMemory(t *testing.T) {
	t.Parallel()
	text := []byte(`{"name":"value","list":["a"]}`)
	obj, ok := Object(text)
	if !ok {
		t.Fatal("not accepted")
	}
	for i := range text {
		text[i] = 'x'
	}
	for range 10_000 {
		Object([]byte(`{"other":"text","more":["b"]}`))
	}
	if data, err := json.Marshal(obj); err != nil || string(data) != `{"list":["a"],"name":"value"}` {
		t.Errorf("got %s, %v", data, err)
	}
}

func FuzzObject(f *testing.F) {
	for _, text := range texts {
		f.Add([]byte(text))
	}
	for _, text := range others {
		if len(text) < 1000 {
			f.Add([]byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) { compare(t, text) })
}

const route = `{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"route-1","namespace":"ns-1","labels":{"app":"shop"}},"spec":{"parentRefs":[{"name":"gateway","sectionName":"https"}],"hostnames":["shop-1.example.com","www.example.com"],"rules":[{"matches":[{"path":{"type":"PathPrefix","value":"/cart"},"headers":[{"type":"Exact","name":"version","value":"2"}],"method":"GET"}],"filters":[{"type":"RequestHeaderModifier","requestHeaderModifier":{"add":[{"name":"x-env","value":"prod"}],"remove":["x-debug"]}}],"backendRefs":[{"name":"cart-v1","port":8080,"weight":90},{"name":"cart-v2","port":8080,"weight":10}]},{"matches":[{"path":{"type":"PathPrefix","value":"/checkout"}}],"timeouts":{"request":"10s","backendRequest":"2s"},"backendRefs":[{"name":"checkout","port":8080}]}]}}`

func BenchmarkObject(b *testing.B) {
	text := []byte(route)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Object(text); !ok {
			b.Fatal("not accepted")
		}
	}
}

func BenchmarkLibrary(b *testing.B) {
	text := []byte(route)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		var obj map[string]any
		if _, err := kjson.UnmarshalStrict(text, &obj); err != nil {
			b.Fatal(err)
		}
	}
}
