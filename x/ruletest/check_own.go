package ruletest

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/valuediff"
)

func (b *own) run(t *trial) {
	t.where = b.positionOf
	sent, err := b.sent(t)
	if err != nil {
		t.fail(err)
		return
	}
	req, res := sent.Request, sent.Result
	if res != nil {
		t.set = nil // policies do not see the write
	} else if res = b.write(t, req); res == nil {
		return
	}
	if status := sent.Rejection(res); status != nil {
		res = apply.Rejected(status)
	}
	if t.on.writer != nil {
		if res, err = t.on.writer.Migrate(t.ctx, &sent, res); err != nil {
			t.fail(err)
			return
		}
	}
	again := func(ctx context.Context, set *policy.Set) *trial {
		return &trial{ctx: ctx, again: true, cfg: t.cfg, on: t.on, policies: t.policies, set: set, seen: t.seen}
	}
	if t.on.engine != nil && b.admission.operation != opDelete && sent.Result == nil {
		t.recordWrite(t.on, req, func(res *engine.Result) bool {
			return b.checkResult(again(context.Background(), t.set), req, res)
		})
	}
	if res.Undecided != nil {
		t.result, t.problem = res, res.Undecided.Error()+": there may be other causes"
		return
	}
	b.checkResult(t, req, res)
	if len(t.evaluations) == 0 {
		return
	}
	t.withSet = func(ctx context.Context, set *policy.Set) (passes bool, problem string, err error) {
		t := again(ctx, set)
		passes = b.checkResult(t, req, res)
		if ctx.Err() != nil {
			return false, "", ctx.Err()
		}
		return passes, t.problem, t.bug
	}
}

func (b *own) checkResult(t *trial, req engine.Request, res *engine.Result) bool {
	if t.result = b.admit(t, req, res); t.result == nil {
		return false
	}
	b.compareResult(t)
	if b.convert != "" && t.result.Allowed && !t.again && len(t.wrong) == 0 {
		b.checkConversion(t)
	}
	return len(t.wrong) == 0 && t.problem == ""
}

// sent returns the write of the case as the tool sends it. For a built-in kind, the server completes it.
func (b *own) sent(t *trial) (apply.Request, error) {
	req := b.request()
	if t.on.writer == nil {
		return apply.Request{Request: req}, nil
	}
	return t.on.writer.Request(t.ctx, req, b.apply)
}

func (b *own) request() engine.Request {
	req := engine.Request{Object: b.object, Subresource: b.subresource, FieldValidation: b.fieldValidation}
	if b.object == nil {
		req.Object = b.of(b.patch, b.patched)
	}
	if b.updated {
		req.OldObject = b.old
		if b.oldPatch != nil {
			req.OldObject = b.of(b.oldPatch, true)
		}
	} else if b.admission.operation == opUpdate {
		req.OldObject = req.Object
	}
	return req
}

func (b *own) of(patch map[string]any, patched bool) map[string]any {
	if !patched {
		return b.base.object
	}
	return valuediff.Merge(b.base.object, patch).(map[string]any)
}

func (b *own) positionOf(field string) Position {
	for _, name := range []string{"object", "patch"} {
		if _, n := b.item.Get(name); n != nil {
			if at := position.Nearest(n.Resolve(), field); at != n.Resolve() {
				return b.reader.positionOf(at)
			}
		}
	}
	if b.object == nil && b.base.node != nil {
		return b.reader.positionOf(position.Nearest(b.base.node, field))
	}
	return b.reader.positionOf(b.item)
}

func (b *own) compareResult(t *trial) {
	res, e := t.result, &b.expect
	switch {
	case e.follows && !res.Allowed && !t.denied:
		t.wrongAt(e.decisionsAt, "an object for which policies are evaluated", "rejected: "+res.Failure.Message)
		return
	case e.follows:
	case e.valid && !res.Allowed:
		t.wrongAt(e.position, "valid", "rejected: "+res.Failure.Message)
	case !e.valid && res.Allowed:
		t.wrongAt(e.position, e.rejection(), "valid")
	case !e.valid && len(e.causes) > 0:
		b.checkCauses(t)
	}
	if e.decided {
		b.checkDecisions(t)
	}
	b.checkWarnings(t)
	if len(t.wrong) > 0 {
		return
	}
	if e.object != nil {
		if found := differences(e.object, res.Object, "name", "namespace"); len(found) > 0 {
			t.wrongAt(e.objectAt, "this object", "a different object: "+strings.Join(found, "; "))
		}
	}
	if e.costed && res.Cost > e.maxCost {
		t.wrongAt(e.costAt, fmt.Sprintf("a cost of at most %d", e.maxCost), fmt.Sprintf("%d", res.Cost))
	}
}

// causesOf omits the cause for unchecked rules, if there are others.
func causesOf(res *engine.Result) []engine.Cause {
	causes := slices.DeleteFunc(slices.Clone(res.Causes), func(c engine.Cause) bool {
		return len(res.Causes) > 1 && c.Kind == engine.CauseRulesSkipped
	})
	if len(causes) > 0 {
		return causes
	}
	return []engine.Cause{{Reason: metav1.CauseType(res.Failure.Reason), Message: res.Failure.Message}}
}

// Expected causes with a field are matched first.
func (b *own) checkCauses(t *trial) {
	causes := causesOf(t.result)
	if len(b.expect.causes) > len(causes) && len(t.result.Causes) > 0 {
		causes = t.result.Causes // the test may expect the unchecked cause as well
	}
	left := slices.Clone(causes)
	for _, named := range []bool{true, false} {
		for _, want := range b.expect.causes {
			if (want.field != nil) != named {
				continue
			}
			var fits []int
			for i := range left {
				if ok, _ := want.fits(&left[i], t.cfg.Exact); ok {
					fits = append(fits, i)
				}
			}
			switch {
			case len(fits) == 0:
				t.wrongAt(want.Position, want.String(), "no such cause")
				continue
			case len(fits) > 1 && !named:
				got := fmt.Sprintf("it matches %d causes, of %s and %s: add field to choose one", len(fits), left[fits[0]].Field, left[fits[1]].Field)
				t.wrongAt(want.Position, want.String()+", once", got)
			}
			if _, by := want.fits(&left[fits[0]], t.cfg.Exact); by {
				t.remark(olderRemark)
			}
			left = slices.Delete(left, fits[0], fits[0]+1)
		}
	}
	for _, c := range left {
		t.wrongAt(b.expect.position, "no other cause", strings.TrimPrefix(c.Field+": "+c.Message, ": "))
	}
}

func (w *expectedCause) fits(c *engine.Cause, exact bool) (ok bool, by older) {
	if w.field != nil && *w.field != c.Field || w.reason != "" && w.reason != string(c.Reason) {
		return false, false
	}
	if w.message == nil {
		return true, false
	}
	return w.message.equals(c.Message, c.Detail, exact)
}

func (w *expectedCause) String() string {
	var parts []string
	if w.field != nil {
		parts = append(parts, *w.field)
	}
	if w.reason != "" {
		parts = append(parts, w.reason)
	}
	if w.message != nil {
		parts = append(parts, w.message.text)
	}
	return strings.Join(parts, ": ")
}

func (e *expectation) rejection() string {
	var all []string
	for _, c := range e.causes {
		all = append(all, c.String())
	}
	if len(all) == 0 {
		return "rejected"
	}
	return "rejected, with " + strings.Join(all, "; ")
}

// checkWarnings compares all warnings if the case expects warnings. Otherwise, unless
// fieldValidation is set, an unknown field is a mismatch, because the case does not test that
// field.
func (b *own) checkWarnings(t *trial) {
	if !b.expect.warned {
		if b.fieldValidation == "" {
			for _, unknown := range t.result.Strict {
				t.wrongAt(b.positionOf(unknown.Field), "only fields of the CRD, or the warning under expect.warnings", unknown.Message)
			}
		}
		return
	}
	left := slices.Clone(t.result.Warnings)
	for _, want := range b.expect.warnings {
		i := slices.IndexFunc(left, want.matches)
		if i < 0 {
			t.wrongAt(b.expect.position, "the warning "+want.text, "no such warning")
			continue
		}
		left = slices.Delete(left, i, i+1)
	}
	for _, text := range left {
		t.wrongAt(b.expect.position, "no other warning", text)
	}
}

// Messages are compared literally. If that fails, a message that differs only in the printed value
// passes as well: before Kubernetes 1.35, servers print the type's name ("object") if a rule is false.
// Newer servers print the value, or nothing for an object.

// older reports that messages are equal only apart from printed values.
type older bool

const olderRemark = "in the wording of an older server"

func contains(text, part string, exact bool) (ok bool, by older) {
	if strings.Contains(text, part) {
		return true, false
	}
	if exact {
		return false, false
	}
	text, part = respelled(text), respelled(part)
	return strings.Contains(text, part) || strings.Contains(withoutValues(text), withoutValues(part)), true
}

// If ok is set, by reports whether the messages are equal only apart from printed values.
func (e *expectedText) equals(message, detail string, exact bool) (ok bool, by older) {
	switch {
	case e.re != nil:
		return e.re.MatchString(message), false
	case e.text == message:
		return true, false
	case exact:
		return false, false
	case e.text == detail && detail != "":
		return true, false
	}
	return withoutValues(respelled(e.text)) == withoutValues(respelled(message)), true
}

func (e *expectedText) matches(text string) bool {
	ok, _ := e.equals(text, "", true)
	return ok
}

// shown matches the values that a server prints after words such as "Invalid value". A value is a
// quoted string, a number, a word, or a list or map as printed by Go or JSON, up to five levels
// deep. The expression is large and rarely needed, so it is compiled on first use.
var shown = sync.OnceValue(func() *regexp.Regexp {
	value := `(?:` + quoted + `|null|true|false|-?[0-9][0-9.e+-]*|` + nested(5) + `)`
	return regexp.MustCompile(`(Invalid value|Duplicate value|Unsupported value|Too long|Too many|Required value): ` + value + `(: |[,\]]|$)`)
})

var typePrefix = regexp.MustCompile(`^"(?:object|array|string|integer|number|boolean|null)": `)

const quoted = `"(?:[^"\\]|\\.)*"`

func nested(depth int) string {
	if depth == 0 {
		return `\{\}`
	}
	inner := `(?:` + quoted + `|[^][{}"]|` + nested(depth-1) + `)*`
	return `(?:(?:map\[[a-z]+\]|\[\])(?:interface \{\}|any|string))?(?:\{` + inner + `\}|\[` + inner + `\])`
}

// equivalentNotations lists replacements for equivalent notations: maps as printed by Go, spaces in lists of
// strings, and names of number types.
var equivalentNotations = []struct {
	pattern *regexp.Regexp
	to      string
}{
	{regexp.MustCompile(`map\[string\](?:interface \{\}|any)\{`), `{`},
	{regexp.MustCompile(`", "`), `","`},
	{regexp.MustCompile(`must be of type (?:int32|int64|integer)`), `must be of type integer`},
	{regexp.MustCompile(`"float64"`), `"number"`},
}

func respelled(text string) string {
	for _, s := range equivalentNotations {
		text = s.pattern.ReplaceAllString(text, s.to)
	}
	return text
}

func withoutValues(text string) string {
	text = shown().ReplaceAllString(typePrefix.ReplaceAllString(text, ""), "$1: $2")
	return strings.ReplaceAll(text, ": : ", ": ")
}
