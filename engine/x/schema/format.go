package schema

import (
	"net/netip"
	"regexp"
	"strings"
	"sync"

	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// registries holds the API server's formats. The shared registry has a lock, so each processor gets
// its own.
var registries = sync.Pool{New: func() any { return strfmt.NewFormats() }}

// formatOf returns a function that checks strings for a format, or nil if the format is not
// checked.
func formatOf(name string) func(string) bool {
	if name == "" || !strfmt.Default.ContainsName(name) {
		return nil
	}
	registered := func(s string) bool {
		r := registries.Get().(strfmt.Registry)
		defer registries.Put(r)
		return r.Validates(name, s)
	}
	switch strfmt.DefaultNameNormalizer(name) {
	case "datetime":
		return dateTime
	case "date":
		return strfmt.IsDate
	case "ipv4":
		return address(".", registered)
	case "ipv6":
		return address(":", registered)
	case "cidr":
		return cidr(registered)
	case "duration":
		return strfmt.IsDuration
	case "email":
		return strfmt.IsEmail
	case "hostname":
		return hostname
	case "uuid":
		return strfmt.IsUUID
	case "uuid3":
		return strfmt.IsUUID3
	case "uuid4":
		return strfmt.IsUUID4
	case "uuid5":
		return strfmt.IsUUID5
	case "k8sshortname":
		return strfmt.IsShortName
	case "k8slongname":
		return strfmt.IsLongName
	}
	return registered
}

// address returns a check for IP addresses that contain separator. It first parses with net/netip,
// which does not allocate, and falls back to otherwise. net/netip accepts nothing that the API
// server's parsers reject.
func address(separator string, otherwise func(string) bool) func(string) bool {
	return func(s string) bool {
		if a, err := netip.ParseAddr(s); err == nil && a.Zone() == "" {
			return strings.Contains(s, separator)
		}
		return otherwise(s)
	}
}

func cidr(otherwise func(string) bool) func(string) bool {
	return func(s string) bool {
		_, err := netip.ParsePrefix(s)
		return err == nil || otherwise(s)
	}
}

// dateTime reports whether s is a date-time. It accepts the most common form without allocating.
func dateTime(s string) bool {
	return usualDateTime(s) && strfmt.IsDate(s[:len("2006-01-02")]) || strfmt.IsDateTime(s)
}

// usualDateTime reports whether the part after the date is HH:MM:SS, an optional fraction, and Z.
func usualDateTime(s string) bool {
	const form = "0000-00-00T00:00:00"
	if len(s) <= len(form) || s[len(s)-1] != 'Z' {
		return false
	}
	for i := range len(form) {
		if digit := form[i] == '0'; digit != isDigit(s[i]) || !digit && s[i] != form[i] {
			return false
		}
	}
	if s[11:13] > "23" || s[14:16] > "59" || s[17:19] > "59" {
		return false
	}
	fraction := s[len(form) : len(s)-1]
	if fraction == "" {
		return true
	}
	return fraction[0] == '.' && len(fraction) > 1 && strings.Trim(fraction[1:], "0123456789") == ""
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

var hostnamePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(strfmt.HostnamePattern) })

// hostname reports whether s is a hostname, like the API server's check, but without allocating the
// labels.
func hostname(s string) bool {
	if len(s) > 255 || !hostnamePattern().MatchString(s) {
		return false
	}
	for rest, more := s, true; more; {
		var label string
		if label, rest, more = strings.Cut(rest, "."); len(label) > 63 {
			return false
		}
	}
	return true
}
