package verdict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/secret"
)

// A TextChecker runs celadon check on documents that are not in files, for example in the playground. It is safe
// for concurrent use.
type TextChecker struct {
	*CRDs
	kubeVersion string
	version     types.Version
}

// NewTextChecker reads the CRDs without compiling them. It returns an error if kubeVersion is invalid or the
// context is canceled.
func NewTextChecker(ctx context.Context, crds input.Text, kubeVersion string) (*TextChecker, error) {
	version, err := types.ParseVersion(kubeVersion)
	if err != nil {
		return nil, fmt.Errorf("--kube-version: %w", err)
	}
	source := func(_ func(), yield func(input.Chunk) bool) { input.SplitText(crds.File, crds.Data, yield) }
	all, err := Read(ctx, source, filterOf(crds), Use{Unique: true}, engine.Config{KubeVersion: kubeVersion})
	return &TextChecker{all, kubeVersion, version}, err
}

func filterOf(text input.Text) *resource.Filter {
	f := &resource.Filter{Named: []string{text.File}}
	f.Hold(text)
	return f
}

// Writes holds objects and the old objects that they replace, if any.
type Writes struct {
	Objects, Olds input.Text
	// Policies holds admission policies, with their bindings and everything that they refer to. It may be empty.
	Policies input.Text
	// Subresource is the value of --subresource.
	Subresource string
}

// Checked is the result of checking a text.
type Checked struct {
	// Report is the output of celadon check --no-vet --verbose --summary -o json.
	Report  []byte
	Objects []Answer
	// Problems holds the errors of the CRDs, of the old objects, and of the policies.
	Problems []error
}

// An Answer is the result for an object.
type Answer struct {
	*finding.Object
	// CRD is the name of the object's CRD, or "" without a usable CRD. Engine is nil then.
	CRD    string
	Engine *engine.Engine
	// Runs holds runs of rules on the object.
	Runs []engine.RuleRun
	// Secrets holds values that must not be shown.
	Secrets secret.Texts
}

// Check validates the objects. It returns an error if the context is canceled, w.Subresource is invalid, or the
// policies cannot be compiled; invalid policies are Problems.
func (c *TextChecker) Check(ctx context.Context, w Writes) (*Checked, error) {
	if w.Subresource != "" && !slices.Contains(policyrequest.Updated, w.Subresource) {
		return nil, fmt.Errorf("--subresource %q: want %s", w.Subresource, phrase.Or(policyrequest.Updated))
	}
	olds := NewOlds()
	for doc := range w.Olds.Documents {
		olds.Take(ReadOld(doc), c.CRDs, nil)
	}
	admission, policyProblems, err := c.admission(w.Policies)
	if err != nil {
		return nil, err
	}
	d := New(Config{
		KubeVersion: c.kubeVersion, Validation: "Strict", Subresource: w.Subresource, Filter: filterOf(w.Objects),
		Olds: olds, Admission: admission,
		Locate: true, Explain: true, Trace: true, Selectable: true, Diff: true,
	}, c.CRDs)
	var out bytes.Buffer
	p, err := print.New("json", &out, print.Options{KubeVersion: c.version.String(), Verbose: true, Version: command.Version(), Stderr: io.Discard})
	if err != nil {
		return nil, err
	}
	summary, tables := &finding.Summary{}, finding.NewTables()
	reported := false // report a template once, not for each of its documents
	checked := &Checked{}
	for doc := range w.Objects.Documents {
		var one Answer
		d.Observe = func(run engine.RuleRun) { one.Runs = append(one.Runs, run) }
		if one.Object = d.Decide(ctx, doc); one.Object == nil {
			return nil, ctx.Err()
		}
		if def := c.find(one.GroupKind()); def != nil {
			one.CRD, one.Engine, one.Secrets = def.entry.Name, def.engine, secret.Of(def.CRD.ForEngine(), doc.Object).Texts
			if old := olds.find(c.CRDs, doc.File, one.Identity); old != nil {
				one.Secrets = append(one.Secrets, secret.Of(def.CRD.ForEngine(), old.value()).Texts...)
			}
		}
		checked.Objects = append(checked.Objects, one)
		if one.Template {
			if reported {
				continue
			}
			reported = true
		}
		d.Settle(one.Object)
		tables.Add(one.Object)
		summary.Count(one.Object)
		if err := p.Object(one.Object); err != nil {
			return nil, err
		}
	}
	checked.Problems = append(d.Problems(), policyProblems...)
	counts, vanished := olds.Count()
	if summary.Vanished = vanished; counts.Given > 0 {
		summary.Old = &counts
	}
	tables.Fill(summary)
	err = p.End(summary)
	checked.Report = out.Bytes()
	return checked, err
}

// Named returns the CRD with the given name, or the only CRD, and its engine. It returns nil without such a
// CRD. The engine is nil if the CRD is unusable.
func (c *TextChecker) Named(name string) (*apiextensionsv1.CustomResourceDefinition, *engine.Engine) {
	for _, def := range c.All {
		if def.CRD.Name == name || len(c.All) == 1 {
			def.once.Do(def.compile)
			return def.CRD.ForEngine(), def.engine
		}
	}
	return nil, nil
}

// admission returns a nil Admission for a text without policies and webhooks. problems also has the policies without
// a binding.
func (c *TextChecker) admission(text input.Text) (_ *Admission, problems []error, err error) {
	if len(bytes.TrimSpace(text.Data)) == 0 {
		return nil, nil, nil
	}
	cfg := policy.Config{KubeVersion: c.kubeVersion, Namespaced: c.Namespaced()}
	p, err := policies.FromDocuments(slices.Collect(text.Documents), []string{text.File}, cfg)
	if errors.Is(err, policies.ErrNoPolicy) {
		return nil, []error{err}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	return &Admission{Policies: p, User: policyrequest.User("", nil)}, slices.Concat(p.Problems, p.Unbound), nil
}
