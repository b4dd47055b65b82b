package search

import (
	"encoding/base64"
	"regexp"
	"unicode/utf8"

	"github.com/google/cel-go/common/ast"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/cel/loops"
	"github.com/celadon-cel/celadon/types"
)

func (b *adjuster) textCall(e ast.Expr, sc *scope, want bool) bool {
	parts := loops.Children(e)
	if len(parts) != 2 {
		return false
	}
	operand, arg := parts[0], parts[1]
	s, ok := b.eval(arg, sc).(celtypes.String)
	if !ok {
		b.exist(arg, sc)
		if s, ok = b.eval(arg, sc).(celtypes.String); !ok {
			return false
		}
	}
	p := string(s)
	switch e.AsCall().FunctionName() {
	case "startsWith":
		p = `\A` + regexp.QuoteMeta(p)
	case "endsWith":
		p = regexp.QuoteMeta(p) + `\z`
	case "contains":
		p = regexp.QuoteMeta(p)
	}
	w := textWant{match: []string{p}, max: -1}
	if !want {
		w.match, w.avoid = nil, w.match
	}
	return b.wantText(operand, sc, w)
}

func (b *adjuster) wantText(e ast.Expr, sc *scope, w textWant) bool {
	if b.spent() {
		return false
	}
	if h, ok := b.locate(e, sc); ok {
		return b.textAt(h, w)
	}
	if e.Kind() == ast.CallKind && e.AsCall().FunctionName() == "string" {
		if h, ok := b.locate(e.AsCall().Args()[0], sc); ok && h.isBytes() {
			return b.bytesAt(h, w)
		}
	}
	done := func() bool {
		now, _ := b.native(e, sc)
		s, ok := now.(string)
		return ok && b.m.texts.has(w, s)
	}
	if b.throughUntil(e, sc, w, done) {
		return true
	}
	if s, ok := b.m.texts.one(w, b.m.rng); ok && b.equal(e, sc, s) && done() {
		return true
	}
	return b.sampleOutcome(e, sc, done)
}

// textAt sets a handle to a string that meets w and, if possible, its schema and earlier requirements.
func (b *adjuster) textAt(h handle, w textWant) bool {
	f := &facts{text: anyText()}
	if !h.key {
		f = b.m.facts(h.node, nil)
	}
	for _, e := range shuffled(f.enum, b.m.rng) {
		if s, ok := e.(string); ok && b.m.texts.has(w, s) {
			return b.assign(h, s)
		}
	}
	if len(f.enum) > 0 {
		return false
	}
	for _, also := range b.remembered(h) {
		try := f.text.and(also).and(w)
		if s, ok := b.longer(h, try); ok {
			b.remember(h, also, w)
			return b.assign(h, s)
		}
		readable := try
		readable.min = max(try.min, 1)
		s, ok := b.m.texts.one(readable, b.m.rng)
		if !ok {
			s, ok = b.m.texts.one(try, b.m.rng)
		}
		if ok {
			b.remember(h, also, w)
			return b.assign(h, s)
		}
	}
	if s, ok := b.m.texts.one(w, b.m.rng); ok { // the schema violation is repaired later
		b.remember(h, anyText(), w)
		return b.assign(h, s)
	}
	return false
}

// longer sometimes returns the current string lengthened by a repeated piece, if it is too short. This
// often keeps properties that cannot be derived from a rule, such as being a valid URL.
func (b *adjuster) longer(h handle, w textWant) (string, bool) {
	rng := b.m.rng
	v, _ := b.w.get(h.objectPath)
	s, ok := v.(string)
	if !ok || h.key || s == "" || utf8.RuneCountInString(s) >= w.min || rng.IntN(2) == 0 {
		return "", false
	}
	runes := []rune(s)
	for range stretches {
		way := ways[rng.IntN(len(ways))]
		way.piece = min(way.piece, len(runes))
		b.m.texts.spent += 1 + w.min/longText
		if long, ok := way.stretched(runes, rng.IntN(len(runes)-way.piece+1), w.min); ok && b.m.texts.has(w, long) {
			return long, true
		}
	}
	return "", false
}

func (b *adjuster) remembered(h handle) []textWant {
	if before, ok := b.wants[h.id()]; ok {
		return []textWant{before, anyText()}
	}
	return []textWant{anyText()}
}

func (b *adjuster) remember(h handle, also, w textWant) { b.wants[h.id()] = also.and(w) }

func (h handle) isBytes() bool { return h.node.d != nil && h.node.d.Kind == types.Bytes }

// bytesAt is like textAt, but for bytes. Objects hold bytes in base64, and the lengths in the schema apply to that
// form.
func (b *adjuster) bytesAt(h handle, w textWant) bool {
	f := b.m.facts(h.node, nil)
	bounds := textWant{min: (f.text.min + 3) / 4 * 3, max: -1}
	if f.text.max >= 0 {
		bounds.max = f.text.max / 4 * 3
	}
	for _, also := range b.remembered(h) {
		if s, ok := b.m.texts.one(bounds.and(also).and(w), b.m.rng); ok {
			b.remember(h, also, w)
			return b.assign(h, base64.StdEncoding.EncodeToString([]byte(s)))
		}
	}
	return false
}
