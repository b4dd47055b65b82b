package markers

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	kbmarkers "sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/celadon-cel/celadon/x/markers"
)

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
		t.Errorf("%d read, %d rejected of %d: want more of both", read, rejected, tries)
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
