package assist

import "strings"

// kind is a class of types for which the same fixes apply.
type kind string

const (
	kindBool     kind = "a condition"
	kindInt      kind = "an integer"
	kindDouble   kind = "a number"
	kindString   kind = "a string"
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
	kindSemver   kind = "a version"
	kindIP       kind = "an IP address"
	kindCIDR     kind = "a CIDR"
	kindURL      kind = "a URL"
	kindObject   kind = "an object"
)

var kinds = map[string]kind{
	"bool": kindBool, "int": kindInt, "uint": kindInt, "double": kindDouble, "string": kindString, "bytes": kindBytes,
	"null": kindNull, "null_type": kindNull, "timestamp": kindTime, "google.protobuf.Timestamp": kindTime,
	"duration": kindDuration, "google.protobuf.Duration": kindDuration, "dyn": kindAny, "any": kindAny,
	"list": kindList, "map": kindMap, "optional_type": kindOptional, "type": kindType, "kubernetes.Quantity": kindQuantity,
	"kubernetes.Semver": kindSemver, "net.IP": kindIP, "net.CIDR": kindCIDR, "kubernetes.URL": kindURL,
}

// constructors maps kinds to the functions that make them from strings.
var constructors = map[kind]string{
	kindTime: "timestamp", kindDuration: "duration", kindQuantity: "quantity", kindSemver: "semver", kindIP: "ip", kindCIDR: "cidr", kindURL: "url",
}

// byMethod reports whether values of kind k are ordered by methods instead of operators.
func (k kind) byMethod() bool { return k == kindQuantity || k == kindSemver }

// isMade reports whether only functions make values of kind k, so that no value of an object is one.
func (k kind) isMade() bool { return constructors[k] != "" && k != kindTime && k != kindDuration }

// kindOf returns the kind of a type in cel-go's notation, such as list(string), optional_type(int),
// or a dotted name for an object. Unknown names are objects, because most types are.
func kindOf(text string) kind {
	head, _, _ := strings.Cut(strings.TrimSpace(text), "(")
	if k, ok := kinds[head]; ok {
		return k
	}
	return kindObject
}

// within returns the element type of a list or an optional: int for list(int).
func within(text string) string {
	_, inner, ok := strings.Cut(text, "(")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(inner, ")")
}

// splitTypes splits text at the commas outside parentheses.
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
