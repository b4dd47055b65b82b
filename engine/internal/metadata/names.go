package metadata

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// The forms of names, as in k8s.io/apimachinery/pkg/util/validation.
const (
	maxName   = 63
	nameForm  = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
	nameText  = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
	valueForm = "(" + nameForm + ")?"
	valueText = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
)

var (
	namePattern  = regexp.MustCompile("^" + nameForm + "$")
	valuePattern = regexp.MustCompile("^" + valueForm + "$")
)

// QualifiedName returns the reasons why value is not a qualified name such as "app" or
// "example.com/app".
func (v Validator) QualifiedName(value string) (reasons []string) {
	const part = "name part "
	name := value
	switch prefix, rest, prefixed := strings.Cut(value, "/"); {
	case strings.Contains(rest, "/"):
		form := validation.RegexError(nameText, nameForm, "MyName", "my.name", "123-abc")
		return []string{fmt.Sprintf(qualifiedName.For(v.minor), form) + " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"}
	case prefixed:
		reasons, name = v.prefix(prefix), rest
	}
	switch {
	case name == "":
		reasons = append(reasons, part+validation.EmptyError())
	case len(name) > maxName:
		reasons = append(reasons, part+fmt.Sprintf(qualifiedNameLength.For(v.minor), maxName))
	}
	if !namePattern.MatchString(name) {
		reasons = append(reasons, part+validation.RegexError(nameText, nameForm, "MyName", "my.name", "123-abc"))
	}
	return reasons
}

func (v Validator) prefix(prefix string) (reasons []string) {
	if prefix == "" {
		return []string{"prefix part " + validation.EmptyError()}
	}
	tooLong := validation.MaxLenError(validation.DNS1123SubdomainMaxLength)
	for _, reason := range validation.IsDNS1123Subdomain(prefix) {
		if reason == tooLong {
			reason = fmt.Sprintf(qualifiedNameLength.For(v.minor), validation.DNS1123SubdomainMaxLength)
		}
		reasons = append(reasons, "prefix part "+reason)
	}
	return reasons
}

func (v Validator) labelValue(value string) (reasons []string) {
	if len(value) > maxName {
		reasons = append(reasons, fmt.Sprintf(qualifiedNameLength.For(v.minor), maxName))
	}
	if !valuePattern.MatchString(value) {
		reasons = append(reasons, validation.RegexError(valueText, valueForm, "MyValue", "my_value", "12345"))
	}
	return reasons
}

// PathSegment checks a name, or the prefix of one, like the server does for all resources: it must be
// a single segment of a URL. See k8s.io/apimachinery/pkg/api/validate/content/path.go.
func PathSegment(name string, prefix bool) (reasons []string) {
	if !prefix && (name == "." || name == "..") {
		return []string{"may not be '" + name + "'"}
	}
	for _, separator := range []string{"/", "%"} {
		if strings.Contains(name, separator) {
			reasons = append(reasons, "may not contain '"+separator+"'")
		}
	}
	return reasons
}
