package admission

import (
	"maps"
	"reflect"
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

// maxPatch is how many bytes the paths and the values of a patch may take. An
// object of the API server's size can ask for far more: a million list items that
// each lack a default, below names of a megabyte.
const maxPatch = 1 << 20

// additions are what defaulted has and the object has not. What pruning took
// away stays: a patch never loses data. It is false when they are too many.
func additions(o object, defaulted map[string]any) ([]operation, bool) {
	p := &patch{room: maxPatch}
	for _, name := range slices.Sorted(maps.Keys(defaulted)) {
		if o.skip[name] || o.onlyStatus && name != statusSubresource {
			continue
		}
		p.field(name, o.fields, defaulted[name])
	}
	return p.ops, p.room >= 0
}

type patch struct {
	ops []operation
	// at is where the walk is; room is what is left of maxPatch.
	at   []string
	room int
}

// field compares one field of a map with its defaulted form. A null where a
// default stands is one that the schema does not allow.
func (p *patch) field(name string, fields map[string]any, defaulted any) {
	own := fields[name]
	if defaulted == nil || isSameValue(own, defaulted) {
		return
	}
	p.at = append(p.at, name)
	if own != nil {
		p.value(own, defaulted)
	} else {
		p.emit("add", defaulted)
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
			p.field(name, own, defaulted[name])
		}
	case []any:
		own, ok := own.([]any)
		if !ok || len(own) != len(defaulted) {
			return
		}
		for i := range own {
			p.item(i, own[i], defaulted[i])
		}
	}
}

// item compares one item of a list; "add" would move the items behind it.
func (p *patch) item(i int, own, defaulted any) {
	if defaulted == nil || isSameValue(own, defaulted) {
		return
	}
	p.at = append(p.at, strconv.Itoa(i))
	if own != nil {
		p.value(own, defaulted)
	} else {
		p.emit("replace", defaulted)
	}
	p.at = p.at[:len(p.at)-1]
}

// emit adds an operation at the place where the walk is, if there is room.
func (p *patch) emit(op string, value any) {
	if p.room < 0 {
		return
	}
	for _, name := range p.at {
		p.room -= len("/") + len(name)
	}
	p.spend(value)
	if p.room < 0 {
		return
	}
	var path strings.Builder
	for _, name := range p.at {
		path.WriteByte('/')
		path.WriteString(pointer.Replace(name))
	}
	p.ops = append(p.ops, operation{op, path.String(), value})
}

// spend takes what a value needs of the room, and stops when there is none.
func (p *patch) spend(value any) {
	switch value := value.(type) {
	case map[string]any:
		for name, field := range value {
			if p.room -= len(name); p.room < 0 {
				return
			}
			p.spend(field)
		}
	case []any:
		for _, item := range value {
			if p.room--; p.room < 0 {
				return
			}
			p.spend(item)
		}
	case string:
		p.room -= len(value)
	}
}

var pointer = strings.NewReplacer("~", "~0", "/", "~1")

// isSameValue is true of a map or a list that defaulting gave back as it was; there is
// nothing to compare in it.
func isSameValue(own, defaulted any) bool {
	switch defaulted := defaulted.(type) {
	case map[string]any:
		own, ok := own.(map[string]any)
		return ok && reflect.ValueOf(own).UnsafePointer() == reflect.ValueOf(defaulted).UnsafePointer()
	case []any:
		own, ok := own.([]any)
		return ok && len(own) == len(defaulted) && (len(own) == 0 || &own[0] == &defaulted[0])
	}
	return own == nil && defaulted == nil
}
