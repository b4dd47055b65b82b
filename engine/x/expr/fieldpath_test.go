package expr

import (
	"math/rand/v2"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	upstreamcel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
)

// pathSchema has lists, maps, and properties, some with names that paths must quote or escape.
func pathSchema() *schema.Structural {
	leaf := schema.Structural{}
	keys := &schema.StructuralOrBool{Structural: &schema.Structural{Properties: map[string]schema.Structural{"a": leaf}}}
	return &schema.Structural{Properties: map[string]schema.Structural{
		"a":      {Properties: map[string]schema.Structural{"a": leaf, "b": leaf, "": leaf, "a.b": leaf, "it's": leaf, "x\ty": leaf}},
		"m":      {AdditionalProperties: keys},
		"any":    {AdditionalProperties: &schema.StructuralOrBool{Bool: true}},
		"l":      {Items: &leaf},
		"'a'":    leaf,
		`\`:      leaf,
		"nested": {AdditionalProperties: &schema.StructuralOrBool{Structural: &schema.Structural{AdditionalProperties: keys}}},
	}}
}

func compareFieldPath(t *testing.T, path string) {
	t.Helper()
	s := pathSchema()
	got, gotErr := FieldPath(path, s)
	want, wantErr := upstreamFieldPath(path, s)
	if got != want || (gotErr == nil) != (wantErr == nil) || gotErr != nil && gotErr.Error() != wantErr.Error() {
		t.Errorf("%.200q: got %.200q, %v, want %.200q, %v", path, got, gotErr, want, wantErr)
	}
}

func upstreamFieldPath(path string, s *schema.Structural) (normal string, err error) {
	defer func() {
		if recover() != nil {
			normal, err = "", ErrPathPanics
		}
	}()
	p, _, err := upstreamcel.ValidFieldPath(path, s)
	if err != nil {
		return "", err
	}
	return p.String(), nil
}

func TestFieldPathUpstream(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<16)
	for _, path := range []string{
		"", ".", "a", ".a", "..a", ".a.", ".m['k.\\'l']", ".any.x", ".any.x.y", ".l[0]", `['\\']`, `['it\'s']`, ".a['it\\'s']", `.a['x\ty']`,
		`.m['\q']`, `.m['\q\z']`, `.m["a"]`, ".m['a'", ".m['a'x", ".m[", ".m['", ".m[''].a", ".'a'", ".nested.x.y.a", ".m.\xff.a", ".m['\\\xff']",
		".m." + long, ".m." + long[1:] + ".a", ".m." + long[2:] + ".a", ".m['" + long + "'].a", ".m['" + long[4:] + "'].a", long, ".a.a" + long,
	} {
		compareFieldPath(t, path)
	}
	parts := []string{".", "[", "]", "'", `\`, "a", "b", "m", "any", "nested", "['a']", ".a", ".m", "l", `\'`, "\xff", "é", "\n"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		var path strings.Builder
		for range r.IntN(8) {
			path.WriteString(parts[r.IntN(len(parts))])
		}
		compareFieldPath(t, path.String())
	}
}

func FuzzFieldPath(f *testing.F) {
	f.Add(".a['it\\'s']")
	f.Add(".m['k'].a")
	f.Fuzz(compareFieldPath)
}
