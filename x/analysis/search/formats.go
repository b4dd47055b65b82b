package search

import "strings"

// usual holds strings in common formats. They are tried if a function cannot be inverted, or if a
// pattern is too large for an automaton.
var usual = []string{
	"a", "b", "example", "example.com", "a.example.com", "x-1", "A", "1", "0", "-1", "1.5", "true", "", "*", "*.example.com", "/", "/a", "/a/b",
	"http://example.com", "https://example.com/a", "https://example.com:8443", "ftp://example.com", "https://user@example.com/a?b=c#d", "https://example.com/?a=b", "https://example.com/#a", "https://a@example.com",
	"10.0.0.1", "10.0.0.2", "192.168.1.1", "127.0.0.1", "224.0.0.1", "169.254.0.1", "0.0.0.0", "::1", "fd00::1", "2001:db8::1", "ff02::1", "fe80::1", "::",
	"10.0.0.0/8", "10.1.0.0/16", "192.168.0.0/24", "10.0.0.1/8", "fd00::/8", "2001:db8::/64", "0.0.0.0/0", "::/0", "10.0.0.0/30", "10.0.0.0/31", "10.0.0.1/32", "fd00::/126", "fd00::1/128", "fd00::/48",
	"1Gi", "2Gi", "100m", "0.5", "1k", "-1Gi", "1s", "1m", "5m", "1h", "24h", "0s", "-1s", "720h", "100ms",
	"2024-01-01", "2024-01-01T00:00:00Z", "2030-01-01T00:00:00Z", "1.2.3", "v1.2.3", "2.0.0", "a/b", "a:b", "a@b.example", "a=b", "a,b", "#", "a b", " ", "%", "[", "\n",
	"registry.example.com/a/b:v1", "registry.example.com/a@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "aGVsbG8=",
	"01234567-89ab-cdef-0123-456789abcdef", "arn:aws:iam::123456789012:role/a",
}

// formats maps a format, without - and _, to a pattern for valid and realistic strings.
var formats = map[string]string{
	"bsonobjectid": `^[0-9a-f]{24}$`,
	"uri":          `^https?://[a-z]+\.(example|com)(:8443)?(/[a-z0-9]*)?$`,
	"email":        `^[a-z]{1,8}@[a-z]{1,8}(\.[a-z]{1,8})*\.example$`,
	"hostname":     `^[a-z][a-z0-9]{0,15}(\.[a-z]{1,12})*\.?[a-z]$`,
	"ipv4":         `^(10|172|192|203|127)\.(0|16|168|255)\.[0-9]\.[0-9]$`,
	"ipv6":         `^((fd00|2001:db8|fe80)::[1-9a-f]{1,3}|2001:0db8(:[0-9a-f]{4}){6})$`,
	"cidr":         `^(10\.[0-9]\.0\.0/(16|24)|192\.168\.[0-9]\.0/24|fd0[0-9]::/(16|48|64)|0\.0\.0\.0/0|::/0|2001:0db8(:[0-9a-f]{4}){6}/128)$`,
	"mac":          `^02:00:00:00:0[0-9a-f]:0[0-9a-f]$`,
	"uuid":         `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`,
	"uuid3":        `^[0-9a-f]{8}-[0-9a-f]{4}-3[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`,
	"uuid4":        `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`,
	"uuid5":        `^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$`,
	"isbn":         `^(0321751043|9780321751041)$`,
	"isbn10":       `^0321751043$`,
	"isbn13":       `^(9780321751041|978-0321751041)$`,
	"creditcard":   `^(4111111111111111|5555555555554444)$`,
	"ssn":          `^[0-9]{3}-[0-9]{2}-[0-9]{4}$`,
	"hexcolor":     `^#[0-9a-f]{6}$`,
	"rgbcolor":     `^rgb\([1-9],[1-9],[1-9]\)$`,
	"byte":         `^([a-zA-Z0-9]{4})+$`,
	"date":         `^20[0-9]{2}-0[1-9]-1[0-9]$`,
	"duration":     `^([0-9]{1,4}(ms|s|m|h))+$`,
	"datetime":     `^20[0-9]{2}-0[1-9]-1[0-9]T0[0-9]:[0-5][0-9]:[0-5][0-9](\.[0-9]{1,9})?Z$`,
	"k8sshortname": `^[a-z][a-z0-9]{0,62}$`,
	"k8slongname":  `^[a-z][a-z0-9]{0,15}(\.[a-z]{1,8})*$`,
}

func formatPattern(format string) string {
	return formats[strings.ReplaceAll(strings.ReplaceAll(format, "-", ""), "_", "")]
}
