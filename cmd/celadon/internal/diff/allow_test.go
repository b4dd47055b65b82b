package diff

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

func TestAllowInEachVersion(t *testing.T) {
	of := func(versions ...string) (list []*allowance) {
		for _, v := range versions {
			list = append(list, &allowance{CRD: "c", Path: "spec.x", Subject: "rule", Reason: "for " + v, Version: v})
		}
		return list
	}
	for name, test := range map[string]struct {
		list []*allowance
		want string
	}{
		"the first alone":  {of("v1"), ""},
		"the second alone": {of("v1beta1"), ""},
		"both":             {of("v1beta1", "v1"), "for v1"},
		"all":              {of(""), "for "},
		"another":          {of("v2"), ""},
	} {
		crd := &CRD{Name: "c", Changes: []*Change{{Version: "v1", Also: []string{"v1beta1"}, Path: "spec.x", Subject: "rule", Effect: compare.Breaking}}}
		allow(test.list, crd)
		if got := crd.Changes[0].Allowed; got != test.want {
			t.Errorf("%s: allowed %q, want %q", name, got, test.want)
		}
		for _, a := range test.list {
			if a.used != (test.want != "") {
				t.Errorf("%s: %+v", name, a)
			}
		}
	}
}

func TestAllowAmongNewCRDs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "allow.yaml")
	if err := os.WriteFile(file, []byte("allow: []"), 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := t.TempDir()
	for name, test := range map[string]struct {
		o     Options
		paths []string
		want  bool
	}{
		"new":          {Options{}, []string{elsewhere, dir}, true},
		"old":          {Options{}, []string{dir, elsewhere}, false},
		"cluster":      {Options{Cluster: cluster.Flags{On: true}}, []string{dir}, true},
		"no new CRDs":  {Options{Cluster: cluster.Flags{On: true}}, []string{elsewhere}, false},
		"kube version": {Options{ToKubeVersion: "1.37"}, []string{dir}, false},
	} {
		test.o.Allow = file
		if _, err := allowances(t.Context(), &test.o, test.paths); (err != nil) != test.want {
			t.Errorf("%s: got %v, want an error: %t", name, err, test.want)
		}
	}
}
