package ruletest

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/roundtrip"
)

type reader struct {
	doc      *position.Document
	line     int // of the document's first line in the file
	problems []Problem
	shared   int     // bytes of embedded objects that contain aliases
	states   float64 // of all regular expressions
}

func (r *reader) at(offset int) Position {
	p := r.doc.Position(offset)
	return Position{p.Line + r.line - 1, p.Column}
}

func (r *reader) positionOf(n *position.Node) Position { return r.at(n.Start) }

func (r *reader) addProblem(n *position.Node, format string, args ...any) {
	r.problems = append(r.problems, Problem{r.positionOf(n), fmt.Sprintf(format, args...)})
}

// field is a key of a mapping with its value. Both are nil if the key is missing.
type field struct{ key, value *position.Node }

func (f field) given() bool { return f.value != nil }

func (f field) null() bool { return f.given() && f.value.Resolve().Tag == "!!null" }

// fields returns a mapping's keys and values in the order of known. It reports unknown and
// duplicate keys.
func (r *reader) fields(subject string, n *position.Node, known ...string) []field {
	n = n.Resolve()
	if n.Kind != position.Mapping {
		r.addProblem(n, "%s: want a mapping with %s", subject, strings.Join(known, ", "))
		return make([]field, len(known))
	}
	seen := map[string]int{}
	for i, key := range n.Keys {
		name := key.Value
		first, twice := seen[name]
		switch {
		case key.IsMerge():
		case key.Kind != position.Scalar || !slices.Contains(known, name):
			r.addProblem(key, "%s: unknown key %q%s", subject, name, suggestion(name, known))
		case twice:
			r.reportDuplicate(subject, n.Keys[first], n.Items[first], key)
		}
		seen[name] = i
	}
	out := make([]field, len(known))
	for i, name := range known {
		out[i].key, out[i].value = n.Get(name)
	}
	return out
}

// The last occurrence of a duplicate key takes effect.
func (r *reader) reportDuplicate(subject string, key, value, later *position.Node) {
	loss := ""
	if items := value.Resolve(); items.Kind == position.Sequence {
		loss = fmt.Sprintf(", which drops %s here", phrase.Count(len(items.Items), "test"))
	}
	r.addProblem(key, "%s: duplicate key %s: only the one in line %d takes effect%s: remove the other", subject, key.Value, r.positionOf(later).Line, loss)
}

func suggestion(name string, known []string) string {
	if near := spell.Nearest(name, known); near != "" {
		return ": did you mean " + near + "?"
	}
	return ": want " + strings.Join(known, ", ")
}

// text returns the value of a scalar of any type as a string, or "" if it is missing or null.
func (r *reader) text(f field) string {
	if !f.given() || f.null() {
		return ""
	}
	v := f.value.Resolve()
	if v.Kind != position.Scalar {
		r.addProblem(f.value, "%s: want a string", f.key.Value)
		return ""
	}
	return v.Value
}

func (r *reader) texts(f field) (all []string) {
	for _, item := range r.items(f) {
		all = append(all, r.text(field{f.key, item}))
	}
	return all
}

func (r *reader) items(f field) []*position.Node {
	if !f.given() || f.null() {
		return nil
	}
	v := f.value.Resolve()
	if v.Kind != position.Sequence {
		r.addProblem(f.value, "%s: want a list", f.key.Value)
		return nil
	}
	return v.Items
}

func (r *reader) flag(f field) bool {
	if !f.given() {
		return false
	}
	v := f.value.Resolve()
	if v.Tag != "!!bool" {
		r.addProblem(f.value, "%s: want true or false", f.key.Value)
	}
	b, _ := strconv.ParseBool(v.Value)
	return b
}

func (r *reader) number(f field) (int64, bool) {
	if !f.given() {
		return 0, false
	}
	n, err := strconv.ParseInt(f.value.Resolve().Value, 10, 64)
	if err != nil || n < 0 {
		r.addProblem(f.value, "%s: want a whole number, 0 or more", f.key.Value)
		return 0, false
	}
	return n, true
}

type embedded struct {
	object map[string]any
	node   *position.Node
	text   string
}

var yamlLine = regexp.MustCompile(`(?:yaml: )?line (\d+): `)

// embedded returns nil if the string is empty or invalid. It reports an invalid string.
func (r *reader) embedded(f field) *embedded {
	text := r.text(f)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	e := &embedded{node: f.value.Resolve(), text: text}
	v, duplicate, err := decode.Decode([]byte(text))
	if err == nil {
		err = duplicate
	}
	if err == nil && strings.Contains(text, "*") {
		if r.shared += sizeOf(v); r.shared > maxShared {
			err = fmt.Errorf("the suite's objects have more than %d MiB after alias expansion: use fewer aliases", maxShared>>20)
		}
	}
	if err == nil {
		var ok bool
		if e.object, ok = v.(map[string]any); !ok {
			err = errors.New("not an object: want a mapping with apiVersion and kind")
		}
	}
	if err != nil {
		r.problems = append(r.problems, Problem{r.within(e, err), f.key.Value + ": " + plainMessage(err)})
		return nil
	}
	return e
}

func plainMessage(err error) string {
	text := strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")
	text = strings.TrimPrefix(text, "yaml: ")
	text = yamlLine.ReplaceAllString(strings.TrimPrefix(text, "unmarshal errors:\n  "), "")
	return strings.ReplaceAll(text, "\n  ", "; ")
}

func (r *reader) within(e *embedded, err error) Position {
	line := decode.ErrorLine([]byte(e.text), err)
	if line == 0 {
		return r.positionOf(e.node)
	}
	offset := 0
	for range line - 1 {
		offset += strings.IndexByte(e.text[offset:], '\n') + 1
	}
	return r.source(e.node, offset)
}

func (r *reader) source(n *position.Node, offset int) Position {
	text, ok := r.doc.Text(n)
	if !ok {
		return r.positionOf(n)
	}
	return r.at(text.Source(offset))
}

func (r *reader) cause(e *embedded, path string) Position {
	doc, err := position.Parse([]byte(e.text))
	if err != nil {
		return r.positionOf(e.node)
	}
	return r.source(e.node, position.Nearest(doc.Root, path).Start)
}

// suiteWords lists words; every valid suite contains at least one of them.
var suiteWords = [][]byte{[]byte("crdName"), []byte("onCreate"), []byte("onUpdate"), []byte("RuleTest")}

// MayBeSuite reports whether text may contain a suite. It is a fast filter.
func MayBeSuite(text []byte) bool {
	return slices.ContainsFunc(suiteWords, func(look []byte) bool { return bytes.Contains(text, look) })
}

func (r *reader) conversion(b *own, convert, patch field, decoded map[string]any) {
	b.convert = r.text(convert)
	b.convertPatch, _ = r.object(patch, decoded)
	switch {
	case patch.given() && !convert.given():
		r.addProblem(patch.key, "convertPatch: set convert to the version in which it changes the object")
	case convert.given() && b.convert == "":
		r.addProblem(convert.key, "convert: want a version of the CRD")
	case convert.given():
		b.convertAt = r.positionOf(convert.key)
	}
}

func (b *own) checkConversion(t *trial) {
	c := t.on.crd.Spec.Conversion
	if c != nil && c.Strategy == apiextensionsv1.WebhookConverter && t.cfg.Converter == nil {
		t.problem = "not checked: the CRD converts with a webhook: use --convert URL or --exec COMMAND"
		return
	}
	trips, err := t.on.trips()
	var found []*roundtrip.Finding
	if err == nil {
		found, err = trips.Trip(t.ctx, b.request().Object, b.convert, b.convertPatch)
	}
	var bug *engine.InternalError
	switch {
	case t.ctx.Err() != nil:
		t.problem = "interrupted"
	case errors.As(err, &bug):
		t.problem, t.bug = err.Error(), err
	case err != nil:
		t.problem = "convert: " + err.Error()
	}
	for _, f := range found {
		if f.Kind == roundtrip.NoAnswer || f.Kind == roundtrip.Slow {
			t.problem = "not checked: " + f.Text
			return
		}
		t.wrongAt(b.convertAt, fmt.Sprintf("the object unchanged after conversion to %s and back", b.convert), f.Text)
	}
}
