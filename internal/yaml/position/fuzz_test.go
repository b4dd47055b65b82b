package position

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"sigs.k8s.io/yaml"
)

func seeds(f *testing.F, add func(text string)) {
	for _, c := range scalarCases {
		add(c.text)
	}
	for _, c := range editCases {
		add(c.text)
	}
	f.Helper()
}

func FuzzPositions(f *testing.F) {
	seeds(f, func(text string) { f.Add([]byte(text)) })
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text)
		if err != nil {
			return
		}
		within(t, d, d.Root)
	})
}

func within(t *testing.T, d *Document, n *Node) {
	t.Helper()
	if n.Begin > n.Start || n.Start > n.End || n.End > len(d.text) {
		t.Fatalf("%q: bytes %d, %d to %d of %d", n.Value, n.Begin, n.Start, n.End, len(d.text))
	}
	if !n.Known {
		return
	}
	if n.Kind == Scalar && utf8.ValidString(d.text) {
		thereAndBack(t, d, n)
	}
	last := n.Start
	for i, item := range n.Items {
		parts := []*Node{item}
		if n.Kind == Mapping {
			parts = []*Node{n.Keys[i], item}
		}
		for _, part := range parts {
			if part.Begin < last || part.End > n.End {
				t.Fatalf("%q: %d to %d: the one before ends at %d, all of them at %d", d.text, part.Begin, part.End, last, n.End)
			}
			last = part.End
			within(t, d, part)
		}
	}
}

// FuzzEdit checks, with kubectl's decoder, that an edit makes exactly the requested change.
func FuzzEdit(f *testing.F) {
	i := byte(0)
	seeds(f, func(text string) {
		f.Add([]byte(text), uint8(len(text)), i, []string{"x", "a: b", "a\nb", "yes", " ", "é\u2028"}[i%6])
		i++
	})
	f.Fuzz(func(t *testing.T, text []byte, which, how uint8, value string) {
		d, err := Parse(text)
		if err != nil || bytes.Contains(text, []byte("<<")) {
			return
		}
		paths, plain := places(d.Root, nil)
		if !plain || len(paths) == 0 || !utf8.ValidString(value) {
			return // JSON writes these keys differently
		}
		path := paths[int(which)%len(paths)]
		change, want := Set(path, value), any(value)
		switch how % 4 {
		case 1:
			change, want = Remove(path), nil
		case 2:
			if path = append(path, Key("new key")); len(value) > 3 {
				path[len(path)-1] = Item(0)
			}
			change, want = Set(path, map[string]any{"k": value}), map[string]any{"k": value}
		case 3:
			if path[len(path)-1].index < 0 {
				return
			}
			change = Insert(path, value)
		}
		edited, err := d.Edit(change)
		if err != nil {
			return
		}
		before, ok1 := decoded(t, text)
		after, ok2 := decoded(t, edited)
		if !ok1 {
			return
		}
		if !ok2 || !reflect.DeepEqual(changed(before, path, how%4, want), after) {
			t.Fatalf("%s, %d, %q:\n%q\nnow:\n%q\ndecodes to %v", path, how%4, value, text, edited, after)
		}
	})
}

// places returns the paths in a tree. plain is false if a key may not be a string or is a
// duplicate.
func places(n *Node, above Path) (paths []Path, plain bool) {
	seen := map[string]bool{}
	for i, item := range n.Items {
		step := Item(i)
		if n.Kind == Mapping {
			key := n.Keys[i]
			if key.Kind != Scalar || key.Tag != "!!str" || seen[key.Value] || key.Style == Plain && len(key.Value) < 4 && strings.ContainsAny(key.Value, "yYnNoO") {
				return nil, false
			}
			seen[key.Value] = true
			step = Key(key.Value)
		}
		path := append(above[:len(above):len(above)], step)
		below, ok := places(item, path)
		if !ok {
			return nil, false
		}
		paths = append(append(paths, path), below...)
	}
	return paths, true
}

func decoded(t *testing.T, text []byte) (v any, ok bool) {
	t.Helper()
	data, err := yaml.YAMLToJSON(text)
	if json.Valid(text) {
		data, err = text, nil
	}
	if err != nil {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v, true
}

func changed(v any, path Path, how uint8, value any) any {
	step, last := path[0], len(path) == 1
	switch v := v.(type) {
	case map[string]any:
		switch {
		case !last:
			v[step.key] = changed(v[step.key], path[1:], how, value)
		case how == 1:
			delete(v, step.key)
		default:
			v[step.key] = value
		}
		return v
	case []any:
		switch i := step.index; {
		case !last:
			v[i] = changed(v[i], path[1:], how, value)
		case how == 1:
			return append(v[:i:i], v[i+1:]...)
		case how == 3:
			return append(v[:i:i], append([]any{value}, v[i:]...)...)
		default:
			v[i] = value
		}
		return v
	}
	return v
}
