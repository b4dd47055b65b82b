package valuediff_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/valuediff"
)

func TestValues(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, after string
		want          []string
	}{
		"equal":        {`{"a":{"b":[1,{"c":null}]}}`, `{"a":{"b":[1,{"c":null}]}}`, nil},
		"fields":       {`{"a":1,"b":2,"d":{"x":1}}`, `{"a":2,"c":3,"d":{"x":1}}`, []string{"a: 1 2", "b: 2 removed", "c: 3 added"}},
		"null":         {`{"a":null}`, `{}`, []string{"a: <nil> removed"}},
		"deep":         {`{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":3}]}`, []string{"a[1].b: 2 3"}},
		"longer lists": {`{"a":[1]}`, `{"a":[1,2]}`, []string{"a: [1] [1 2]"}},
		"other types":  {`{"a":{"b":1}}`, `{"a":[1]}`, []string{"a: map[b:1] [1]"}},
	} {
		var got []string
		for change := range valuediff.Values(decode(t, c.before), decode(t, c.after)) {
			text := fmt.Sprintf("%s: %v %v", engine.FormatPath(change.Path), change.Before, change.After)
			switch {
			case change.Added:
				text = fmt.Sprintf("%s: %v added", engine.FormatPath(change.Path), change.After)
			case change.Removed:
				text = fmt.Sprintf("%s: %v removed", engine.FormatPath(change.Path), change.Before)
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	obj, err := engine.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}
