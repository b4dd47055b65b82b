package expr

import (
	"errors"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

func declared(t *testing.T) *types.Decl {
	t.Helper()
	s := &schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{"a": {Generic: schema.Generic{Type: "integer"}}}}
	return types.NewInterner().FromSchema(s, types.Subtree)
}

func newest(t *testing.T) *celenv.Env {
	t.Helper()
	v, err := types.ParseVersion("")
	if err != nil {
		t.Fatal(err)
	}
	return celenv.StoredRules(v)
}

func TestCompilerTexts(t *testing.T) {
	t.Parallel()
	d := declared(t)
	c := NewKeyedCompiler(KeyedConfig[string]{
		Env: newest(t),
		Finish: func(x *Checked) (string, error) {
			switch {
			case strings.Contains(x.Source, "plan"):
				return "", x.Unplannable(errors.New("a plan"))
			case strings.Contains(x.Source, "price"):
				return "", x.Unpriced(errors.New("a price"))
			}
			return "made of " + x.Source, nil
		},
	})
	for _, tt := range []struct {
		part     Part
		src      string
		rejected string // prefix of the server's message
		checked  bool
	}{
		{Itself, "self.a > 1", "", true},
		{Message, "string(self.a)", "", true},
		{Itself, "self.b", "compilation failed: ERROR: <input>:1:5: undefined field 'b'", false},
		{Message, "self.b", "messageExpression compilation failed: ERROR: <input>:1:5: undefined field 'b'", false},
		{Itself, "self.a", "cel expression must evaluate to a bool", true},
		{Message, "self.a", "messageExpression must evaluate to a string", true},
		{Itself, "'plan' == ''", "program instantiation failed: a plan", true},
		{Message, "'plan'", "messageExpression instantiation failed: a plan", true},
		{Itself, "'price' == ''", "cost estimation failed: a price", true},
		{Message, "'price'", "cost estimation failed for messageExpression: a price", true},
	} {
		value, rejected, err := c.Compile(Key{Decl: d, Part: tt.part, Source: tt.src})
		switch {
		case err != nil:
			t.Errorf("%s: %v", tt.src, err)
		case rejected == nil:
			if tt.rejected != "" || value != "made of "+tt.src {
				t.Errorf("%s: got %q, want %q", tt.src, value, tt.rejected)
			}
		case tt.rejected == "" || !strings.HasPrefix(rejected.Detail, tt.rejected) || (rejected.Checked != nil) != tt.checked:
			t.Errorf("%s: got %+v, want %q", tt.src, rejected, tt.rejected)
		}
	}
}

func TestCompilerCompilesOnce(t *testing.T) {
	t.Parallel()
	d, compiled := declared(t), 0
	c := NewKeyedCompiler(KeyedConfig[int]{Env: newest(t), Finish: func(*Checked) (int, error) {
		compiled++
		return compiled, nil
	}})
	keys := []Key{{Decl: d, Source: "'' == ''"}, {Decl: d, Source: "'' == ''", Optional: true}, {Decl: declared(t), Source: "'' == ''"}, {Decl: d, Source: "'a' == ''"}}
	for range 3 {
		for i, key := range keys {
			if got, rejected, err := c.Compile(key); got != i+1 || rejected != nil || err != nil {
				t.Errorf("%d: got %d, %v, %v", i, got, rejected, err)
			}
		}
	}
	if compiled != len(keys) {
		t.Errorf("compiled %d times", compiled)
	}
}

func TestFieldPath(t *testing.T) {
	t.Parallel()
	open := true
	s := &schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{
		"a": {Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{"b.c": {}}},
		"m": {Generic: schema.Generic{Type: "object"}, AdditionalProperties: &schema.StructuralOrBool{Bool: open}},
	}}
	for path, want := range map[string]string{".a['b.c']": "a.b.c", ".a": "a", ".z": "", "a": ""} {
		if got, err := FieldPath(path, s); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: got %q, %v", path, got, err)
		}
	}
	if got, err := FieldPath(".m.x.y", s); got != "" || !errors.Is(err, ErrPathPanics) {
		t.Errorf("got %q, %v", got, err)
	}
}
