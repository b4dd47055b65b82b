package markers

import (
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

// jsonName returns the name of a field in objects, and whether the fields of its type are inlined.
// The name of a field that is not in objects is "-".
func jsonName(tag *ast.BasicLit, embedded bool) (name string, inline bool) {
	text := ""
	if tag != nil {
		text, _ = strconv.Unquote(tag.Value)
	}
	value, tagged := reflect.StructTag(text).Lookup("json")
	if value == "-" || !tagged && !embedded {
		return "-", false
	}
	name, options, _ := strings.Cut(value, ",")
	return name, name == "" || strings.Contains(","+options+",", ",inline,")
}

// packageMarkers reads the group and version markers of a package. They can be above the package
// clause or anywhere between declarations.
func (f *file) packageMarkers(tree *ast.File) {
	if f.pkg.name == "" {
		f.pkg.name = tree.Name.Name
	}
	for _, g := range tree.Comments {
		for _, c := range g.List {
			text := strings.TrimSpace(strings.TrimPrefix(c.Text, "//"))
			if v, ok := strings.CutPrefix(text, "+groupName="); ok {
				f.pkg.group = v
			}
			if v, ok := strings.CutPrefix(text, "+versionName="); ok {
				f.pkg.version = v
			}
		}
	}
}
