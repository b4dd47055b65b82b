package conformance

import (
	"regexp"
	"strings"
)

// The expected messages in the corpus were written for many Kubernetes versions. loosenings match
// the parts of a message that differ between versions.
var loosenings = []struct {
	pattern *regexp.Regexp
	to      string
}{
	// The value: the name of its type before 1.37, the value itself or nothing since.
	{regexp.MustCompile(`Invalid value: (?:"(?:[^"\\]|\\.)*"|null|true|false|-?[0-9][0-9.e+-]*)(?:: |$)`), `Invalid value: `},
	{regexp.MustCompile(`^"(?:object|array|string|integer|number|boolean|null)": `), ``},
	// A map value, in Go's syntax or as JSON.
	{regexp.MustCompile(`map\[string\](?:interface \{\}|any)\{`), `{`},
	{regexp.MustCompile(`", "`), `","`},
	// A number instead of an integer.
	{regexp.MustCompile(`must be of type (?:int32|int64|integer)`), `must be of type integer`},
	{regexp.MustCompile(`"float64"`), `"number"`},
}

func loosen(text string) string {
	for _, l := range loosenings {
		text = l.pattern.ReplaceAllString(text, l.to)
	}
	return text
}

// nextError matches the boundary between two errors in a joined message.
var nextError = regexp.MustCompile(`, ([\w.\[\]<>"/-]+): (Invalid|Required|Unsupported|Duplicate|Forbidden|Too )`)

// containsText ignores differences between Kubernetes versions, and the order of errors in the message.
func containsText(message, text string, ignoreCase bool) bool {
	if ignoreCase {
		message, text = strings.ToLower(message), strings.ToLower(text)
	}
	if strings.Contains(message, text) {
		return true
	}
	message, text = loosen(message), loosen(text)
	if strings.Contains(message, text) {
		return true
	}
	for _, part := range splitErrors(text) {
		if !strings.Contains(message, tornEnds.ReplaceAllString(part, "")) {
			return false
		}
	}
	return true
}

// tornEnds matches remains of the next error, or of the list, at the end of an expected text that
// was cut from the middle of a message. In the message, another error may follow there.
var tornEnds = regexp.MustCompile(`(?:,|\])?(?: <nil>:?)?$`)

func splitErrors(text string) []string {
	if _, after, found := strings.Cut(text, " is invalid: "); found {
		text = after
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	text = nextError.ReplaceAllString(text, "\x00$1: $2")
	return strings.Split(text, "\x00")
}

// right is the server's response, or nil if it is unknown. The server is right by definition, so an
// expected text or object that its response does not match is ignored.
func demanded(c *Case, right *Answer, ours Answer) []Difference {
	if c.Expect != "" && ours.Allowed != (c.Expect == "valid") {
		return []Difference{{"maintainers expect " + c.Expect + ": " + genericMessage(ours), ours.Message}}
	}
	var out []Difference
	for _, text := range c.ErrorContains {
		if right != nil && !containsText(right.Message, text, c.ErrorIgnoreCase) {
			continue
		}
		if !containsText(ours.Message, text, c.ErrorIgnoreCase) {
			out = append(out, Difference{"maintainers' text", lines("want "+text, "got  "+ours.Message)})
		}
	}
	if c.ExpectObject == nil || c.Variant || !ours.Allowed {
		return out
	}
	const name = "maintainers' expected object"
	if right != nil && len(compareObjects(name, c.ExpectObject, right.Object, chosenByRun)) > 0 {
		return out
	}
	return append(out, compareObjects(name, c.ExpectObject, ours.Object, chosenByRun)...)
}

func compareWithRecorded(c *Case, ours Answer) []Difference {
	if c.Recorded == nil {
		return demanded(c, nil, ours)
	}
	if out := compare(*c.Recorded, ours, aspects{object: true}); len(out) > 0 {
		return out
	}
	return demanded(c, c.Recorded, ours)
}
