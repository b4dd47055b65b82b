package editor

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/regexp/lazy"
	"github.com/celadon-cel/celadon/internal/text/spell"
	"github.com/celadon-cel/celadon/x/assist"
)

// Editors show the beginning of a message next to the line, often cut after some 60 characters. The API
// server begins its messages with the kind of the error and the rejected value, which is a whole object
// for most rules, and the reason follows. A point is the reason alone.

// Point returns the reason in a message of the API server about a field. If it finds no reason, it returns the
// message.
func Point(field, message string) string {
	if found := policyPrefix.FindString(message); found != "" {
		return message[len(found):]
	}
	switch kind, rest, ok := strings.Cut(message, ": "); kind {
	case "Required value":
		if !ok {
			return "missing " + lastStep(field)
		}
		return rest
	case "Unsupported value":
		return unsupported(cutValue(rest))
	case "Invalid value":
		if _, detail := cutValue(rest); detail != "" {
			return ruleError(detail)
		}
	case "Forbidden":
		return rest
	}
	return ruleError(message)
}

// policyPrefix matches the server's words before the message of an admission policy.
var policyPrefix = lazy.New(`^(?:ValidatingAdmissionPolicy|policy|Validation failed for ValidatingAdmissionPolicy) ['"][^'"]*['"](?: with binding '[^']*')?(?: denied request)?: `)

// cutValue splits the value at the beginning of the rest of a message from the detail after it. value is ""
// if the rest does not begin with a value.
func cutValue(text string) (value, detail string) {
	var quoted string
	if q, err := strconv.QuotedPrefix(text); err == nil {
		quoted = q
	} else if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		dec := json.NewDecoder(strings.NewReader(text))
		var raw json.RawMessage
		if dec.Decode(&raw) != nil {
			return "", text
		}
		quoted = text[:dec.InputOffset()]
	}
	if quoted != "" {
		detail, ok := strings.CutPrefix(text[len(quoted):], ": ")
		if !ok && text != quoted {
			return "", text
		}
		return quoted, detail
	}
	if value, detail, _ = strings.Cut(text, ": "); plainValue.MatchString(value) {
		return value, detail
	}
	return "", text // newer servers omit the value
}

// plainValue matches values that messages have without quotes.
var plainValue = lazy.New(`^(?:-?[0-9][0-9.eE+-]*|true|false|null)$`)

// ruleError shortens the server's message about an expression that does not compile to its first error. It
// does not change other messages.
func ruleError(detail string) string {
	head := ""
	if after, is := strings.CutPrefix(detail, "rule compile error: "); is {
		head, detail = "a rule does not compile: ", after
	}
	errs, ok := strings.CutPrefix(detail, "compilation failed: ")
	if !ok {
		return head + detail
	}
	first, _, _ := strings.Cut(errs, "\n")
	return head + strings.TrimSuffix(celPosition.ReplaceAllString(first, ""), " (in container '')")
}

var celPosition = lazy.New(`^ERROR: <input>:\d+:\d+: `)

var quotedValues = lazy.New(`"(?:[^"\\]|\\.)*"`)

func unsupported(value, detail string) string {
	var known []string
	for _, q := range quotedValues.FindAllString(detail, -1) {
		if text, err := strconv.Unquote(q); err == nil {
			known = append(known, text)
		}
	}
	point := "unsupported value " + value
	if text, err := strconv.Unquote(value); err == nil {
		if near := spell.Nearest(text, known); near != "" {
			return fmt.Sprintf("%s, did you mean %q?", point, near)
		}
	}
	if detail == "" {
		return point
	}
	return point + "; " + detail
}

// lastStep returns the last step of a path, such as replicas for spec.replicas, or "value" for an index.
func lastStep(field string) string {
	field, isKey := strings.CutSuffix(field, "]")
	separators := "."
	if isKey {
		separators = "["
	}
	field = field[strings.LastIndexAny(field, separators)+1:]
	if _, err := strconv.Atoi(field); err == nil || field == "" || field == "<nil>" {
		return "value"
	}
	return field
}

var strictError = lazy.New(`(unknown|duplicate) field ("(?:[^"\\]|\\.)*")`)

// StrictPoint returns the reason in the server's message about unknown and duplicate fields, for the error
// about a field; "" is any field. Without such an error, it returns the beginning of the first error. The
// hint may be "". ok is false if the message is not about strict decoding.
func StrictPoint(message, field, hint string) (point string, ok bool) {
	_, errs, ok := strings.Cut(message, "strict decoding error: ")
	if !ok {
		return "", false
	}
	errs = strings.ReplaceAll(errs, "\n  line ", " line ") // in an error of the YAML decoder
	errs, _, _ = strings.Cut(errs, "\n")
	for _, found := range strictError.FindAllStringSubmatch(errs, -1) {
		path, err := strconv.Unquote(found[2])
		if err != nil || field != "" && path != field {
			continue
		}
		point = found[1] + " field " + lastStep(path)
		if hint != "" {
			point += ", " + hint
		}
		return point, true
	}
	point, _, _ = strings.Cut(errs, ", ")
	return point, point != ""
}

// CompilePoint returns the reason why an expression does not compile, with a hint if there is one.
func CompilePoint(p *assist.Problem) string {
	switch hint := p.Hint(); {
	case hint == "":
		return p.Summary()
	case len(p.Names) > 0:
		return p.Summary() + ", " + hint
	default:
		return p.Summary() + "; " + hint
	}
}

// Repeats reports for each cause of a CRD's rejection whether an editor can leave it out, because other causes explain
// it. A rule that is too expensive causes an error of its own, another because the rule contributes to the total, and a
// third because of the total. Versions that share a schema in the text repeat all of them.
func Repeats(causes []finding.Cause) []bool {
	type position struct{ line, column int }
	type inSchema struct { // without the version
		position
		field, message string
	}
	over := map[position]bool{}
	known := map[inSchema]bool{}
	repeats := make([]bool, len(causes))
	for i, c := range causes {
		e := inSchema{position{c.Line, c.Column}, c.Field, c.Message}
		if _, field, ok := strings.Cut(c.Field, ".openAPIV3Schema"); ok {
			e.field = field
		}
		repeats[i] = known[e]
		known[e] = true
		if c.Kind == engine.CauseRuleCost {
			over[e.position] = true
		}
	}
	explained := len(over) > 0 // whether the other causes explain the total
	for i, c := range causes {
		if c.Kind == engine.CauseShareOfCost {
			at := position{c.Line, c.Column}
			repeats[i] = repeats[i] || over[at]
			explained = explained && over[at]
		}
	}
	for i, c := range causes {
		repeats[i] = repeats[i] || explained && c.Kind == engine.CauseTotalCost
	}
	return repeats
}
