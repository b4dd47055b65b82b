package search

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

type textWant struct {
	// match holds patterns that the string must match, avoid those that it must not match.
	match, avoid []string
	// min and max limit the length in code points; max < 0 is unlimited.
	min, max int
}

func anyText() textWant { return textWant{max: -1} }

func (w textWant) key() string { return fmt.Sprintf("%q %q %d %d", w.match, w.avoid, w.min, w.max) }

func (w textWant) and(more textWant) textWant {
	out := textWant{match: union(w.match, more.match), avoid: union(w.avoid, more.avoid), min: max(w.min, more.min), max: w.max}
	if more.max >= 0 && (w.max < 0 || more.max < w.max) {
		out.max = more.max
	}
	return out
}

func union(a, b []string) []string {
	out := a[:len(a):len(a)]
	for _, s := range b {
		if !slices.Contains(a, s) {
			out = append(out, s)
		}
	}
	return out
}

func (t *texts) has(w textWant, s string) bool {
	n := utf8.RuneCountInString(s)
	if n < w.min || w.max >= 0 && n > w.max {
		return false
	}
	t.work.Spend(1 + len(s)*(len(w.match)+len(w.avoid))/bytesPerUnit)
	for _, p := range w.match {
		if re := t.regexp(p); re == nil || !re.MatchString(s) {
			return false
		}
	}
	for _, p := range w.avoid {
		if re := t.regexp(p); re != nil && re.MatchString(s) {
			return false
		}
	}
	return true
}

// stepsPerUnit and bytesPerUnit convert steps of an automaton and bytes that a pattern reads to
// work units.
const (
	stepsPerUnit = 4
	bytesPerUnit = 16
)

// perInstruction is the work of compiling one instruction of a pattern. largePattern is the work of
// compiling a pattern that is too large for automata.
const (
	perInstruction = 2
	largePattern   = 200_000
)

// regexp returns the compiled pattern, or nil if it does not compile.
func (t *texts) regexp(p string) *regexp.Regexp {
	re, ok := t.regexps[p]
	if !ok {
		re = regexcost.Matcher(p)
		if l := t.language(p); l != nil {
			t.work.Spend(perInstruction * l.Size())
		} else {
			t.work.Spend(largePattern)
		}
		t.regexps[p] = re
	}
	return re
}

type texts struct {
	patterns map[string]*automaton.Language
	regexps  map[string]*regexp.Regexp
	known    map[string]knownTexts // by textWant
	found    map[string][]string   // for a question, by textWant
	kept     int                   // bytes of found
	spent    int                   // steps since newOracle
	work     *work.Meter
}

// knownTexts are short strings that an earlier question searched for, with the steps that each question counts for
// them. Questions therefore have the same answers in any order.
type knownTexts struct {
	texts []string
	steps int
}

func newTexts() *texts {
	return &texts{
		patterns: map[string]*automaton.Language{}, regexps: map[string]*regexp.Regexp{}, known: map[string]knownTexts{},
	}
}

func (t *texts) forQuestion(m *work.Meter) *texts {
	return &texts{patterns: t.patterns, regexps: t.regexps, known: t.known, found: map[string][]string{}, work: m}
}

// maxKept limits the cached strings, in bytes.
const maxKept = 48 << 20

// samples is the number of strings that are found per textWant, for variety and for lists of unique
// items.
const samples = 12

const textSteps = 60_000

func (t *texts) one(w textWant, rng *rand.Rand) (s string, ok bool) {
	all := t.all(w)
	if len(all) == 0 {
		return "", false
	}
	return all[rng.IntN(len(all))], true
}

func (t *texts) all(w textWant) []string {
	key := w.key()
	found, ok := t.found[key]
	if !ok {
		known, ok := t.known[key]
		if !ok {
			known.texts, known.steps = t.find(w)
			if w.min <= shortText {
				t.known[key] = known
			}
		}
		found = known.texts
		t.spent += known.steps
		t.work.Spend(known.steps / stepsPerUnit)
		for _, s := range found {
			t.kept += len(s)
		}
		if t.kept > maxKept {
			clear(t.found)
			t.kept = 0
		}
		t.found[key] = found
	}
	return found
}

func (t *texts) find(w textWant) (texts []string, steps int) {
	if w.max == 0 {
		if t.has(w, "") {
			return []string{""}, 0
		}
		return nil, 0
	}
	if w.min > longText {
		return t.padded(w)
	}
	whole := automaton.All()
	for _, p := range w.match {
		l := t.language(p)
		if l == nil {
			return t.plain(w), 0
		}
		whole = whole.And(l)
	}
	for _, p := range w.avoid {
		l := t.language(p)
		if l == nil {
			return t.plain(w), 0
		}
		whole = whole.And(l.Not())
	}
	within := automaton.Search{MinLength: w.min, MaxLength: max(w.max, 0), Count: samples, Steps: textSteps}
	if w.min > shortText {
		within.Count = 1 // others take long to find
	}
	t.work.Spend(whole.Size())
	found := whole.Find(within)
	steps = found.Spent
	if len(found.Texts) == 0 && !found.Complete {
		within.Count, within.Steps = 1, 8*textSteps
		found = whole.Find(within)
		steps += found.Spent
	}
	if len(found.Texts) == 0 && !found.Complete && w.min > shortText {
		long, more := t.padded(w)
		return long, steps + more
	}
	return found.Texts, steps
}

// language returns the automaton of a pattern, or nil if the pattern is invalid or too large.
func (t *texts) language(p string) *automaton.Language {
	if l, ok := t.patterns[p]; ok {
		return l
	}
	l, err := automaton.Compile(p)
	if err != nil {
		l = nil
		t.work.Spend(largePattern)
	} else {
		t.work.Spend(perInstruction * l.Size())
	}
	t.patterns[p] = l
	return l
}

// shortText is the length up to which several strings are searched for with automata.
const shortText = 60

// longText is the length up to which a string is searched for with automata.
const longText = 300

const maxText = 1 << 20

func (t *texts) padded(w textWant) (found []string, steps int) {
	if w.min > maxText {
		return nil, 0
	}
	short := w
	short.min = 1
	for _, s := range append(slices.Clone(t.all(short)), "a") {
		runes := []rune(s)
		for n, try := 0, 0; n < samples/4 && try < stretches && steps < textSteps; try++ {
			way := ways[try%len(ways)]
			from := len(runes) - way.piece - try/len(ways)*len(runes)/4
			long, ok := way.stretched(runes, from, w.min)
			if steps += 1 + w.min/longText; ok && t.has(w, long) && !slices.Contains(found, long) {
				found, n = append(found, long), n+1
			}
		}
	}
	return found, steps
}

// A stretch is a way to lengthen a string: a piece of it is repeated, possibly with a separator.
type stretch struct {
	piece   int
	between string
}

var ways = []stretch{{piece: 1}, {piece: 4}, {piece: 2}, {1, "."}, {1, "/"}}

const stretches = 20

// stretched returns s with a repeated piece, at least as long as length. ok is false if s is long enough, no such
// piece exists, or length exceeds maxText.
func (w stretch) stretched(s []rune, from, length int) (long string, ok bool) {
	if len(s) >= length || from < 0 || from+w.piece > len(s) || length > maxText {
		return "", false
	}
	unit := w.between + string(s[from:from+w.piece])
	more := utf8.RuneCountInString(unit)
	times := (length - len(s) + more - 1) / more
	return string(s[:from+w.piece]) + strings.Repeat(unit, times) + string(s[from+w.piece:]), true
}

// plain returns the usual strings that meet w. It is used if a pattern is too large for automata.
func (t *texts) plain(w textWant) (found []string) {
	for _, s := range usual {
		if t.has(w, s) {
			found = append(found, s)
		}
	}
	return found
}

func oneText(s string) textWant {
	return textWant{match: []string{`\A` + regexp.QuoteMeta(s) + `\z`}, max: -1}
}
