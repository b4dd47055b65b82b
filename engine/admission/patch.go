package admission

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// An operation is an operation of RFC 6902. The operation "add" also replaces an existing value.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

type object struct {
	fields     map[string]any
	skip       map[string]bool
	onlyStatus bool
}

// maxPatch limits the total size of paths and values in a patch, in bytes. An object within the API server's size
// limit can need far more: a million list items that each lack a default, below names of a megabyte.
const maxPatch = 1 << 20

// additions returns operations that add the values that defaulted has and o lacks. Fields that pruning removed are
// kept, so that a patch never loses data. It returns false if the patch would be too large.
func additions(o object, defaulted map[string]any) ([]operation, bool) {
	p := &patch{bytesLeft: maxPatch}
	for _, name := range slices.Sorted(maps.Keys(defaulted)) {
		if o.skip[name] || o.onlyStatus && name != statusSubresource {
			continue
		}
		p.compare(name, o.fields[name], defaulted[name], "add")
	}
	return p.ops, p.bytesLeft >= 0
}

type patch struct {
	ops       []operation
	at        []string
	bytesLeft int
}

// step is the name or index of own in its parent. op sets a value that is missing or null.
func (p *patch) compare(step string, own, defaulted any, op string) {
	if defaulted == nil {
		return
	}
	p.at = append(p.at, step)
	if own != nil {
		p.value(own, defaulted)
	} else {
		p.emit(op, defaulted)
	}
	p.at = p.at[:len(p.at)-1]
}

func (p *patch) value(own, defaulted any) {
	switch defaulted := defaulted.(type) {
	case map[string]any:
		own, ok := own.(map[string]any)
		if !ok {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(defaulted)) {
			p.compare(name, own[name], defaulted[name], "add")
		}
	case []any:
		own, ok := own.([]any)
		if !ok || len(own) != len(defaulted) {
			return
		}
		for i := range own {
			p.compare(strconv.Itoa(i), own[i], defaulted[i], "replace") // "add" would insert an item
		}
	}
}

func (p *patch) emit(op string, value any) {
	if p.bytesLeft < 0 {
		return
	}
	for _, name := range p.at {
		p.bytesLeft -= len("/") + len(name)
	}
	p.spend(value)
	if p.bytesLeft < 0 {
		return
	}
	var path strings.Builder
	for _, name := range p.at {
		path.WriteByte('/')
		path.WriteString(pointer.Replace(name))
	}
	p.ops = append(p.ops, operation{op, path.String(), value})
}

func (p *patch) spend(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if p.bytesLeft -= len(name); p.bytesLeft < 0 {
				return
			}
			p.spend(field)
		}
	case []any:
		for _, item := range value {
			if p.bytesLeft--; p.bytesLeft < 0 {
				return
			}
			p.spend(item)
		}
	case string:
		p.bytesLeft -= len(value)
	}
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")
