package markers

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/spell"
)

// An ignoredMarker is a comment that is almost a marker, which generators ignore.
type ignoredMarker struct {
	*Marker
	why string
}

// markerWords holds the names in markers after kubebuilder, and validationWords those after kubebuilder:validation.
var (
	markerWords = strings.Fields("default deprecatedversion example externalDocs metadata object pruning printcolumn rbac " +
		"resource scaffold scale schemaModifier selectablefield skip skipversion storageversion subresource title " +
		"unservedversion validation webhook webhookconfiguration")
	validationWords = strings.Fields("AtLeastOneOf AtMostOneOf EmbeddedResource Enum ExactlyOneOf ExclusiveMaximum " +
		"ExclusiveMinimum Format MaxItems MaxLength MaxProperties Maximum MinItems MinLength MinProperties Minimum " +
		"MultipleOf Optional Pattern Required Schemaless Type UniqueItems XEmbeddedResource XIntOrString " +
		"XPreserveUnknownFields XValidation items")
)

func (c *comments) ignored() (all []ignoredMarker) {
	for _, g := range c.groups {
		for i, comment := range g.List {
			m, why := &Marker{file: c.file, start: c.offset(comment.Pos())}, ""
			m.end = m.start + len(comment.Text)
			m.Name, why = mistake(comment.Text)
			if why == "" && strings.HasSuffix(strings.TrimSpace(comment.Text), ":XValidation:") && i+1 < len(g.List) {
				why = "a marker ends with its line: write it on one line"
			}
			if why != "" {
				all = append(all, ignoredMarker{m, why})
			}
		}
	}
	return all
}

// mistake returns the name of the marker that a comment resembles, and the reason why generators ignore the comment, or
// "".
func mistake(comment string) (name, why string) {
	body, isBlock := strings.CutPrefix(comment, "/*")
	body = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(body, "//"), "*/"))
	text, hasPlus := strings.CutPrefix(body, "+")
	name, rest, _ := strings.Cut(strings.TrimSpace(text), "=")
	words := strings.Split(name, ":")
	if len(words) < 2 || strings.Contains(words[0], "/") || words[0] != "kubebuilder" && spell.Nearest(words[0], []string{"kubebuilder"}) == "" {
		return "", ""
	}
	isAlone := !strings.ContainsAny(name, " \t") && (rest != "" || slices.Contains(markerWords, words[1]))
	switch {
	case isBlock && hasPlus:
		return name, "generators read only comments that begin with //"
	case !hasPlus && isAlone:
		return name, "the + is missing: write // +" + name
	case hasPlus && strings.TrimSpace(text) != text:
		return name, "a space follows the +: write // +" + name
	case !hasPlus:
		return "", ""
	}
	known := [][]string{{"kubebuilder"}, markerWords, validationWords, validationWords}
	for i, word := range words[:min(len(words), len(known))] {
		if i == 2 && words[1] != "validation" || i == 3 && words[2] != "items" {
			break
		}
		if near := spell.Nearest(word, known[i]); near != "" && !slices.Contains(known[i], word) {
			return name, "unknown marker " + name + ": did you mean " + near + " for " + word + "?"
		}
	}
	return name, ""
}
