package compare

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A Verdict is the result for a CRD or a write in a form that can be compared: for each aspect the
// lines that describe it, sorted.
type Verdict map[string][]string

// The aspects of verdicts. A CRD's verdict can have crdError, warning, and rule. A write's verdict can
// have code, cause, warning, unknown, runCost, and persisted. If the libraries panic or cannot decode
// the input, a verdict has only panics or unreadable.
const (
	panics     = "panic"
	crdError   = "error"
	rule       = "rule"
	warning    = "warning"
	unreadable = "unreadable"
	code       = "code"
	cause      = "cause"
	unknown    = "unknown field"
	runCost    = "cost"
	persisted  = "persisted"
)

func (v Verdict) add(aspect, line string) { v[aspect] = append(v[aspect], withoutChance(line)) }

func (v Verdict) sorted() Verdict {
	for _, lines := range v {
		slices.Sort(lines)
	}
	return v
}

var (
	// selfType matches the name of self's type, which contains the time of the compilation.
	selfType = regexp.MustCompile(`selfType\d*`)
	// address matches an address of the server's memory.
	address = regexp.MustCompile(`\(0x[0-9a-f]{8,}\)`)
)

// totalDetail ends the error of a rule that contributes to an exceeded total. Among rules of equal
// cost, the server names random ones.
const totalDetail = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"

func withoutChance(line string) string {
	if strings.HasSuffix(line, totalDetail) {
		return totalDetail
	}
	return address.ReplaceAllString(selfType.ReplaceAllString(line, "selfType"), "(0xc000000000)")
}

func errorLine(typ, path, message string) string { return fmt.Sprintf("%s %s: %s", path, typ, message) }

type ruleLine struct {
	version, path                   string
	index                           int
	estimate, times, total, message uint64
	broken                          bool
}

func (r ruleLine) String() string {
	at := fmt.Sprintf("%s %s[%d]: ", r.version, r.path, r.index)
	switch {
	case r.broken && r.estimate == 0:
		return at + "broken"
	case r.broken:
		return at + fmt.Sprintf("%d * %d = %d, broken message", r.estimate, r.times, r.total)
	}
	return at + fmt.Sprintf("%d * %d = %d, message %d", r.estimate, r.times, r.total, r.message)
}

// serverMetadata lists the fields of metadata that only a server can set, and selfLink, which its
// storage removes.
var serverMetadata = []string{"uid", "creationTimestamp", "resourceVersion", "generation", "managedFields", "selfLink"}

func objectLine(obj map[string]any) (string, error) {
	kept := make(map[string]any, len(obj))
	for name, value := range obj {
		kept[name] = value
	}
	if metadata, ok := obj["metadata"].(map[string]any); ok {
		own := map[string]any{}
		for name, value := range metadata {
			if !slices.Contains(serverMetadata, name) {
				own[name] = value
			}
		}
		kept["metadata"] = own
	}
	data, err := json.Marshal(kept)
	return string(data), err
}

// compiles reports whether a ruleLine describes a rule that compiles, with its message.
func compiles(line string) bool { return !strings.Contains(line, "broken") }
