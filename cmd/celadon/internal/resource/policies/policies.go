// Package policies reads admission policies, and everything that they refer to, from files.
package policies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Kind is the kind of validating policies.
const Kind = policyrequest.Kind

// ErrNoPolicy reports paths without a policy or a webhook.
var ErrNoPolicy = errors.New("no admission policy")

var errNoBinding = errors.New("the policy has no effect because it has no binding: add one")

// Policies is the set of policies in the files, with the documents that could not be used.
type Policies struct {
	Set *policy.Set
	// Problems holds the errors of documents that cannot be read or compiled.
	Problems []error
	// Unbound lists the policies that have no binding, not even an invalid one.
	Unbound []error

	documents []*input.Document
	invalid   map[int]bool               // by index in documents
	named     map[string]*input.Document // the first of each kind and name
}

// problemAt omits all lines of err but the first, because they repeat the expression.
func problemAt(location string, err error) error {
	first, _, _ := strings.Cut(err.Error(), "\n")
	return errors.New(location + ": " + first)
}

// Read reads and compiles the policies at and below paths. Invalid documents are Problems. Below folders,
// documents that can be parsed but are not objects are ignored.
func Read(ctx context.Context, stdin io.Reader, paths []string, from input.Selection, cfg policy.Config) (*Policies, error) {
	var docs []*input.Document
	err := batch.Each(ctx, batch.Selected(from, stdin, paths), func(doc *input.Document) error {
		docs = append(docs, doc)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return FromDocuments(docs, paths, cfg)
}

// FromDocuments is like Read for documents that were read from paths.
func FromDocuments(docs []*input.Document, paths []string, cfg policy.Config) (*Policies, error) {
	p := &Policies{}
	for _, doc := range docs {
		var syntax *input.SyntaxError
		broken := errors.As(doc.Err, &syntax) // never ignored: a file that is written only in part would switch its policies off
		switch {
		case !broken && !slices.Contains(paths, doc.File) && resource.NoObject(doc) != "":
		case doc.Err != nil:
			p.Problems = append(p.Problems, problemAt(doc.Location(), doc.Err))
		default:
			p.documents = append(p.documents, doc)
		}
	}
	return p, p.compile(paths, cfg)
}

func (p *Policies) compile(paths []string, cfg policy.Config) error {
	set, err := policy.Compile(p.Documents(), cfg)
	var invalid *policy.CompileErrors
	if err != nil && !errors.As(err, &invalid) {
		return err
	}
	p.Set, p.named, p.invalid = set, map[string]*input.Document{}, map[int]bool{}
	for _, doc := range slices.Backward(p.documents) {
		id := doc.Identity()
		p.named[id.Kind+"/"+id.Name] = doc
	}
	if invalid != nil {
		for i, e := range invalid.Errors {
			doc := p.documents[e.Document]
			p.invalid[e.Document] = true
			at := location(doc, e.Path)
			if inside, ok := doc.Inside(e.Path, e.Offset); ok && !e.Dropped {
				at = fmt.Sprintf("%s:%d:%d", doc.File, inside.Line, inside.Column)
			}
			problem := problemAt(at, e)
			if !e.Dropped && i < maxHints {
				if text := hintOn(doc, e, set.KubeVersion()); text != "" {
					problem = fmt.Errorf("%w: %s", problem, text)
				}
			}
			p.Problems = append(p.Problems, problem)
		}
	}
	for _, info := range set.Policies() {
		if len(info.Bindings) == 0 && !info.Rejected {
			p.Unbound = append(p.Unbound, problemAt(p.Locate(info.Kind, info.Name, ""), errNoBinding))
		}
	}
	if len(set.Policies())+set.Webhooks()+len(p.Problems) == 0 {
		return fmt.Errorf("%w in %s", ErrNoPolicy, strings.Join(paths, ", "))
	}
	return nil
}

// Unserved returns notes about the policies, bindings, and webhook configurations that are evaluated although
// servers of a minor do not serve their version.
func (p *Policies) Unserved(server policyrequest.Server, minor int) (notes []error) {
	for i, doc := range p.documents {
		id := doc.Identity()
		kind := schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)
		if kind.Group != admissionregistrationv1.GroupName || p.invalid[i] {
			continue
		}
		if a := server.Absent(kind, minor); a != nil {
			err := fmt.Errorf("evaluated, but no server of Kubernetes 1.%d serves %s %s%s", minor, id.APIVersion, id.Kind, a.Hint)
			notes = append(notes, problemAt(doc.Location(), err))
		}
	}
	return notes
}

// Misspelled returns notes about probably misspelled resources in the resourceRules of policies. It checks only
// rules with a single group. nearest returns the resource of a group that a name probably means, or "". If nearest
// is nil, there are no notes.
func (p *Policies) Misspelled(nearest func(group, resource string) string) (notes []error) {
	if nearest == nil {
		return nil
	}
	for i, doc := range p.documents {
		rules, _, _ := unstructured.NestedSlice(doc.Object, "spec", "matchConstraints", "resourceRules")
		if p.invalid[i] || doc.Identity().GroupKind().Group != admissionregistrationv1.GroupName {
			continue
		}
		for j, rule := range rules {
			fields, _ := rule.(map[string]any)
			groups, _, _ := unstructured.NestedStringSlice(fields, "apiGroups")
			resources, _, _ := unstructured.NestedStringSlice(fields, "resources")
			if len(groups) != 1 {
				continue
			}
			for k, name := range resources {
				name, _, _ := strings.Cut(name, "/")
				if near := nearest(groups[0], name); near != "" {
					path := fmt.Sprintf("spec.matchConstraints.resourceRules[%d].resources[%d]", j, k)
					notes = append(notes, problemAt(location(doc, path), fmt.Errorf("no resource %s exists, so it matches nothing: did you mean %s?", name, near)))
				}
			}
		}
	}
	return notes
}

// Locate returns the file and line of a field, such as "spec.validations[0].expression", in the first document of this
// kind and name. It returns the document's location if the field is not found, and "" without a matching document.
func (p *Policies) Locate(kind, name, path string) string {
	if doc := p.named[kind+"/"+name]; doc != nil {
		return location(doc, path)
	}
	return ""
}

// Position is like Locate. line is 0 without a matching document.
func (p *Policies) Position(kind, name, path string) (file string, line int) {
	doc := p.named[kind+"/"+name]
	if doc == nil {
		return "", 0
	}
	return doc.File, cmp.Or(doc.Locate([]string{path})[0].Line, doc.Line)
}

// Validation returns the validation of a policy with the given index, or if the index is -1, the matchCondition with
// the given name. Without such an item, it returns at most the position of the policy.
func (p *Policies) Validation(policy string, index int, condition string) policyrequest.Validation {
	return p.expression(Kind, "validations", policy, index, condition)
}

// Mutation is like Validation, for a mutation of a MutatingAdmissionPolicy.
func (p *Policies) Mutation(policy string, index int, condition string) policyrequest.Validation {
	return p.expression("MutatingAdmissionPolicy", "mutations", policy, index, condition)
}

func (p *Policies) expression(kind, list, policy string, index int, condition string) policyrequest.Validation {
	doc := p.named[kind+"/"+policy]
	if doc == nil {
		return policyrequest.Validation{}
	}
	v := policyrequest.Validation{File: doc.File, Line: doc.Line}
	field, expression := expressionIn(doc.Object["spec"], "spec", list, index, condition)
	if field == "" {
		return v
	}
	v.Expression, v.Line = expression, cmp.Or(doc.Locate([]string{field})[0].Line, doc.Line)
	v.Inside = inside(doc, field)
	return v
}

// Webhook returns the matchCondition of a webhook with a name, or without a name, the position of the webhook.
func (p *Policies) Webhook(kind, configuration, name, condition string) (v policyrequest.Validation) {
	doc := p.named[kind+"/"+configuration]
	if doc == nil {
		return v
	}
	list, _ := doc.Object["webhooks"].([]any)
	for i, item := range list {
		one, _ := item.(map[string]any)
		if one["name"] != name {
			continue
		}
		path := fmt.Sprintf("webhooks[%d]", i)
		if condition != "" {
			if field, expression := expressionIn(one, path, "", -1, condition); field != "" {
				path, v.Expression = field, expression
				v.Inside = inside(doc, field)
			}
		}
		v.File, v.Line = doc.File, cmp.Or(doc.Locate([]string{path})[0].Line, doc.Line)
		return v
	}
	return v
}

// inside returns Validation.Inside for the expression in a field.
func inside(doc *input.Document, field string) func(offset int) (line, column int) {
	return func(offset int) (int, int) {
		at, _ := doc.Inside(field, offset)
		return at.Line, at.Column
	}
}

// expressionIn returns the path and the expression of an item of a list, or if index is -1, of the matchCondition
// with the given name. Both are "" without such an item.
func expressionIn(v any, path, list string, index int, condition string) (field, expression string) {
	if index < 0 {
		list = "matchConditions"
	}
	fields, _ := v.(map[string]any)
	items, _ := fields[list].([]any)
	for i, item := range items {
		one, _ := item.(map[string]any)
		if i != index && (index >= 0 || condition == "" || one["name"] != condition) {
			continue
		}
		field = fmt.Sprintf("%s.%s[%d].", path, list, i)
		for _, patch := range []string{"applyConfiguration", "jsonPatch"} {
			if of, ok := one[patch].(map[string]any); ok {
				one, field = of, field+patch+"."
			}
		}
		expression, _ = one["expression"].(string)
		return field + "expression", expression
	}
	return "", ""
}

// Documents returns the documents from which Set was compiled. They are read-only.
func (p *Policies) Documents() []map[string]any {
	objects := make([]map[string]any, len(p.documents))
	for i, doc := range p.documents {
		objects[i] = doc.Object
	}
	return objects
}

// Hash writes the contents of Documents to w.
func (p *Policies) Hash(w io.Writer) {
	for _, doc := range p.documents {
		data, err := doc.JSON()
		fmt.Fprintf(w, "%d %v\n%s\n", len(data), err, data)
	}
}

func location(doc *input.Document, path string) string {
	if path == "" {
		return doc.Location()
	}
	if at := doc.Locate([]string{path})[0]; at.Line > 0 {
		return fmt.Sprintf("%s:%d", doc.File, at.Line)
	}
	return doc.Location()
}
