package notation

import "strings"

// nameKinds maps the last word of a field's name to a kind. Words such as time, date, and address
// are not included: 09:00 and 2024-01-02 are ordered correctly as text, and an address can be an
// email address.
var nameKinds = map[string]Kind{
	"size": Quantity, "storage": Quantity, "memory": Quantity, "mem": Quantity, "cpu": Quantity, "capacity": Quantity,
	"limit": Quantity, "request": Quantity, "quota": Quantity, "bandwidth": Quantity,
	"version":  Version,
	"duration": Duration, "timeout": Duration, "interval": Duration, "period": Duration, "ttl": Duration, "delay": Duration,
	"timestamp": Timestamp,
	"ip":        Address,
	"cidr":      Range,
}

// OfName returns the kind that the last word of a field's name suggests, such as Quantity for maxSize or Version for
// kubernetes-version, or None.
func OfName(name string) Kind {
	word := lastWord(name)
	if k, ok := nameKinds[word]; ok {
		return k
	}
	if strings.HasSuffix(word, "ies") {
		return nameKinds[strings.TrimSuffix(word, "ies")+"y"]
	}
	return nameKinds[strings.TrimSuffix(word, "s")]
}

// lastWord supports camel case and separators, and returns lower case. IPs and CIDRs are single words.
func lastWord(name string) string {
	if i := strings.LastIndexAny(name, "._-/"); i >= 0 {
		name = name[i+1:]
	}
	upper := func(i int) bool { return name[i] >= 'A' && name[i] <= 'Z' }
	start := len(name)
	for start > 0 && !upper(start-1) {
		start--
	}
	if start == len(name) || len(name)-start <= 1 { // an abbreviation at the end, such as TTL or IPs
		for start > 0 && upper(start-1) {
			start--
		}
	} else if start > 0 {
		start--
	}
	return strings.ToLower(name[start:])
}
