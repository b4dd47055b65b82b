package emit

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

func nested(v any, levels int) any {
	for i := range levels {
		if i%3 == 2 {
			v = []any{v}
		} else {
			v = map[string]any{"a": v}
		}
	}
	return v
}

var strange = []string{"", "a: b", "- x", "no", "1", "\x7f\u0085\u009b\ufeff\ufffe", "line\nbreak\t", `q"\`, "\u2028", "😀", "# c", strings.Repeat("k", 900), "<&>"}

func made(r *rand.Rand, levels int) any {
	switch kind := r.IntN(6); {
	case levels <= 0 || kind == 0:
		return []any{strange[r.IntN(len(strange))], int64(r.IntN(100)), 1.5, true, nil, map[string]any{}, []any{}}[r.IntN(7)]
	case kind < 4:
		out := map[string]any{}
		for range 1 + r.IntN(2) {
			out[strange[r.IntN(len(strange))]] = made(r, levels-1)
		}
		return out
	}
	return []any{made(r, levels-1), made(r, levels-2)}
}

func TestYAML(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	values := []any{nested(int64(1), 99), nested("x", 100), nested("x", 101), nested(map[string]any{}, 102), nested("x", 9_990)}
	for range 300 {
		values = append(values, made(r, 6), nested(made(r, 5), 90+r.IntN(20)))
	}
	for i, v := range values {
		flow, err := Flow(v)
		if err != nil {
			t.Fatal(err)
		}
		texts := [][]byte{flow}
		text, err := YAML(v)
		if err == nil {
			texts = append(texts, text)
		} else if _, wrong := yaml.Marshal(v); IsDeep(v) || wrong == nil {
			t.Fatalf("value %d: %v", i, err)
		}
		for _, text := range texts {
			got, duplicate, err := decode.Decode(text)
			if err != nil || duplicate != nil || !reflect.DeepEqual(got, v) {
				t.Fatalf("value %d decodes differently: %v, %v\n%.2000s", i, err, duplicate, text)
			}
		}
		if IsDeep(v) || err != nil {
			continue
		}
		if plain, err := yaml.Marshal(v); err != nil || !bytes.Equal(plain, text) {
			t.Errorf("value %d is not formatted as by the library: %v\n%.2000s", i, err, text)
		}
	}
}

func TestBounded(t *testing.T) {
	t.Parallel()
	ones := make([]any, 200_000)
	for i := range ones {
		ones[i] = int64(1)
	}
	var comb any = map[string]any{}
	for range 4_000 {
		comb = map[string]any{"a": comb, "b": []any{int64(1), int64(2)}}
	}
	for name, v := range map[string]any{"one path": nested(int64(1), 9_900), "a wide list at level 98": nested(ones, 98), "a comb": comb} {
		flow, err := Flow(v)
		if err != nil {
			t.Fatal(err)
		}
		text, err := YAML(v)
		if err != nil {
			t.Fatal(err)
		}
		if limit := freeIndent + (indentShare+2)*len(flow); len(text) > limit {
			t.Errorf("%s: %d bytes, want at most %d", name, len(text), limit)
		}
	}
}
