package input

import (
	"reflect"
	"strings"
	"testing"
)

// glimpseNames returns the fields of an object that a glimpse reads.
func glimpseNames(obj map[string]any) [5]any {
	meta, _ := obj["metadata"].(map[string]any)
	return [5]any{obj["apiVersion"], obj["kind"], meta["name"], meta["generateName"], meta["namespace"]}
}

// glimpsed returns the glimpses of the chunks of text, and the decoded objects.
func glimpsed(text string) (seen []map[string]any, decoded []*Document) {
	Split("f", strings.NewReader(text), func(c Chunk) bool {
		seen = append(seen, c.scanIdentity())
		if c.scanIdentity() == nil {
			seen = seen[:len(seen)-1]
			return true
		}
		return c.Each(func(d *Document) bool {
			decoded = append(decoded, d)
			return true
		})
	})
	return seen, decoded
}

func TestGlimpse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","namespace":"n"},"spec":{"kind":"L","a":[{},[]]}}`: true,
		"{ \"spec\" : {} ,\n\"kind\": \"K\", \"apiVersion\"\t: \"v1\", \"metadata\": { } }\n":                      true,
		`{"apiVersion":"v1","kind":"K","metadata":{"generateName":"a-","labels":{"name":"no"}}}`:                   true,
		`{"apiVersion":"v1","kind":"K"}`:                                    true,
		`{"apiVersion":"v1","kind":"K","spec":{"a":"\\\"}}\n"}}`:            true,
		`{"apiVersion":"v1","kind":"K","kind":"L"}`:                         false,
		`{"apiVersion":"v1","kind":"K","\u006bind":"L"}`:                    false,
		`{"apiVersion":"v1","kind":"\u004b"}`:                               false,
		`{"apiVersion":"v1","kind":"Ä"}`:                                    false,
		`{"apiVersion":"v1","kind":1}`:                                      false,
		`{"apiVersion":"v1","kind":"KList","items":[]}`:                     false,
		`{"apiVersion":"v1"}`:                                               false,
		`{"kind":"K"}`:                                                      false,
		`{}`:                                                                false,
		`[]`:                                                                false,
		`{"apiVersion":"v1","kind":"K","metadata":[]}`:                      false,
		`{"apiVersion":"v1","kind":"K","metadata":null}`:                    false,
		`{"apiVersion":"v1","kind":"K","metadata":{"name":null}}`:           false,
		`{"apiVersion":"v1","kind":"K","metadata":{"name":"a","name":"b"}}`: false,
		`{"apiVersion":"v1","kind":"K",}`:                                   false,
		`{"apiVersion":"v1","kind":"K"`:                                     false,
		"apiVersion: v1\nkind: K\n":                                         false,
	} {
		seen, decoded := glimpsed(text)
		if (len(seen) == 1) != want {
			t.Errorf("%s: seen %v", text, seen)
		}
		for i, d := range decoded {
			if d.Err == nil && glimpseNames(seen[i]) != glimpseNames(d.Object) {
				t.Errorf("%s: seen %v, decoded %v", text, seen[i], d.Object)
			}
		}
	}
}

// FuzzGlimpse checks that the fields of a glimpse equal those of the decoded object.
func FuzzGlimpse(f *testing.F) {
	f.Add(`{"apiVersion":"g/v1","kind":"K","metadata":{"name":"a","namespace":"n","generateName":"x"},"spec":{"kind":"L","a":[{},[]]}}`)
	f.Add(`{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"K","metadata":{"name":"a"}},{"kind":"K","kind":"L"}]}`)
	f.Add(`{"apiVersion":"v1","kind":"K", a: b, "metadata":{"name":"a", "name": c}}`)
	f.Add("{\"apiVersion\":\"v1\",\"kind\":\"K\",\"metadata\":{\"name\":\"\xff\"}}\n---\n{}")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 64<<10 {
			return
		}
		seen, decoded := glimpsed(text)
		if len(seen) != len(decoded) {
			t.Fatalf("%q: %d seen, %d decoded", text, len(seen), len(decoded))
		}
		for i, d := range decoded {
			if d.Err == nil && !reflect.DeepEqual(glimpseNames(seen[i]), glimpseNames(d.Object)) {
				t.Errorf("%q: seen %v, decoded %v", text, seen[i], d.Object)
			}
		}
	})
}
