package objectstore

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// values holds objects with values of every type and at the bounds of the encoding.
func values() []map[string]any {
	deep := any("end")
	for range 1000 {
		deep = map[string]any{"a": []any{deep}}
	}
	var out []map[string]any
	for _, v := range []any{
		nil, true, false, "", "a", strings.Repeat("x", maxSharedBytes), strings.Repeat("x", maxSharedBytes+1), "\x00\x1b[31m\xff",
		int64(0), int64(1), int64(-1), maxSmall, maxSmall + 1, int64(math.MaxInt64), int64(math.MinInt64),
		0.0, -0.5, math.MaxFloat64, []any{}, []any{nil, []any{int64(1)}}, map[string]any{}, map[string]any{"": nil}, deep,
	} {
		out = append(out, map[string]any{"value": v, "again": v}, map[string]any{"value": v})
	}
	return out
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := New(NewTable())
	for i, object := range values() {
		if err := s.Add(Head{Namespace: "n", Name: fmt.Sprint(i), File: "f", Line: i}, object); err != nil {
			t.Fatal(err)
		}
	}
	s.Done()
	for i, want := range values() {
		if got := s.Object(i); !reflect.DeepEqual(got, want) {
			t.Errorf("object %d: got %#v, want %#v", i, got, want)
		}
		if got, want := s.Head(i), (Head{Namespace: "n", Name: fmt.Sprint(i), File: "f", Line: i}); got != want {
			t.Errorf("head %d: got %v, want %v", i, got, want)
		}
	}
}

// TestBlocks fills several blocks with objects that share a table with another store, and reads them
// concurrently.
func TestBlocks(t *testing.T) {
	t.Parallel()
	const objects = 20_000
	table := NewTable()
	s, other := New(table), New(table)
	for i := range objects {
		object := map[string]any{"kind": "CronTab", "spec": map[string]any{"n": int64(i), "text": fmt.Sprintf("%d %s", i, strings.Repeat("x", 100))}}
		for _, s := range []*Store{s, other} {
			if err := s.Add(Head{Name: fmt.Sprint(i)}, object); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Done()
	other.Done()
	if len(s.blocks) < 2 || table.Bytes() > 2*objects*220 {
		t.Fatalf("%d blocks with %d bytes", len(s.blocks), table.Bytes())
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range objects {
				if got := other.Object(i)["spec"].(map[string]any)["n"]; got != int64(i) {
					t.Errorf("object %d: got %v", i, got)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestUnknownType checks that a value that no decoder returns leaves the store unchanged.
func TestUnknownType(t *testing.T) {
	t.Parallel()
	s := New(NewTable())
	if err := s.Add(Head{}, map[string]any{"a": "b", "c": 1}); err == nil || s.Len() != 0 {
		t.Errorf("%v, %d objects", err, s.Len())
	}
	if err := s.Add(Head{}, map[string]any{"a": "b"}); err != nil {
		t.Fatal(err)
	}
	s.Done()
	if got := s.Object(0); !reflect.DeepEqual(got, map[string]any{"a": "b"}) {
		t.Error(got)
	}
}

// TestFull checks that the memory of all stores together is limited.
func TestFull(t *testing.T) {
	t.Parallel()
	table := NewTable()
	s := New(table)
	table.bytes = MaxBytes
	if err := s.Add(Head{Name: "a"}, map[string]any{}); err != nil {
		t.Fatal(err)
	}
	if err := New(table).Add(Head{Name: "b"}, map[string]any{}); !errors.Is(err, ErrFull) {
		t.Error(err)
	}
}

// FuzzObject checks that an object that was decoded from JSON is read as it was stored.
func FuzzObject(f *testing.F) {
	f.Add(`{"apiVersion":"v1","kind":"A","metadata":{"name":"a"},"spec":{"n":[1,-1,1.5,true,null,"x","x"]}}`)
	f.Fuzz(func(t *testing.T, text string) {
		object, err := engine.Decode([]byte(text))
		if err != nil || object == nil {
			t.Skip()
		}
		s := New(NewTable())
		for range 3 {
			if err := s.Add(Head{}, object); err != nil {
				t.Fatal(err)
			}
		}
		s.Done()
		for i := range 3 {
			if got := s.Object(i); !reflect.DeepEqual(got, object) {
				t.Errorf("got %#v, want %#v", got, object)
			}
		}
	})
}
