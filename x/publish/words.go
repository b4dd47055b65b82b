package publish

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// About returns the names and the scope of the CRD's resource.
func (p *Page) About() []Fact {
	n := &p.CRD.Spec.Names
	scope := "one namespace each"
	if p.CRD.Spec.Scope == apiextensionsv1.ClusterScoped {
		scope = "the whole cluster"
	}
	all := []Fact{{"Group", p.CRD.Spec.Group}, {"Kind", n.Kind}, {"Resource", n.Plural + ", " + singular(n)}}
	if len(n.ShortNames) > 0 {
		all = append(all, Fact{"Short names", strings.Join(n.ShortNames, ", ")})
	}
	if len(n.Categories) > 0 {
		all = append(all, Fact{"Categories", strings.Join(n.Categories, ", ")})
	}
	return append(all, Fact{"Objects are in", scope})
}

// Lifecycle returns whether the version is served, stored, and deprecated, in words.
func (v *Version) Lifecycle() string {
	words := []string{"not served"}
	if v.Served {
		words[0] = "served"
	}
	if v.Storage {
		words = append(words, "stored")
	}
	switch {
	case v.Deprecated && v.DeprecationWarning != nil:
		words = append(words, "deprecated: "+*v.DeprecationWarning)
	case v.Deprecated:
		words = append(words, "deprecated")
	}
	return strings.Join(words, ", ")
}

// Extras returns the version's settings outside its schema.
func (v *Version) Extras() (all []Fact) {
	if sub := v.Subresources; sub != nil {
		var names []string
		if sub.Status != nil {
			names = append(names, "status")
		}
		if sub.Scale != nil {
			names = append(names, fmt.Sprintf("scale (%s, %s)", sub.Scale.SpecReplicasPath, sub.Scale.StatusReplicasPath))
		}
		if len(names) > 0 {
			all = append(all, Fact{"Subresources", strings.Join(names, ", ")})
		}
	}
	var fields, columns []string
	for _, f := range v.SelectableFields {
		fields = append(fields, strings.TrimPrefix(f.JSONPath, "."))
	}
	for _, c := range v.AdditionalPrinterColumns {
		columns = append(columns, fmt.Sprintf("%s (%s)", c.Name, c.JSONPath))
	}
	if len(fields) > 0 {
		all = append(all, Fact{"Selectable fields", strings.Join(fields, ", ")})
	}
	if len(columns) > 0 {
		all = append(all, Fact{"Columns of kubectl get", strings.Join(columns, ", ")})
	}
	return all
}

// Accepted returns the sentence that precedes an example.
func (Example) Accepted() string { return "The API server accepts this object." }

// Note returns the sentence that follows an example with passwords, or "".
func (x Example) Note() string {
	if len(x.MadeUp) == 0 {
		return ""
	}
	return "Placeholders, because the format is password: " + strings.Join(x.MadeUp, ", ") + "."
}
