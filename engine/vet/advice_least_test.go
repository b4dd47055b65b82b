package vet

import (
	"context"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cost"
)

// The server rejects a CRD with a default that is too long.
func TestAdviceLeavesDefaults(t *testing.T) {
	t.Parallel()
	short, long := strings.Repeat("a", 100), strings.Repeat("a", 1000) // 100 is the largest round value that fits the limit
	around := func(text string) string {
		return `"url": {"type": "string"}}, "default": {"url": "` + text + `"}, "required": ["url"`
	}
	for name, c := range map[string]struct {
		schema   string
		mendable bool
	}{
		"none":                   {`"url": {"type": "string"}`, true},
		"its own":                {`"url": {"type": "string", "default": "` + short + `"}`, true},
		"its own, too long":      {`"url": {"type": "string", "default": "` + long + `"}`, false},
		"of the nodes around it": {around(short), true},
		"around it, too long":    {around(long), false},
		"a lower bound":          {`"url": {"type": "string", "minLength": 100}`, true},
		"a higher lower bound":   {`"url": {"type": "string", "minLength": 1000}`, false},
		"an item's of defaults":  {`"url": {"type": "string"}, "l": {"type": "array", "default": ["` + long + `"], "items": {"type": "string"}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			end := "}"
			if strings.HasSuffix(c.schema, `["url"`) {
				end = "]"
			}
			raw := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"things.example.com"},"spec":{"group":"example.com","scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
				"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-validations":[{"rule":"!has(self.spec) || self.spec.url.matches('^a*$')"}],"properties":{"spec":{"type":"object","properties":{` + c.schema + end + `}}}}}]}}`
			r, err := Vet(context.Background(), []byte(raw), Config{Limits: cost.Limits{EstimatedPerRule: 50}})
			if err != nil || len(r.Versions) != 1 {
				t.Fatalf("%v: %+v", err, r.Status)
			}
			v := r.Versions[0]
			if v.Fixable != c.mendable {
				t.Errorf("mendable %t, want %t", v.Fixable, c.mendable)
			}
			if c.mendable && (len(v.Advice) != 1 || v.Advice[0].Value != 100) {
				t.Errorf("advice %+v, want 100", v.Advice)
			}
		})
	}
}
