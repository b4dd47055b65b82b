package admission_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine/admission"
)

func many(n int, item string) string { return "[" + strings.Repeat(item+",", n-1) + item + "]" }

// Up to a thousand causes, the response equals the API server's.
func TestBoundedStatus(t *testing.T) {
	t.Parallel()
	set := admission.NewSet(admission.Config{})
	text := strings.ReplaceAll(widgets, "LIMIT", "10")
	if err := set.Put(crdOf(t, strings.Replace(text, "count: {type: integer,", "count: {type: integer, maximum: 5,", 1))); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{1000: "", 1001: " (1001 causes in all)", 9000: " (9000 causes in all)"} {
		d, err := set.Validate(t.Context(), create(`"spec":{"parts":`+many(n, `{"count":6}`)+`}`))
		if err != nil {
			t.Fatal(err)
		}
		got := d.Response.Result
		if len(d.Result.Causes) != n || len(got.Details.Causes) != 1000 || !slices.Equal(got.Details.Causes, d.Result.Failure.Details.Causes[:1000]) {
			t.Errorf("%d: %d causes", n, len(got.Details.Causes))
		}
		if whole := got.Message == d.Result.Failure.Message; whole != (want == "") || !strings.HasSuffix(got.Message, want) || !whole && len(got.Message) > 100<<10 {
			t.Errorf("%d: a message of %d bytes: %.200s", n, len(got.Message), got.Message)
		}
		if lines := strings.Split(d.Response.AuditAnnotations[admission.AuditCauses], "\n"); len(lines) != 17 || lines[16] != fmt.Sprintf("and %d more", n-16) {
			t.Errorf("%d: audit annotation %s", n, lines)
		}
	}
}

func TestManyWarnings(t *testing.T) {
	t.Parallel()
	var fields []string
	for i := range 2000 {
		fields = append(fields, fmt.Sprintf(`"f%04d":1`, i))
	}
	d, err := widgetSet(t, admission.Config{}).Validate(t.Context(), create(`"spec":{`+strings.Join(fields, ",")+`}`))
	if err != nil {
		t.Fatal(err)
	}
	warnings := d.Response.Warnings // the number that fits the server's headers
	if n := len(warnings); n != 158 || warnings[0] != `unknown field "spec.f0000"` || warnings[n-1] != `unknown field "spec.f0157"` {
		t.Errorf("%d warnings, the last %q", n, warnings[n-1])
	}
}

func TestMutateLimit(t *testing.T) {
	t.Parallel()
	set := widgetSet(t, admission.Config{})
	for n, sent := range map[int]bool{10000: true, 100000: false} {
		d, err := set.Mutate(t.Context(), create(`"spec":{"size":2,"parts":`+many(n, "{}")+`}`))
		if err != nil {
			t.Fatal(err)
		}
		var ops []any
		if sent {
			err = json.Unmarshal(d.Response.Patch, &ops)
		}
		if err != nil || sent != (len(ops) == n) || sent != (d.Response.Patch != nil) {
			t.Errorf("%d: %v, %d operations", n, err, len(ops))
		}
		if want := []string{"celadon: no defaults: too many fields to default"}; !sent && !slices.Equal(d.Response.Warnings, want) {
			t.Errorf("%d: warnings %q", n, d.Response.Warnings)
		}
	}
}

// The limit includes long values at few paths.
func TestMutateValues(t *testing.T) {
	t.Parallel()
	set := admission.NewSet(admission.Config{})
	text := strings.ReplaceAll(widgets, "LIMIT", "10")
	if err := set.Put(crdOf(t, strings.Replace(text, "count: {type: integer,", "notes: {type: object, additionalProperties: {type: array, items: {type: string}}, default: {a: ["+strings.Repeat("x", 10_000)+"]}}, count: {type: integer,", 1))); err != nil {
		t.Fatal(err)
	}
	for n, sent := range map[int]bool{10: true, 1000: false} {
		d, err := set.Mutate(t.Context(), create(`"spec":{"size":2,"parts":`+many(n, "{}")+`}`))
		if err != nil || sent != (d.Response.Patch != nil) {
			t.Errorf("%d: %v, a patch of %d bytes", n, err, len(d.Response.Patch))
		}
	}
}

func TestLongErrors(t *testing.T) {
	t.Parallel()
	_, err := widgetSet(t, admission.Config{}).Validate(t.Context(), create(`"spec":{"size":`+strings.Repeat("9", 1<<20)+`}`))
	if err == nil || len(err.Error()) > 400 || !strings.Contains(err.Error(), "object: not a JSON object") {
		t.Errorf("%.400v", err)
	}
}
