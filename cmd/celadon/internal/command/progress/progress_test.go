package progress

import (
	"bytes"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func TestProgressWaits(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		patience time.Duration
		want     bool
	}{{time.Hour, false}, {-time.Hour, true}} {
		var out bytes.Buffer
		p := start(&out, test.patience, "checking", "objects")
		p.Add(7)
		if shown := strings.Contains(out.String(), "checking (7/"); shown != test.want {
			t.Errorf("patience %v: %q", test.patience, out.String())
		}
		p.Done()
		if left := out.String()[strings.LastIndexByte(out.String(), '\r')+1:]; test.want && (left != "" || !strings.HasSuffix(strings.TrimRight(out.String(), "\r"), "    ")) {
			t.Errorf("patience %v: left on the screen: %q", test.patience, left)
		}
	}
}

func TestProgressInPipes(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, out := range []io.Writer{w, &bytes.Buffer{}} {
		p := On(out, "checking", "objects")
		if p != nil {
			t.Errorf("a bar goes to %T", out)
		}
		p.Add(1) // a nil Bar shows nothing
		p.Done()
	}
}
