package schema

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/minors"
)

// formatNames holds the formats of strings, without hyphens, with the versions whose schemas can use
// them. See k8s.io/apiextensions-apiserver/pkg/apiserver/validation/formats.go.
var formatNames = map[string]minors.Range{
	"bsonobjectid": {}, "uri": {}, "email": {}, "hostname": {}, "ipv4": {}, "ipv6": {}, "cidr": {}, "mac": {},
	"uuid": {}, "uuid3": {}, "uuid4": {}, "uuid5": {}, "isbn": {}, "isbn10": {}, "isbn13": {}, "creditcard": {}, "ssn": {},
	"hexcolor": {}, "rgbcolor": {}, "byte": {}, "password": {}, "date": {}, "duration": {}, "datetime": {},
	"k8sshortname": minors.Since(34), "k8slongname": minors.Since(34),
}

func (s server) checksFormat(format string, types []string) bool {
	valueType := ""
	if s.has(formatsByType) && len(types) == 1 {
		valueType = types[0]
	}
	return KnowsFormat(int(s), format, valueType)
}

// KnowsFormat reports whether the API server of Kubernetes 1.minor checks a format of values of a type, or of strings
// if valueType is empty. For strings, it uses the formats of the minor before its own, so that it can be rolled back.
func KnowsFormat(minor int, format, valueType string) bool {
	switch valueType {
	case "", "string":
		versions, ok := formatNames[strings.ReplaceAll(format, "-", "")]
		return ok && versions.Include(minor-1)
	case "integer":
		return format == "int32" || format == "int64"
	case "number":
		return format == "float" || format == "double"
	}
	return false
}
