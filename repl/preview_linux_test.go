package repl

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/celadon-cel/celadon/internal/testing/cputime"
)

const httpRoute = `apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: shop, namespace: default}
spec:
  hostnames: [shop.example.com, "*.example.org"]
  parentRefs: [{name: public, port: 443}, {name: internal, sectionName: http}]
  rules:
  - name: cart
    matches:
    - path: {type: PathPrefix, value: /cart}
      method: GET
      headers: [{name: x-version, value: "2"}]
    - path: {type: Exact, value: /cart/items}
    filters:
    - type: RequestHeaderModifier
      requestHeaderModifier: {add: [{name: x-shop, value: a}]}
    backendRefs: [{name: cart, port: 8080, weight: 90}, {name: cart-next, port: 8080, weight: 10}]
    timeouts: {request: 10s, backendRequest: 2s}
  - matches: [{path: {type: PathPrefix, value: /}}]
    backendRefs: [{name: web, port: 80}]
`

var typedLines = []string{
	"self.spec.rules.size()",
	"self.spec.hostnames",
	"self.spec.rules.all(r, r.matches.size() > 0)",
	"self.spec.rules[0].backendRefs.map(b, b.weight)",
	"self.spec.hostnames.all(h, h.endsWith('example.com'))",
	"self.spec.rules.exists(r, r.backendRefs.exists(b, b.name == 'web'))",
	"self.spec.rules.all(r, r.matches.all(m, m.path.value.startsWith('/')))",
	"self.spec.rules.filter(r, has(r.timeouts)).map(r, duration(r.timeouts.request))",
	"self.spec.parentRefs.map(p, p.name).join(', ')",
	"has(self.spec.rules[0].timeouts.request) ? self.spec.rules[0].timeouts.request : 'none'",
	"self.metadata.name.matches('^[a-z]+$') && self.spec.rules.size() <= 16",
	"self.spec.rules.all(r, r.backendRefs.all(b, b.port >= 1 && b.port <= 65535))",
	":add self.spec.hostnames.all(h, self.spec.hostnames.exists_one(o, o == h))",
	":add self.spec.rules.all(r, !has(r.timeouts) || duration(r.timeouts.backendRequest) <= duration(r.timeouts.request))",
	":add self.spec.rules.all(r, r.matches.all(m, m.path.type != 'Exact' || m.path.value.startsWith('/')))",
	":add self.spec.parentRefs.all(p, p.port > 0 || has(p.sectionName))",
	":cost self.spec.rules.all(r, r.filters.all(f, f.type != 'RequestMirror'))",
	":type self.spec.rules[0].matches[0].headers",
	"self.spec.rules.map(r, r.backendRefs.map(b, b.weight)).flatten().sum()",
	"self.spec.rules.exists(r, r.matches.exists(m, m.path.value == '/cart' && m.method == 'GET'))",
}

func httpRouteSession(t testing.TB) *Session {
	t.Helper()
	i := slices.IndexFunc(corpusCRDs(t), func(file string) bool {
		return filepath.Base(file) == "httproutes.gateway.networking.k8s.io--experimental.yaml"
	})
	if i < 0 {
		t.Skip("no HTTPRoute in the corpus")
	}
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "route.yaml")
	if err := os.WriteFile(file, []byte(httpRoute), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.LoadCRD(readDocuments(t, corpusCRDs(t)[i])[0]); err != nil {
		t.Fatal(err)
	}
	if err := s.LoadObject(readDocuments(t, file)[0]); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestPreviewCost(t *testing.T) {
	s := httpRouteSession(t)
	c := openTTY(t, s, TerminalConfig{Color: true})
	c.term.withSession(func() { c.term.pause = 0 })
	c.press("\x03")
	c.mustShow("", "")
	lines := typedLines
	if testing.Short() {
		lines = lines[:2]
	}
	var took []time.Duration
	for _, line := range lines {
		for i := range len(line) {
			start := cputime.Process()
			c.press(line[i : i+1])
			time.Sleep(4 * time.Millisecond)
			took = append(took, cputime.Process()-start)
		}
		c.shows(line, 10*time.Millisecond, "")
		t.Logf("%s: %s", line, c.below())
		c.press("\x15")
	}
	slices.Sort(took)
	t.Logf("%d keys: median %v, p95 %v, most %v", len(took), took[len(took)/2], took[len(took)*95/100], took[len(took)-1])
}

func (c *fakeTTY) below() string {
	row, _ := c.screen.Cursor()
	if rows := c.screen.Rows(); row+1 < len(rows) {
		return rows[row+1]
	}
	return ""
}

func BenchmarkPreview(b *testing.B) {
	s := httpRouteSession(b)
	for b.Loop() {
		for _, line := range typedLines {
			for i := range len(line) {
				s.preview(context.Background(), line[:i+1], i+1)
			}
		}
	}
}

func TestPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	s := crontab(t)
	must(t, s, "self.spec.replicas")
	s.Do(context.Background(), "self.spec.nope")
	before, corrected, entries := snapshot(s), s.corrected, len(s.history)
	for _, line := range []string{
		"1 + 1", "self.spec.replicas", "self.status", "self.spec.repl", "self.nope", ":add self.spec.replicas > 1", ":edit 0 true", ":message 0 text",
		":fix", ":set spec.replicas = 3", ":cd spec", "(", "[1,", "'", ":add", ":", "", "_", "_ + 1", ":cost 1", ":type 1", ":explain 1", ":messageExpression 0 'a'", "日本",
		"lists.range(100000).all(a, lists.range(100000).all(b, a + b >= 0))", strings.Repeat("(", 5000), strings.Repeat("[1,2].all(a,", 20) + "a > 0" + strings.Repeat(")", 20),
	} {
		for pos := range min(40, len([]rune(line))+1) {
			s.preview(context.Background(), line, pos)
			c := s.Complete(line, pos)
			for _, candidate := range c.Candidates[:min(3, len(c.Candidates))] {
				s.describeCandidate(line, c.Start, candidate.Text)
			}
		}
	}
	if diff := cmp.Diff(before, snapshot(s)); diff != "" {
		t.Error(diff)
	}
	if s.corrected != corrected || len(s.history) != entries || s.statusNoted || s.partial != "" {
		t.Error("the correction, the history, or the notes have changed")
	}
}

func TestPreviewWork(t *testing.T) {
	t.Parallel()
	s := crontab(t)
	const line = "lists.range(20000).map(i, 'aaaaaaaaaa').join('').matches('((a{0,100}){0,10}b)+')"
	if p := s.preview(context.Background(), line, 5); p.text != "no preview: it takes too much work" {
		t.Errorf("the preview is %q", p.text)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if p := s.preview(ctx, "1 + 1", 5); p.text != "" {
		t.Errorf("%q after it was canceled", p.text)
	}
}

func TestPreviewBare(t *testing.T) {
	t.Parallel()
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for line, want := range map[string]string{
		"1 + 1":                     "2 : integer; cost 1",
		"sign(quantity('1Gi'))":     "1 : integer; cost 2",
		":type [1].map(x, x > 1)":   "[false] : list of boolean; cost 15",
		"self.spec":                 "",
		":add 1 < 2":                "true : boolean; cost 1",
		"// a comment":              "",
		"help":                      "",
		"help add":                  "",
		"[1, 2].exists(x, x > 'a')": "error: found no matching overload for '_>_' applied to '(int, string)'",
	} {
		if p := s.preview(context.Background(), line, len(line)); p.text != want {
			t.Errorf("%s: got %q, want %q", line, p.text, want)
		}
	}
}
