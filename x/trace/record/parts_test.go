package record

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/x/access"
	"github.com/celadon-cel/celadon/engine/x/eval"
)

func parts(t *testing.T, src string) *Parts {
	t.Helper()
	node, err := cronTab(t).At("v1", "spec")
	if err != nil {
		t.Fatal(err)
	}
	compiler, err := access.Compiler(node)
	if err != nil {
		t.Fatal(err)
	}
	x, err := compiler.Compile(src, false)
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewParts(compiler, x, false)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPartValue(t *testing.T) {
	t.Parallel()
	p := parts(t, `self.env.all(x, x.name == self.image && self.env.exists(x, x.name == 'b'))`)
	spec, err := engine.Decode([]byte(`{"image": "a", "env": [{"name": "b"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	element := p.Value(t.Context(), p.Root().AsComprehension().IterRange(), spec, nil, nil).(interface{ Get(ref.Val) ref.Val }).Get(celtypes.Int(0))
	both := p.Root().AsComprehension().LoopStep().AsCall().Args()[1].AsCall().Args()
	for i, want := range []ref.Val{celtypes.False, celtypes.True} {
		got := p.Value(t.Context(), both[i], spec, nil, func(name string) ref.Val {
			if name == "x" {
				return element
			}
			return nil
		})
		if got != want {
			t.Errorf("operand %d is %v: want %v", i, got, want)
		}
	}
	if got := p.Value(t.Context(), both[0], spec, nil, func(string) ref.Val { return nil }); !celtypes.IsError(got) {
		t.Errorf("without its variable the part is %v: want an error", got)
	}
}

func TestPartWork(t *testing.T) {
	t.Parallel()
	p := parts(t, `self.image.replace('', self.image) != 'x'`)
	spec := map[string]any{"image": strings.Repeat("a", 200_000)}
	var call ast.Expr = p.Root().AsCall().Args()[0]
	got := p.Value(t.Context(), call, spec, nil, nil)
	err, _ := got.(*celtypes.Err)
	var over *eval.OverworkError
	if err == nil || !errors.As(err.Unwrap(), &over) {
		t.Errorf("40 GB of text are %v: want that it is too much work", got.Type())
	}
}
