package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	kbmarkers "sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/celadon-cel/celadon/internal/testing/hostile"
	"github.com/celadon-cel/celadon/x/markers"
)

// TestRun generates CRDs for a package without CRDs, and checks the errors for packages that
// cannot be loaded.
func TestRun(t *testing.T) {
	t.Setenv("GOFLAGS", "-toolexec=/nowhere -mod=mod")
	// These packages are in separate modules without dependencies, because the go command's message
	// for a missing package depends on which modules of the graph are in the module cache.
	broken := module(t, "package broken\n\ntype This is no Go\n")
	missing := module(t, "package app\n\nimport \"example.com/missing\"\n\ntype T = missing.T\n")
	for _, c := range []struct {
		name     string
		patterns []string
		code     int
		out, err string
	}{
		{"made", []string{"./testdata/api/..."}, 0, "# Generated as by controller-gen " + toolsVersion, ""},
		{"no patterns", nil, 2, "", "usage: celadon-gen PACKAGES"},
		{"help", []string{"--help"}, 0, "usage: celadon-gen PACKAGES", ""},
		{"a flag", []string{"--no-such"}, 2, "", "usage: celadon-gen PACKAGES"},
		{"one kind of two", []string{"./testdata/half/..."}, 2, "", "testdata/half/v1/types.go:"},
		{"no such folder", []string{"./none/..."}, 2, "", "none"},
		{"no kinds", []string{"."}, 2, "", "no kinds in ."},
		{"a missing module", []string{missing + "/..."}, 2, "", "example.com/missing"},
		{"no Go", []string{broken + "/..."}, 2, "", "types.go:3:14: expected ';', found no"},
	} {
		var out, stderr bytes.Buffer
		code := run(t.Context(), c.patterns, &out, &stderr)
		if code != c.code || !strings.HasPrefix(out.String(), c.out) || c.out == "" && out.Len() > 0 || !strings.Contains(stderr.String(), c.err) {
			t.Errorf("%s: code %d, stdout %.300q, stderr %.300q", c.name, code, out.String(), stderr.String())
		}
	}
}

// module returns the folder of a new module that consists of one file with the given source.
func module(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module example.com/app\n", "types.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAttackTypes checks that types whose schemas double at each level, and names that control a terminal, are
// rejected quickly, and that generation ends for a recursive type.
func TestAttackTypes(t *testing.T) {
	const head = "// +groupName=g.io\n// +versionName=v1\npackage v1\n\ntype TypeMeta struct{}\n\ntype ObjectMeta struct{}\n\n" +
		"type App struct {\n\tTypeMeta `json:\",inline\"`\n\tObjectMeta `json:\"metadata\"`\n\tSpec S0 `json:\"spec\"`\n}\n\n"
	doubled := head
	for i := range 60 {
		doubled += fmt.Sprintf("type S%d struct {\n\tA *S%d `json:\"a\"`\n\tB map[string][]S%[2]d `json:\"b\"`\n}\n", i, i+1)
	}
	doubled += "type S60 struct{}\n"
	for name, c := range map[string]struct{ source, err string }{
		"doubled":   {doubled, "the kinds up to example.com/app.App have more than 100000 schema nodes"},
		"recursive": {head + "type S0 struct {\n\tA []S0 `json:\"a\"`\n}\n", "no kinds"}, // those of the API machinery are missing
		"a name":    {head + "type S0 struct {\n\t\x1b[31mPWNED\n::error::PWNED\n}\n", "types.go:"},
	} {
		var out, stderr bytes.Buffer
		code := run(t.Context(), []string{module(t, c.source) + "/..."}, &out, &stderr)
		if code != 2 || !strings.Contains(stderr.String(), c.err) {
			t.Errorf("%s: code %d, %s", name, code, &stderr)
		}
		hostile.Harmless(t, name, stderr.Bytes())
	}
}

// TestWithoutGo checks the error when there is no go command.
func TestWithoutGo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var out, stderr bytes.Buffer
	if code := run(t.Context(), []string{"./testdata/api/..."}, &out, &stderr); code != 2 || !strings.Contains(stderr.String(), "no go command") {
		t.Errorf("code %d, stderr %q", code, stderr.String())
	}
}

// TestToolsVersion checks that toolsVersion is the version that go.mod requires.
func TestToolsVersion(t *testing.T) {
	t.Parallel()
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(mod, []byte("\tsigs.k8s.io/controller-tools "+toolsVersion+"\n")) {
		t.Errorf("go.mod requires another controller-tools than %s", toolsVersion)
	}
}

// TestMarkersAsControllerTools checks that controller-tools and package markers extract the same
// arguments from random marker comments, and reject the same comments.
func TestMarkersAsControllerTools(t *testing.T) {
	t.Parallel()
	registry := &kbmarkers.Registry{}
	if err := crdmarkers.Register(registry); err != nil {
		t.Fatal(err)
	}
	const tries = 20_000
	read, rejected := 0, 0
	for seed := range uint64(tries) {
		comment := madeUp(rand.New(rand.NewPCG(seed, 1)))
		def := registry.Lookup(comment, kbmarkers.DescribesField)
		if def == nil {
			continue
		}
		value, theirs := def.Parse(comment)
		text := "package p\n\ntype T struct {\n\t// " + comment + "\n\tF string `json:\"f\"`\n}\n"
		src := markers.Parse([]markers.File{{Name: "p.go", Package: "p", Text: []byte(text)}}, markers.Config{})
		if len(src.Problems()) > 0 || len(src.Markers()) != 1 {
			t.Fatalf("%q: %v", comment, src.Problems())
		}
		m := src.Markers()[0]
		if theirs != nil {
			rejected++
			if !cutShort(src) {
				t.Errorf("%q: controller-tools: %v; ours reads it", comment, theirs)
			}
			continue
		}
		read++
		if m := src.Lints(); slices.ContainsFunc(m, func(l markers.Lint) bool {
			return l.Name == markers.CutShort && !strings.Contains(l.Message, "bare rule")
		}) {
			t.Errorf("%q: controller-tools reads it; ours: %v", comment, m[0].Message)
		}
		x := value.(crdmarkers.XValidation)
		got := fmt.Sprintf("%q %q %q %q %q", m.Rule(), m.Argument("message"), m.Argument("messageExpression"), m.Argument("reason"), m.Argument("fieldPath"))
		if want := fmt.Sprintf("%q %q %q %q %q", x.Rule, x.Message, x.MessageExpression, x.Reason, x.FieldPath); got != want {
			t.Errorf("%q: got %s, want %s", comment, got, want)
		}
	}
	if read < tries/10 || rejected < tries/10 {
		t.Errorf("%d read, %d refused of %d: want more of both", read, rejected, tries)
	}
}

func cutShort(src *markers.Source) bool {
	for _, l := range src.Lints() {
		if l.Name == markers.CutShort {
			return true
		}
	}
	return false
}

// madeUp returns a random XValidation marker, which may contain syntax errors.
func madeUp(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	value := func() string {
		text := pick("self.a > 1", "self == oldSelf", `self.b != "x"`, "self.all(x, x > 1)", "a;b", "{a}", "é'ü'", "don't", "true", "false", "1", "-2", "", "self.c\t>  2")
		switch r.IntN(4) {
		case 0:
			return fmt.Sprintf("%q", text)
		case 1:
			return "`" + text + "`"
		case 2:
			return `"` + text + `"`
		}
		return text
	}
	var b strings.Builder
	b.WriteString("+kubebuilder:validation:" + pick("", "", "items:") + "XValidation:")
	for i, n := 0, 1+r.IntN(3); i < n; i++ {
		if i > 0 {
			b.WriteString(pick(",", ",", ",", ", ", " ,", ";", ""))
		}
		b.WriteString(pick("rule", "rule", "rule", "message", "messageExpression", "fieldPath", "reason", "optionalOldSelf", "mesage") + pick("=", "=", "=", " = ", ""))
		b.WriteString(value())
	}
	return strings.TrimSpace(b.String())
}
