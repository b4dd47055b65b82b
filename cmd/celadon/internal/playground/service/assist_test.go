package service_test

import (
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

// atMark returns a CRD in which a rule of spec is replaced by rule, and the offset of the ¦ in it,
// in UTF-16 code units.
func atMark(t *testing.T, rule string) (crd string, at int) {
	t.Helper()
	crd = strings.Replace(read(t, "crontab/crd.yaml"), `self.replicas <= self.maxReplicas`, rule, 1)
	crd = "# 😀 é\n" + crd
	before, after, ok := strings.Cut(crd, "¦")
	if !ok {
		t.Fatal("no mark")
	}
	return before + after, len(utf16.Encode([]rune(before)))
}

func TestComplete(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		`self.repl¦`:                           "replicas",
		`'self.¦ == 1'`:                        "maxReplicas",
		`"'😀' == self.ima¦"`:                   "image",
		`self.replicas <= self.max¦`:           "maxReplicas",
		"|\n                self.schedule.si¦": "size()",
	} {
		crd, at := atMark(t, rule)
		got := ask(t, service.Request{Do: "complete", CRD: crd, At: at})
		found := false
		for _, one := range got["options"].([]any) {
			found = found || strings.HasPrefix(one.(map[string]any)["label"].(string), strings.TrimSuffix(want, "()"))
		}
		if !found {
			t.Errorf("%s: no %s in %v", rule, want, got)
		}
		text := string(utf16.Decode(utf16.Encode([]rune(crd))[int(got["from"].(float64)):at]))
		if !strings.HasPrefix(want, text) {
			t.Errorf("%s: replaces %q", rule, text)
		}
	}
	// While the text is not valid YAML, the previous CRD is used.
	r := service.New()
	askIn(t, r, service.Request{Do: "check", CRD: read(t, "crontab/crd.yaml")})
	crd, at := atMark(t, `self.replicas == "self.im¦`)
	askIn(t, r, service.Request{Do: "complete", CRD: crd, At: at}) // there is no error
	if got := ask(t, service.Request{Do: "complete", CRD: crd, At: 3}); got != nil {
		t.Errorf("in a comment: %v", got)
	}
	if got := ask(t, service.Request{Do: "complete", CRD: crd, At: 1 << 30}); got != nil {
		t.Errorf("after the end: %v", got)
	}
}

func TestHover(t *testing.T) {
	t.Parallel()
	crd, at := atMark(t, `"'😀' != self.sche¦dule"`)
	got := ask(t, service.Request{Do: "hover", CRD: crd, At: at})
	if text := string(utf16.Decode(utf16.Encode([]rune(crd))[int(got["from"].(float64)):int(got["to"].(float64))])); text != "schedule" && text != "self.schedule" {
		t.Errorf("hover is of %q: %v", text, got)
	}
}

func TestMends(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{`¦self.replica <= self.maxReplicas`, `"¦self.image = 'a'"`, `¦replicas > 3`} {
		crd, at := atMark(t, rule)
		got := askList(t, service.Request{Do: "mends", CRD: crd, At: at})
		if len(got) == 0 {
			t.Errorf("%s: nothing is wrong", rule)
			continue
		}
		for _, m := range got[0].Fixes {
			text := utf16.Encode([]rune(crd))
			for i := len(m.Edits) - 1; i >= 0; i-- {
				e := m.Edits[i]
				text = append(append(append([]uint16{}, text[:e.From]...), utf16.Encode([]rune(e.Text))...), text[e.To:]...)
			}
			for _, p := range askList(t, service.Request{Do: "mends", CRD: string(utf16.Decode(text)), At: at}) {
				if p.Kind == "broken" {
					t.Errorf("%s: after %q: %+v", rule, m.Title, p)
				}
			}
		}
	}
}

type problem struct {
	Kind, Message string
	Fixes         []struct {
		Title string
		Edits []struct {
			From, To int
			Text     string
		}
	} `json:"mends"`
}

func askList(t *testing.T, req service.Request) (list []problem) {
	t.Helper()
	remarshal(t, askAny(t, service.New(), req), &list)
	return list
}
