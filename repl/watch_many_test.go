package repl

import (
	"context"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

// TestWatchMany changes a file of the collection that holds neither the CRD nor the current object.
func TestWatchMany(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	d := disk{"crd.yaml": diskCRD, "obj.yaml": diskObject, "two.yaml": strings.Replace(diskObject, "name: d", "name: e", 1)}
	host := d.host()
	host.Read = func(_ context.Context, paths []string, take func(*Input) error) error {
		for _, path := range paths {
			docs, err := d.load(path)
			if err != nil {
				return err
			}
			object, err := engine.Decode(docs[0].JSON)
			if err := take(&Input{File: path, Line: 1, Object: object, Err: err}); err != nil {
				return err
			}
		}
		return nil
	}
	s, err := NewSession(Config{Host: host})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{":load crd crd.yaml", ":load object obj.yaml", ":objects obj.yaml two.yaml", ":cd spec"} {
		must(t, s, line)
	}
	wantText(t, must(t, s, ":watch"), "watching crd.yaml, obj.yaml, two.yaml\n")
	wantText(t, must(t, s, ":count self.size > 5"), "false  2  (default/d, …)\n")

	d["two.yaml"] = strings.Replace(d["two.yaml"], "size: 5", "size: 7", 1)
	wantText(t, s.Poll(ctx), "reloaded two.yaml\nd is accepted\n")
	wantText(t, must(t, s, ":count self.size > 5"), "false  1  (default/d)\ntrue   1  (default/e)\n")

	d["obj.yaml"] = strings.Replace(diskObject, "size: 5", "size: 8", 1)
	wantText(t, s.Poll(ctx), "reloaded obj.yaml\nd is accepted\n")
	wantText(t, must(t, s, ":count self.size > 5"), "true  2  (default/d, …)\n")

	d["two.yaml"] = "a: ["
	if got := s.Poll(ctx); !strings.HasPrefix(got, "error: two.yaml: ") {
		t.Errorf("a broken file: %s", got)
	}
	wantText(t, must(t, s, ":count self.size > 5"), "true  2  (default/d, …)\n")
	wantText(t, fileList(strings.Fields("a b c d e f g h")), "a, b, c, d, e, and 3 others")
}
