package admission

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// operation is one of RFC 6902; "add" also replaces what is there.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// object is what a patch is for.
type object struct {
	fields     map[string]any
	skip       map[string]bool
	onlyStatus bool
}

// additions are what defaulted has and the object has not. What pruning took
// away stays: a patch never loses data.
func additions(o object, defaulted map[string]any) []operation {
	p := &patch{}
	for _, name := range slices.Sorted(maps.Keys(defaulted)) {
		if o.skip[name] || o.onlyStatus && name != statusSubresource {
			continue
		}
		p.field("", name, o.fields, defaulted[name])
	}
	return p.ops
}

type patch struct{ ops []operation }

// field compares one field of a map with its defaulted form. A null where a
// default stands is one that the schema does not allow.
func (p *patch) field(at, name string, fields map[string]any, defaulted any) {
	if defaulted == nil {
		return
	}
	path := at + "/" + pointer.Replace(name)
	if own := fields[name]; own != nil {
		p.value(path, own, defaulted)
		return
	}
	p.ops = append(p.ops, operation{"add", path, defaulted})
}

func (p *patch) value(at string, own, defaulted any) {
	switch defaulted := defaulted.(type) {
	case map[string]any:
		own, ok := own.(map[string]any)
		if !ok {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(defaulted)) {
			p.field(at, name, own, defaulted[name])
		}
	case []any:
		own, ok := own.([]any)
		if !ok || len(own) != len(defaulted) {
			return
		}
		for i := range own {
			p.item(at, i, own[i], defaulted[i])
		}
	}
}

// item compares one item of a list; "add" would move the items behind it.
func (p *patch) item(at string, i int, own, defaulted any) {
	path := at + "/" + strconv.Itoa(i)
	if own != nil {
		p.value(path, own, defaulted)
	} else if defaulted != nil {
		p.ops = append(p.ops, operation{"replace", path, defaulted})
	}
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")
