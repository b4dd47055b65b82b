package diff

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/types"
)

// KubeVersions are the verdicts of two Kubernetes versions on the same CRD.
type KubeVersions struct {
	From finding.KubeVersion `json:"from"`
	To   finding.KubeVersion `json:"to"`
	// Estimates lists rules whose estimated costs differ, highest new cost first.
	Estimates []Estimate `json:"estimates,omitempty"`
}

// An Estimate is the estimated cost of a rule for all its runs on an object, in CEL cost units.
type Estimate struct {
	Version string `json:"version"`
	Path    string `json:"path"`
	Index   int    `json:"index"`
	Rule    string `json:"rule"`
	From    uint64 `json:"from"`
	To      uint64 `json:"to"`
	Limit   uint64 `json:"limit"`
}

// upgrade returns nil if only one Kubernetes version is compared.
func (p *pair) upgrade(ctx context.Context, o *Options) (*KubeVersions, error) {
	if o.ToKubeVersion == "" {
		return nil, nil
	}
	data, err := created(p.after)
	if err != nil {
		return nil, err
	}
	var reports [2]*vet.Report
	for i, version := range []string{o.KubeVersion, o.ToKubeVersion} {
		if reports[i], err = vet.Vet(ctx, data, vet.Config{KubeVersion: version, KubeVersions: []string{version}, Beta: true}); err != nil {
			return nil, &command.ExitError{Code: command.Bug, Err: fmt.Errorf("%s: kubernetes %s: %w", p.name, version, err)}
		}
	}
	u := &KubeVersions{From: kubeVersion(o.KubeVersion, reports[0]), To: kubeVersion(o.ToKubeVersion, reports[1])}
	u.Estimates = estimates(reports[0], reports[1])
	return u, nil
}

// created reduces the metadata of a stored CRD to its name, labels, and annotations.
func created(d *definition) ([]byte, error) {
	if !resource.Stored(d.doc.Object) {
		return d.doc.JSON()
	}
	crd, err := resource.Decode(d.doc)
	if err != nil {
		return nil, err
	}
	stored := crd.ObjectMeta
	crd.ObjectMeta = metav1.ObjectMeta{Name: stored.Name, Labels: stored.Labels, Annotations: stored.Annotations}
	crd.APIVersion, crd.Kind = resource.APIVersion, resource.Kind
	return json.Marshal(crd)
}

func kubeVersion(version string, r *vet.Report) finding.KubeVersion {
	if len(r.KubeVersions) == 1 {
		return finding.NewKubeVersion(r.KubeVersions[0])
	}
	one := finding.NewKubeVersion(vet.KubeVersion{Version: version, Accepted: r.Accepted, Causes: r.Causes})
	if r.Status != nil && len(r.Causes) == 0 {
		one.Causes = append(one.Causes, finding.KubeVersionCause{Reason: string(r.Status.Reason), Message: r.Status.Message})
	}
	return one
}

func estimates(from, to *vet.Report) (list []Estimate) {
	type ref struct {
		version, path string
		index         int
	}
	old := map[ref]uint64{}
	for _, v := range from.Versions {
		for _, r := range v.Rules {
			if !r.Broken {
				old[ref{v.Name, r.Path, r.Index}] = r.EstimatedTotal
			}
		}
	}
	for _, v := range to.Versions {
		for _, r := range v.Rules {
			if was, ok := old[ref{v.Name, r.Path, r.Index}]; ok && !r.Broken && was != r.EstimatedTotal {
				list = append(list, Estimate{v.Name, r.Path, r.Index, r.Rule, was, r.EstimatedTotal, r.Limit})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Estimate) int { return cmp.Compare(b.To, a.To) })
	return list
}

func (u *KubeVersions) rejects() bool { return u != nil && u.From.Accepted && !u.To.Accepted }

// verdict returns "" if both versions accept the CRD.
func (u *KubeVersions) verdict() (text untrusted.Safe, causes []untrusted.Safe) {
	rejected := u.To
	switch {
	case u.rejects():
		text = untrusted.Sprintf("Kubernetes %s rejects the CRD, which %s accepts:", u.To.Version, u.From.Version)
	case u.From.Accepted:
		return "", nil
	case u.To.Accepted:
		rejected = u.From
		text = untrusted.Sprintf("Kubernetes %s accepts the CRD, which %s rejects:", u.To.Version, u.From.Version)
	default:
		text = untrusted.Sprintf("Kubernetes %s and %s reject the CRD:", u.From.Version, u.To.Version)
	}
	for _, c := range rejected.Causes {
		message, _, _ := strings.Cut(c.Message, "\n")
		cause := untrusted.Line(shortened(message))
		if c.Field != "" {
			cause = untrusted.Line(c.Field) + ": " + cause
		}
		causes = append(causes, cause)
	}
	return text, causes
}

const maxEstimates = 10

func (p *textPrinter) upgrade(b *strings.Builder, u *KubeVersions) {
	colour := untrusted.Yellow
	if u.rejects() {
		colour = untrusted.Red
	}
	if verdict, causes := u.verdict(); verdict != "" {
		untrusted.Fprintf(b, "  %s\n", p.out.Paint(colour, verdict))
		for _, cause := range causes {
			untrusted.Fprintf(b, "    %s\n", cause)
		}
	}
	for i, e := range u.Estimates {
		if i == maxEstimates {
			untrusted.Fprintf(b, "  and %s with another estimated cost\n", phrase.Count(len(u.Estimates)-i, "more rule"))
			break
		}
		untrusted.Fprintf(b, "  %s\n", e.text())
	}
}

func (e *Estimate) text() untrusted.Safe {
	return untrusted.Sprintf("%s %s: estimated cost %s, was %s: %s of the limit", e.Version, phrase.Rule(e.Path, e.Index), phrase.Number(e.To), phrase.Number(e.From), phrase.Share(e.To, e.Limit))
}

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

type removal struct {
	server   builtins.Server
	from, to int // minor versions
}

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
