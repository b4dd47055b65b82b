package assist

import (
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/types"
)

const (
	maxDepthOfFields = 5
	maxFieldsSeen    = 5000
)

// fieldElsewhere returns the expression for the field with this name that is closest to self or oldSelf, or "" if it
// finds no field or several. of is the expression that does not have the field.
func (p *Context) fieldElsewhere(of, name string) string {
	if of != types.Self && !strings.HasPrefix(of, types.Self+".") && of != types.OldSelf && !strings.HasPrefix(of, types.OldSelf+".") {
		return ""
	}
	root, _, _ := strings.Cut(of, ".")
	if strings.HasSuffix(of, ".metadata") {
		return ""
	}
	type place struct {
		decl *types.Decl
		path string
	}
	level := []place{{p.Node.Decl, root}}
	seen := 0
	for depth := 0; depth < maxDepthOfFields && len(level) > 0; depth++ {
		var next []place
		found := ""
		for _, at := range level {
			if at.decl == nil {
				continue
			}
			for _, field := range at.decl.FieldNames() {
				if seen++; seen > maxFieldsSeen {
					return ""
				}
				one := at.decl.Fields[field]
				ident, ok := types.Escape(field)
				if !ok || one.Decl == nil || one.Decl.Kind == types.Hidden {
					continue
				}
				path := at.path + "." + ident
				if field == name && found != "" {
					return "" // ambiguous
				}
				if field == name {
					found = path
				}
				next = append(next, place{one.Decl, path})
			}
		}
		if found != "" {
			return found
		}
		level = next
	}
	return ""
}

// metadataFields lists fields of metadata that rules cannot read.
var metadataFields = []string{"annotations", "creationTimestamp", "deletionTimestamp", "finalizers", "generation", "labels", "managedFields", "namespace", "ownerReferences", "resourceVersion", "uid"}

const (
	onlyName      = "rules can read only metadata.name and metadata.generateName; use a ValidatingAdmissionPolicy for the rest"
	outsideOfSelf = "a rule sees only the value at its place and below: move it to the schema that has this field"
)

// hiddenField returns a hint for a field that exists in the object but not for the rule, or "".
func (f *fault) hiddenField(name string, i int) string {
	if f.at(i-1) != "." && f.at(i-1) != ".?" {
		return ""
	}
	if slices.Contains(metadataFields, name) && f.at(i-2) == "metadata" {
		seen := slices.Sorted(slices.Values(f.names(string(f.src[:f.tokens[i].Start]))))
		if slices.Equal(seen, []string{"generateName", "name"}) { // not a field that only has the name metadata
			return onlyName
		}
	}
	if f.at(i-2) != types.Self && f.at(i-2) != types.OldSelf {
		return ""
	}
	steps := f.context.around.steps
	if len(steps) == 0 {
		return ""
	}
	if steps[len(steps)-1].Name == name {
		return "self is already the value of " + name + ": leave it out"
	}
	if name == "metadata" || name == "spec" || name == "status" {
		return outsideOfSelf
	}
	return ""
}
