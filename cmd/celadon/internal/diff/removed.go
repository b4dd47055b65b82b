package diff

import (
	"context"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/types"
)

// A Removed is a use of a version of a built-in kind that Kubernetes no longer serves after an upgrade: an object,
// or a rule of a policy or webhook, which then matches nothing.
type Removed struct {
	File       string `json:"file"`
	Line       int    `json:"line"`
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespace  string `json:"namespace,omitempty"`
	Name       string `json:"name"`
	Field      string `json:"field"`
	Message    string `json:"message"`
}

// A removal determines which versions an upgrade removes.
type removal struct {
	server   builtins.Server
	from, to int // minor versions
}

// readRemoved finds the uses of versions that the upgrade of Kubernetes removes, at and below paths. It also counts
// the objects of built-in kinds.
func (s *sides) readRemoved(ctx context.Context, streams command.Streams, o *Options, paths []string) error {
	from, err1 := types.ParseVersion(o.KubeVersion)
	to, err2 := types.ParseVersion(o.ToKubeVersion)
	if err1 != nil || err2 != nil {
		return nil // check has validated them
	}
	r := &removal{builtins.Alone(), from.Minor, to.Minor}
	filter := resource.NewFilter(paths)
	type one struct {
		builtin bool
		removed []*Removed
	}
	read := func(doc *input.Document) one {
		if doc.Err != nil || filter.Ignores(doc) {
			return one{}
		}
		id := doc.Identity()
		kind := schema.FromAPIVersionAndKind(id.APIVersion, id.Kind)
		_, served := r.server.Resource(kind)
		served = served && id.Kind != resource.Kind // which diff compares
		removed := r.inRules(doc)
		if message := r.of(kind); message != "" {
			message = fmt.Sprintf("no matches for kind %q in version %q%s", kind.Kind, id.APIVersion, message)
			removed = append(removed, newRemoved(doc, "apiVersion", message))
		}
		return one{served || len(removed) > 0, removed}
	}
	return batch.From(batch.Files(streams.Stdin, paths), read, func(o one) error {
		if o.builtin {
			s.builtins++
		}
		s.removed = append(s.removed, o.removed...)
		return nil
	}).Run(ctx)
}

func newRemoved(doc *input.Document, field, message string) *Removed {
	id := doc.Identity()
	line := doc.Line
	if at := doc.Locate([]string{field})[0]; at.Line > 0 {
		line = at.Line
	}
	return &Removed{doc.File, line, id.APIVersion, id.Kind, id.Namespace, id.Name, field, message}
}

// of returns why the upgrade removes a kind, or "" if it does not.
func (r *removal) of(kind schema.GroupVersionKind) string {
	if kind.Kind == "" || r.server.Absent(kind, r.from) != nil {
		return ""
	}
	if absence := r.server.Absent(kind, r.to); absence != nil {
		return absence.Hint
	}
	return ""
}

// inRules finds the rules of a policy, a binding, or a webhook configuration that lose all their versions.
func (r *removal) inRules(doc *input.Document) (removed []*Removed) {
	if doc.Identity().GroupKind().Group != "admissionregistration.k8s.io" {
		return nil
	}
	rules := func(field string, list []any) {
		for i, item := range list {
			rule, _ := item.(map[string]any)
			if message := r.inRule(rule); message != "" {
				at := fmt.Sprintf("%s[%d].apiVersions", field, i)
				removed = append(removed, newRemoved(doc, at, "the rule matches nothing: "+message))
			}
		}
	}
	for _, of := range []string{"matchConstraints", "matchResources"} {
		list, _, _ := unstructured.NestedSlice(doc.Object, "spec", of, "resourceRules")
		rules("spec."+of+".resourceRules", list)
	}
	webhooks, _ := doc.Object["webhooks"].([]any)
	for i, item := range webhooks {
		webhook, _ := item.(map[string]any)
		list, _ := webhook["rules"].([]any)
		rules(fmt.Sprintf("webhooks[%d].rules", i), list)
	}
	return removed
}

// inRule returns why a rule matches nothing after the upgrade, or "".
func (r *removal) inRule(rule map[string]any) (message string) {
	texts := func(field string) []string {
		list, _, _ := unstructured.NestedStringSlice(rule, field)
		return list
	}
	for _, group := range texts("apiGroups") {
		for _, name := range texts("resources") {
			name, _, _ = strings.Cut(name, "/")
			kind := builtins.KindOf(schema.GroupResource{Group: group, Resource: name})
			for _, version := range texts("apiVersions") {
				gv := schema.GroupVersion{Group: group, Version: version}
				hint := r.of(gv.WithKind(kind))
				if hint == "" {
					return ""
				}
				message = fmt.Sprintf("%s has no %s%s", gv, name, hint)
			}
		}
	}
	return message
}

func (r *Removed) title() string {
	name := r.Name
	if r.Namespace != "" {
		name = r.Namespace + "/" + name
	}
	return fmt.Sprintf("%s %s", r.Kind, name)
}

func (r *Removed) location() finding.Location {
	return finding.Location{File: r.File, Line: r.Line, Field: r.Field}
}

func (r *Removed) finding() finding.Finding {
	title := string(untrusted.Line(r.title()))
	return finding.Finding{
		ID: "removed-version", Description: "A version of a built-in kind is no longer served", Level: "error", Title: title,
		Message: title + ": " + string(untrusted.Line(r.Message)), At: r.location(),
		Subject: []string{r.File, r.title(), r.Field},
	}
}
