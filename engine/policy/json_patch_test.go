package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"

	"github.com/celadon-cel/celadon/engine"
)

// A testOperation is an operation in the form of both implementations.
type testOperation struct {
	op, path, from string
	value          any
	hasValue       bool
}

// upstreamPatch applies operations with the server's library.
func upstreamPatch(object map[string]any, operations []testOperation) (out map[string]any, err error) {
	defer func() {
		if p := recover(); p != nil {
			out, err = nil, errCrash
		}
	}()
	raw := func(text string) *json.RawMessage { m := json.RawMessage(text); return &m }
	var patch jsonpatch.Patch
	for _, o := range operations {
		one := jsonpatch.Operation{"op": raw(strconv.Quote(o.op)), "path": raw(strconv.Quote(o.path))}
		if o.from != "" {
			one["from"] = raw(strconv.Quote(o.from))
		}
		if o.hasValue {
			data, err := json.Marshal(o.value)
			if err != nil {
				return nil, err
			}
			one["value"] = raw(string(data))
		}
		patch = append(patch, one)
	}
	data, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	if data, err = patch.Apply(data); err != nil {
		return nil, err
	}
	return engine.Decode(data)
}

func unlimited(uint64) error { return nil }

func ownPatch(object map[string]any, operations []testOperation, minor int) (map[string]any, error) {
	var list []patchOperation
	for _, o := range operations {
		one := patchOperation{op: o.op, path: o.path, from: o.from}
		if o.hasValue {
			one.value = &patchNode{value: o.value}
		}
		list = append(list, one)
	}
	out, err := applyPatch(object, list, minor, unlimited)
	if err != nil {
		return nil, err
	}
	copied, err := (&run{workLeft: maxWork}).copy(out, true)
	if err != nil {
		return nil, err
	}
	patched, ok := copied.(map[string]any)
	if !ok {
		return nil, errors.New("not an object")
	}
	return patched, nil
}

// TestJSONPatch compares random patches with the server's library.
func TestJSONPatch(t *testing.T) {
	t.Parallel()
	minor := replaceFails.Since
	if _, err := upstreamPatch(map[string]any{}, []testOperation{{op: "replace", value: int64(1), hasValue: true}}); err == nil {
		minor-- // the linked library is older
	}
	r := rand.New(rand.NewPCG(1, 2))
	value := func() any {
		return []any{int64(1), 1.5, 2.0, "a", "<&>", true, nil, map[string]any{}, []any{}, []any{int64(1), "a"}, map[string]any{"a": nil}, map[string]any{"a": int64(1)}, []any{nil}}[r.IntN(13)]
	}
	path := func() string {
		return []string{"/a", "/a/b", "/a/0", "/a/-", "/a/-1", "/a/2", "/a/x", "/b", "/b/c", "/b/c/1", "/b/c/-", "/c", "/c/d", "", "/", "a/b", "/x~1y", "/x~0y", "/~01", "/b/c/0/a", "/d\x01", "/é", "/n", "/n/a"}[r.IntN(24)]
	}
	results := map[string]int{}
	for range 6_000 {
		object := map[string]any{"a": value(), "b": map[string]any{"c": []any{value(), value()}}, "x/y": value(), "n": nil}
		var operations []testOperation
		for range 1 + r.IntN(4) {
			o := testOperation{op: []string{"add", "add", "remove", "replace", "move", "copy", "test", "test", "x"}[r.IntN(9)], path: path(), value: value(), hasValue: r.IntN(8) > 0}
			if r.IntN(6) > 0 {
				o.from = path()
			}
			operations = append(operations, o)
		}
		before := fmt.Sprint(object)
		got, err := ownPatch(object, operations, minor)
		if fmt.Sprint(object) != before {
			t.Fatalf("%v: the object is modified", operations)
		}
		want, wantErr := upstreamPatch(object, operations)
		if wantErr != nil && err != nil && (err == wantErr || err.Error() == wantErr.Error()) {
			results["errors"]++
			continue
		}
		if wantErr != nil && err == nil && got == nil || err != nil && want == nil && wantErr == nil {
			continue // the patch replaced the object by another value
		}
		if wantErr != nil || err != nil {
			if err != nil && err.Error() == "not an object" {
				continue
			}
			t.Errorf("%v of %v: got %v, %v, want %v, %v", operations, object, got, err, want, wantErr)
			continue
		}
		results["patched"]++
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%v of %v: %s", operations, object, diff)
		}
	}
	if results["errors"] < 500 || results["patched"] < 500 {
		t.Errorf("the patches are too similar: %v", results)
	}
}
