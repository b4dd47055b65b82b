package engine_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/celadon-cel/celadon/engine"
)

func mustCompile(t testing.TB, text string) *engine.Engine {
	t.Helper()
	e, err := engine.Compile(crd(t, text), engine.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func asCompileError(err error, to **engine.CompileError) bool { return errors.As(err, to) }

func plain(v ref.Val) string {
	if l, ok := v.(traits.Lister); ok {
		var items []any
		for it := l.Iterator(); it.HasNext().Value() == true; {
			items = append(items, it.Next().Value())
		}
		return fmt.Sprint(items)
	}
	if v == nil {
		return "nothing"
	}
	return fmt.Sprint(v.Value())
}
