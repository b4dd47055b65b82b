package publish

import (
	"os"
	"path/filepath"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

func FuzzPublish(f *testing.F) {
	for _, path := range []string{"testdata/everything.yaml", root + "examples/crontab/crd.yaml"} {
		data, err := os.ReadFile(filepath.FromSlash(path))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, "everythings.spec.limits.amount")
		f.Add(data, "crontabs.spec.env.name")
	}
	f.Add([]byte(`{"spec":{"names":{"plural":"as"},"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":{"type":"object","allOf":[{"items":{}}],"properties":{"a":{"type":"array"},"b":{"enum":[null,{},1e400]}}}}}]}}`), "as")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if len(data) > 1<<16 || yaml.Unmarshal(data, crd) != nil {
			return
		}
		all := []*apiextensionsv1.CustomResourceDefinition{crd}
		for _, layout := range []Layout{{}, {Recursive: true, Plain: true}} {
			if at, err := Find(all, name, ""); err == nil {
				text, err := at.Explain(layout)
				if again, more := at.Explain(layout); again != text || (err == nil) != (more == nil) {
					t.Errorf("a second time gives another text:\n%s\n%s", text, again)
				}
			}
		}
		p, err := NewPage(t.Context(), crd, Config{Steps: 5})
		if err != nil {
			return
		}
		if _, err := p.HTML(); err != nil {
			t.Error(err)
		}
		if _, err := p.Markdown(); err != nil {
			t.Error(err)
		}
	})
}
