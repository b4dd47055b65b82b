package celenv_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

func TestCELType(t *testing.T) {
	t.Parallel()
	scalar := func(kind, format string) *schema.Structural {
		return &schema.Structural{Generic: schema.Generic{Type: kind}, ValueValidation: &schema.ValueValidation{Format: format}}
	}
	list := func(of *schema.Structural) *schema.Structural {
		return &schema.Structural{Generic: schema.Generic{Type: "array"}, Items: of}
	}
	values := func(of *schema.Structural) *schema.Structural {
		return &schema.Structural{Generic: schema.Generic{Type: "object"}, AdditionalProperties: &schema.StructuralOrBool{Structural: of}}
	}
	for want, s := range map[string]*schema.Structural{
		"int":                       scalar("integer", ""),
		"double":                    scalar("number", ""),
		"bool":                      scalar("boolean", ""),
		"string":                    scalar("string", "email"),
		"bytes":                     scalar("string", "byte"),
		"google.protobuf.Duration":  scalar("string", "duration"),
		"google.protobuf.Timestamp": scalar("string", "date"),
		"dyn":                       {Extensions: schema.Extensions{XIntOrString: true}},
		"list(map(string, object))": list(values(scalar("object", ""))),
		"map(string, list(string))": values(list(scalar("string", ""))),
		"<nil>":                     list(&schema.Structural{Extensions: schema.Extensions{XPreserveUnknownFields: true}}),
	} {
		d := types.FromSchema(s, types.Subtree)
		got := "<nil>"
		if c := celenv.CELType(d); c != nil {
			got = c.String()
		}
		if got != want {
			t.Errorf("%s: got %s, want %s", d, got, want)
		}
	}
}
