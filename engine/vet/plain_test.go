package vet

import (
	"context"
	"testing"

	"sigs.k8s.io/yaml"
)

func TestBoundsOfDefaults(t *testing.T) {
	t.Parallel()
	rejected := 0
	for _, text := range []string{
		"{type: integer, default: 5, maximum: 10}", "{type: integer, default: 5, maximum: 10.5}", "{type: integer, default: 5, minimum: 0.5}",
		"{type: integer, format: int32, default: 5, maximum: 4294967295}", "{type: integer, default: 5, maximum: 9223372036854775807}",
		"{type: integer, default: 5, minimum: -1e30}", "{type: integer, format: int64, default: 5, minimum: -2147483649}", "{type: integer, format: uint32, default: 5, minimum: -1}",
	} {
		var s schemaProps
		if err := yaml.UnmarshalStrict([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		crd := unitCRD(schemaProps{Type: "object", Properties: map[string]schemaProps{"n": s}})
		want := upstream(t, crd, nil)
		if diff := compare(ours(t, crd, nil), want); diff != "" {
			t.Errorf("%s: %s", text, diff)
		}
		r, err := VetCRD(context.Background(), crd, Config{VerdictOnly: true})
		if err != nil || r.Accepted != (len(want) == 0) {
			t.Errorf("%s: accepted %v, %v, server %v", text, r.Accepted, err, want)
		}
		rejected += min(1, len(want))
	}
	if rejected < 4 {
		t.Errorf("%d are refused, want 4", rejected)
	}
}
