package assist

import "strings"

// kind is a type as far as a mend depends on it.
type kind string

const (
	kindBool     kind = "a condition"
	kindInt      kind = "an integer"
	kindDouble   kind = "a number"
	kindString   kind = "a text"
	kindBytes    kind = "bytes"
	kindNull     kind = "null"
	kindTime     kind = "a date-time"
	kindDuration kind = "a duration"
	kindList     kind = "a list"
	kindMap      kind = "a map"
	kindOptional kind = "an optional"
	kindType     kind = "a type"
	kindAny      kind = "anything"
	kindQuantity kind = "a quantity"
	kindObject   kind = "an object"
)

var kinds = map[string]kind{
	"bool": kindBool, "int": kindInt, "uint": kindInt, "double": kindDouble, "string": kindString, "bytes": kindBytes,
	"null": kindNull, "null_type": kindNull, "timestamp": kindTime, "google.protobuf.Timestamp": kindTime,
	"duration": kindDuration, "google.protobuf.Duration": kindDuration, "dyn": kindAny, "any": kindAny,
	"list": kindList, "map": kindMap, "optional_type": kindOptional, "type": kindType, "kubernetes.Quantity": kindQuantity,
}

// kindOf reads a type as cel-go writes it: list(string), optional_type(int), a
// dotted name for an object's. What it does not know is an object, as most are.
func kindOf(text string) kind {
	head, _, _ := strings.Cut(strings.TrimSpace(text), "(")
	if k, ok := kinds[head]; ok {
		return k
	}
	return kindObject
}

// within is what a list or an optional holds: int of list(int).
func within(text string) string {
	_, inner, ok := strings.Cut(text, "(")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(inner, ")")
}

// splitTypes splits at the commas that stand in no brackets.
func splitTypes(text string) []string {
	var out []string
	depth, start := 0, 0
	for i, r := range text {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				out = append(out, strings.TrimSpace(text[start:i]))
				start = i + 1
			}
		}
	}
	return append(out, strings.TrimSpace(text[start:]))
}
