package conformance

import (
	"regexp"
	"strings"
)

// Maintainers wrote their expected texts against many Kubernetes versions;
// these are the places in which the versions print a refusal differently.
var loosenings = []struct {
	pattern *regexp.Regexp
	to      string
}{
	// The value: its type's name before 1.37, itself or nothing since.
	{regexp.MustCompile(`Invalid value: (?:"(?:[^"\\]|\\.)*"|null|true|false|-?[0-9][0-9.e+-]*)(?:: |$)`), `Invalid value: `},
	{regexp.MustCompile(`^"(?:object|array|string|integer|number|boolean|null)": `), ``},
	// A map value: Go's form, or JSON.
	{regexp.MustCompile(`map\[string\](?:interface \{\}|any)\{`), `{`},
	{regexp.MustCompile(`", "`), `","`},
	// A number where an integer belongs.
	{regexp.MustCompile(`must be of type (?:int32|int64|integer)`), `must be of type integer`},
	{regexp.MustCompile(`"float64"`), `"number"`},
}

func loosen(text string) string {
	for _, l := range loosenings {
		text = l.pattern.ReplaceAllString(text, l.to)
	}
	return text
}

// nextError is where one error ends and the next begins in a joined message.
var nextError = regexp.MustCompile(`, ([\w.\[\]<>"/-]+): (Invalid|Required|Unsupported|Duplicate|Forbidden|Too )`)

// containsText says whether a refusal contains the text that the maintainers
// demand, whichever Kubernetes version they wrote it for, and in whichever
// order the refusal has its errors.
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

// tornEnds are what is left of the next error, or of the list, where a text
// ends in the middle of a message; there another error may follow.
var tornEnds = regexp.MustCompile(`(?:,|\])?(?: <nil>:?)?$`)

// splitErrors cuts a text of several errors into one text an error.
func splitErrors(text string) []string {
	if _, after, found := strings.Cut(text, " is invalid: "); found {
		text = after
	}
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	text = nextError.ReplaceAllString(text, "\x00$1: $2")
	return strings.Split(text, "\x00")
}

// demanded holds our answer to what a case's maintainers expect. right is the
// server's own answer where it is known: the server is right by definition, so
// a text that it does not print itself is not demanded of us.
func demanded(c *Case, right *Answer, ours Answer) []Difference {
	if c.Expect != "" && ours.Allowed != (c.Expect == "valid") {
		return []Difference{{"maintainers expect " + c.Expect + ": " + gist(ours), ours.Message}}
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

// judge holds our answer to all that is known without a server.
func judge(c *Case, ours Answer) []Difference {
	if c.Recorded == nil {
		return demanded(c, nil, ours)
	}
	if out := compare(*c.Recorded, ours, aspects{object: true}); len(out) > 0 {
		return out
	}
	return demanded(c, c.Recorded, ours)
}
