package exchange

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Difference compares a prediction with the server's response. It returns "" if the response is possible. The order
// of policies, bindings, and params is not compared, because it is random in the server.
func Difference(r *Request, want Answer, got *Prediction) string {
	want = normal(r, want)
	text := ""
	for _, one := range append([]Answer{got.Answer}, got.Denials...) {
		if want.Object == nil { // the response has no object if the name is taken
			one.Object = nil
		}
		diff := cmp.Diff(want, normal(r, one), cmpopts.EquateEmpty())
		if diff == "" {
			return ""
		}
		if text == "" {
			text = diff
		}
	}
	return text
}

func normal(r *Request, a Answer) Answer {
	causes := make([]string, len(a.Causes))
	for i, cause := range a.Causes {
		causes[i] = withoutRandom(cause)
	}
	a.Message, a.Causes = withoutRandom(a.Message), causes
	a.Warnings = slices.Sorted(slices.Values(a.Warnings))
	a.Causes = slices.Sorted(slices.Values(a.Causes))
	annotations := make(map[string]string, len(a.Annotations))
	for key, value := range a.Annotations {
		annotations[key] = sortedAnnotation(value)
	}
	a.Annotations = annotations
	if r.Name != "" || r.Object == nil {
		return a
	}
	meta, _ := r.Object["metadata"].(Object)
	prefix, _ := meta["generateName"].(string)
	if prefix == "" {
		return a
	}
	generated := regexp.MustCompile(regexp.QuoteMeta(prefix) + "([bcdfghjklmnpqrstvwxz2456789]{5}|0{5})")
	fix := func(text string) string { return generated.ReplaceAllString(text, prefix+"xxxxx") }
	a.Message = fix(a.Message)
	for i := range a.Causes {
		a.Causes[i] = fix(a.Causes[i])
	}
	for i := range a.Warnings {
		a.Warnings[i] = fix(a.Warnings[i])
	}
	for key, value := range a.Annotations {
		a.Annotations[key] = fix(value)
	}
	return a
}

var (
	// mergeErrors are the errors of a merge. The server finds some of them in random order.
	mergeErrors = regexp.MustCompile(`(typed object: )(?s).*`)
	// managedValue is a value with managedFields and the rest of the message. It depends on the time.
	managedValue = regexp.MustCompile(`((?:metadata|managedFields)[^{]*Invalid value: )(?s)\{.*|(Invalid value: )\{.*"managedFields".*`)
	// severalCauses are the causes in a message, which have a random order.
	severalCauses = regexp.MustCompile(`(is invalid: \[).*\]`)
)

func withoutRandom(text string) string {
	text = strings.ReplaceAll(text, "\u00a0", " ") // protobuf chooses between spaces at random
	text = mergeErrors.ReplaceAllString(text, "$1")
	text = managedValue.ReplaceAllString(text, "$1")
	return severalCauses.ReplaceAllString(text, "$1")
}

// An annotation is a JSON list of failures, or the values of several bindings.
func sortedAnnotation(value string) string {
	var list []json.RawMessage
	if json.Unmarshal([]byte(value), &list) != nil {
		return strings.Join(slices.Sorted(slices.Values(strings.Split(value, ", "))), ", ")
	}
	texts := make([]string, len(list))
	for i, item := range list {
		texts[i] = string(item)
	}
	return "[" + strings.Join(slices.Sorted(slices.Values(texts)), ",") + "]"
}
