package ruletest

import (
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// The expectations that would pass are expressed as changes to the suite's text. Expectations that
// still hold keep their formatting and comments.

// pathBelow returns path extended by steps, without sharing memory.
func pathBelow(path position.Path, steps ...position.Step) position.Path {
	return append(path[:len(path):len(path)], steps...)
}

func fieldChanges(at position.Path, was, is any) (all []position.Change) {
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		if !ok || !slices.ContainsFunc(slices.Collect(maps.Keys(was)), func(key string) bool { _, stays := is[key]; return stays }) {
			break // no key is kept
		}
		keys := maps.Clone(was)
		maps.Copy(keys, is)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			below := pathBelow(at, position.Key(key))
			before, had := was[key]
			switch after, has := is[key]; {
			case had && has:
				all = append(all, fieldChanges(below, before, after)...)
			case has:
				all = append(all, position.Set(below, after))
			default:
				all = append(all, position.Remove(below))
			}
		}
		return all
	case []any:
		is, ok := is.([]any)
		if !ok || len(is) != len(was) {
			break
		}
		for i := range was {
			all = append(all, fieldChanges(pathBelow(at, position.Item(i)), was[i], is[i])...)
		}
		return all
	}
	if sameJSON(was, is) {
		return nil
	}
	return []position.Change{position.Set(at, is)}
}

func (b *own) golden(c *Case, got *trial) (changes []position.Change) {
	res, e, at := got.result, &b.expect, pathBelow(c.path, position.Key("expect"))
	_, n := b.item.Get("expect")
	switch {
	case n == nil || e.follows && !res.Allowed && !got.denied || !e.follows && e.valid != res.Allowed:
		return []position.Change{position.Set(at, b.expected(got))}
	case n.Kind != position.Mapping:
		return nil // valid or invalid stays
	}
	if !res.Allowed && len(e.causes) > 0 {
		changes = b.goldenCauses(pathBelow(at, position.Key("causes")), causesOf(res))
	}
	again := &trial{cfg: &Config{}, result: res, decisions: got.decisions}
	if b.checkWarnings(again); e.warned && len(again.wrong) > 0 {
		changes = append(changes, position.Set(pathBelow(at, position.Key("warnings")), list(res.Warnings)))
	}
	again.wrong = nil
	if e.decided {
		if b.checkDecisions(again); len(again.wrong) > 0 {
			changes = append(changes, position.Set(pathBelow(at, position.Key("policies")), decisionList(got.decisions)))
		}
	}
	if e.object != nil && res.Allowed {
		was, is := compared(e.object, res.Object, "name", "namespace")
		changes = append(changes, fieldChanges(pathBelow(at, position.Key("object")), was, is)...)
	}
	if e.costed && res.Cost > e.maxCost {
		changes = append(changes, position.Set(pathBelow(at, position.Key("maxCost")), res.Cost))
	}
	return changes
}

func list(texts []string) []any {
	all := make([]any, len(texts))
	for i, text := range texts {
		all[i] = text
	}
	return all
}

// The decisions of policies replace their causes.
func (b *own) expected(got *trial) any {
	res, e := got.result, &b.expect
	var expect position.Map
	if !res.Allowed && !got.denied {
		var causes []any
		for _, c := range causesOf(res) {
			causes = append(causes, causeText(&c))
		}
		expect = append(expect, position.Entry{Key: "causes", Value: causes})
	}
	decided := got.denied || e.decided && res.Allowed
	if decided {
		expect = append(expect, position.Entry{Key: "policies", Value: decisionList(got.decisions)})
	}
	if e.warned {
		expect = append(expect, position.Entry{Key: "warnings", Value: list(res.Warnings)})
	}
	if e.costed {
		expect = append(expect, position.Entry{Key: "maxCost", Value: max(e.maxCost, res.Cost)})
	}
	switch {
	case !res.Allowed || decided:
		return expect
	case len(expect) == 0:
		return "valid"
	}
	return append(position.Map{{Key: "valid", Value: true}}, expect...)
}

func causeText(c *engine.Cause) position.Map {
	one := position.Map{}
	if c.Field != "" {
		one = append(one, position.Entry{Key: "field", Value: c.Field})
	}
	return append(one, position.Entry{Key: "reason", Value: string(c.Reason)}, position.Entry{Key: "message", Value: c.Message})
}

// goldenCauses returns the changes of expected causes. Matching causes stay. A cause with the same
// field gets the new reason and message. Other new causes replace those that are left; the rest is
// added or removed. The list never becomes empty, because there is a cause.
func (b *own) goldenCauses(at position.Path, causes []engine.Cause) (changes []position.Change) {
	left := make([]*engine.Cause, len(causes))
	for i := range causes {
		left[i] = &causes[i]
	}
	take := func(fits func(*engine.Cause) bool) *engine.Cause {
		i := slices.IndexFunc(left, fits)
		if i < 0 {
			return nil
		}
		c := left[i]
		left = slices.Delete(left, i, i+1)
		return c
	}
	var open []int
	for i, want := range b.expect.causes {
		if take(func(c *engine.Cause) bool { ok, _ := want.fits(c, false); return ok }) == nil {
			open = append(open, i)
		}
	}
	var spare []int // no actual cause has this field
	for _, i := range open {
		want, item := b.expect.causes[i], pathBelow(at, position.Item(i))
		c := take(func(c *engine.Cause) bool { return want.field != nil && *want.field == c.Field })
		if c == nil {
			spare = append(spare, i)
			continue
		}
		if want.reason != "" && want.reason != string(c.Reason) {
			changes = append(changes, position.Set(pathBelow(item, position.Key("reason")), string(c.Reason)))
		}
		if want.message != nil && want.message.text != c.Message {
			changes = append(changes, position.Set(pathBelow(item, position.Key("message")), c.Message))
		}
	}
	for n, i := range spare {
		if n < len(left) {
			changes = append(changes, position.Set(pathBelow(at, position.Item(i)), causeText(left[n])))
		} else {
			changes = append(changes, position.Remove(pathBelow(at, position.Item(i))))
		}
	}
	for _, c := range left[min(len(spare), len(left)):] {
		changes = append(changes, position.Insert(pathBelow(at, position.Item(len(b.expect.causes))), causeText(c)))
	}
	return changes
}

func (b *openShift) golden(c *Case, got *trial) (changes []position.Change) {
	key, value := "expected", ""
	switch {
	case got.result.Allowed:
		value = b.stored(got.result.Object)
	case got.status:
		key, value = "expectedStatusError", causesText(got.result)
	default:
		key, value = "expectedError", causesText(got.result)
	}
	changes = append(changes, position.Set(pathBelow(c.path, position.Key(key)), value))
	for _, name := range []string{"expected", "expectedError", "expectedStatusError"} {
		at := pathBelow(c.path, position.Key(name))
		if _, v := b.reader.doc.Find(at); v != nil && name != key {
			changes = append(changes, position.Remove(at))
		}
	}
	return changes
}

// stored returns the persisted object as YAML. Parts of the expected YAML that still hold keep
// their formatting.
func (b *openShift) stored(object map[string]any) string {
	if b.expected != nil {
		was, is := compared(b.withoutName(b.expected.object), b.withoutName(object))
		if doc, err := position.Parse([]byte(b.expected.text)); err == nil {
			if text, err := doc.Edit(fieldChanges(nil, was, is)...); err == nil {
				return string(text)
			}
		}
	}
	data, err := emit.YAML(b.withoutName(tidy(object)))
	if err != nil { // impossible for a decoded object
		return ""
	}
	return string(data)
}

func tidy(object map[string]any) map[string]any {
	_, out := compared(nil, object)
	return out
}

// causesText returns the error message for expectedError, without the name of the object, which may
// be generated, and without the cause that rules were not checked.
func causesText(res *engine.Result) string {
	message := res.Failure.Message
	if _, after, ok := strings.Cut(message, " is invalid: "); ok {
		message = after
	}
	message = strings.TrimSuffix(strings.TrimPrefix(message, "["), "]")
	for _, c := range res.Causes {
		if c.Kind == engine.CauseRulesSkipped {
			message = strings.TrimSuffix(message, ", "+c.Field+": "+c.Message)
		}
	}
	return message
}
