package celenv

import (
	"errors"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/types"
)

func TestPanicError(t *testing.T) {
	t.Parallel()
	newest := StoredRules(types.Version{Minor: types.Newest})
	d := types.FromSchema(&schema.Structural{Generic: schema.Generic{Type: "object"}, Properties: map[string]schema.Structural{
		"a": {Generic: schema.Generic{Type: "string"}},
	}}, types.Subtree)
	env, err := newest.For(d, false)
	if err != nil {
		t.Fatal(err)
	}
	for src, panics := range map[string]bool{
		"[?dyn(self.a)].size() == 0":              true,
		"[1, ?dyn(self.a)].size() == 0":           true,
		"{?'a': dyn(self.a)}.size() == 0":         true,
		"[?optional.of(self.a)].size() == 0":      false,
		"'%s'.format([?dyn(optional.of(1))])!=''": false,
		"[?self.?a].size() == 0":                  false,
	} {
		scope, err := newest.Scope()
		if err != nil {
			t.Fatal(err)
		}
		_, inScope := scope.Compile(d, false, src)
		_, alone := Check(env, src)
		for _, err := range []error{inScope, alone} {
			var panicked *PanicError
			if got := errors.As(err, &panicked); got != panics || !panics && err != nil {
				t.Errorf("%s: got %v, panics: %v", src, err, panics)
			}
		}
	}
}
