package verdict

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/secret"
)

// A TextChecker runs celadon check on texts that are not in files, for example in the playground.
// Its CRDs are fixed, in contrast to Live. It is safe for concurrent use.
type TextChecker struct {
	kubeVersion string
	crds        *CRDs
}

// NewTextChecker reads the CRDs without compiling them. It returns an error only if kubeVersion is
// invalid.
func NewTextChecker(ctx context.Context, crds input.Text, kubeVersion string) (*TextChecker, error) {
	if _, err := types.ParseVersion(kubeVersion); err != nil {
		return nil, fmt.Errorf("--kube-version: %w", err)
	}
	named := []string{crds.File}
	var t templates
	t.hold(crds)
	var given []resource.Read
	var unreadable []crdRead
	crds.Each(func(doc *input.Document) {
		switch r := readCRD(ctx, doc, named, &t, Use{}); {
		case r.Err != nil:
			unreadable = append(unreadable, r)
		case r.CRD != nil:
			given = append(given, r.Read)
		}
	})
	d := &CRDs{}
	if len(given) == 0 && len(unreadable) == 0 {
		d.Problems = append(d.Problems, noCRD(named))
	}
	for _, r := range unreadable {
		d.unreadable(r)
	}
	all := gathered(Side{engine.Config{KubeVersion: kubeVersion}, given})
	all.Problems = append(d.Problems, all.Problems...)
	return &TextChecker{kubeVersion, all}, nil
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
	// CRD is the name of the object's CRD, or "" if no CRD was given. Engine is nil then.
	CRD    string
	Engine *engine.Engine
	// Runs holds all runs of rules on the object.
	Runs []engine.RuleRun
	// Secrets holds values that must not be shown.
	Secrets secret.Texts
}

// Check decides the objects. It returns an error if the context is canceled or w.Subresource is
// invalid.
func (d *TextChecker) Check(ctx context.Context, w Writes) (*Checked, error) {
	switch w.Subresource {
	case "", "status", "scale":
	default:
		return nil, fmt.Errorf("--subresource %q: want status or scale", w.Subresource)
	}
	v, err := types.ParseVersion(d.kubeVersion)
	if err != nil {
		return nil, err
	}
	c := &Decider{
		Config: Config{
			KubeVersion: d.kubeVersion, Validation: "Strict", Subresource: w.Subresource, Named: []string{w.Objects.File},
			Locate: true, Explain: true, Trace: true, Selectable: true, Diff: true,
		},
		CRDs: d.crds, Olds: d.readOlds(w.Olds),
	}
	c.templates.hold(w.Objects)
	policyProblems, err := d.readPolicies(w.Policies, c)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	p, err := print.New("json", &out, print.Options{KubeVersion: v.String(), Verbose: true, Version: command.Version(), Stderr: io.Discard})
	if err != nil {
		return nil, err
	}
	summary, tables := &finding.Summary{}, finding.NewTables()
	reported := false // report a template once, not for each of its documents
	checked := &Checked{}
	w.Objects.Each(func(doc *input.Document) {
		if err != nil {
			return
		}
		var one Answer
		c.Observe = func(run engine.RuleRun) { one.Runs = append(one.Runs, run) }
		if one.Object = c.Decide(ctx, doc); one.Object == nil {
			err = ctx.Err()
			return
		}
		if def := d.crds.find(one.GroupKind()); def != nil {
			one.CRD, one.Engine, one.Secrets = def.entry.Name, def.engine, secret.Of(def.CRD.ForEngine(), doc.Object).Texts
			if old, ok := c.Olds.find(d.crds, doc.File, one.Identity); ok {
				one.Secrets = append(one.Secrets, secret.Of(def.CRD.ForEngine(), old).Texts...)
			}
		}
		checked.Objects = append(checked.Objects, one)
		if one.Template {
			if reported {
				return
			}
			reported = true
		}
		c.Settle(one.Object)
		tables.Add(one.Object)
		summary.Count(one.Object)
		err = p.Object(one.Object)
	})
	checked.Problems = append(c.Problems(), policyProblems...)
	if err == nil {
		summary.Vanished = c.Olds.Vanished()
		if given := c.Olds.Given(); given > 0 {
			summary.Old = &finding.OldSummary{Given: given, Matched: c.Olds.Paired()}
		}
		tables.Fill(summary)
		err = p.End(summary)
	}
	checked.Report = out.Bytes()
	return checked, err
}

// Readable reports whether there is a CRD that can be read.
func (d *TextChecker) Readable() bool { return len(d.crds.All) > 0 }

// Definition returns the CRD with the given name and its engine. If there is only one CRD, it
// returns that. It returns nil if no CRD is usable.
func (d *TextChecker) Definition(name string) (*apiextensionsv1.CustomResourceDefinition, *engine.Engine) {
	for _, def := range d.crds.All {
		if def.CRD.Name == name || len(d.crds.All) == 1 {
			def.once.Do(def.compile)
			return def.CRD.ForEngine(), def.engine
		}
	}
	return nil, nil
}

// CRDFor returns the CRD that decides objects of a kind, or nil if no usable one was given.
func (d *TextChecker) CRDFor(kind schema.GroupKind) *apiextensionsv1.CustomResourceDefinition {
	if def := d.crds.find(kind); def != nil {
		return def.CRD.ForEngine()
	}
	return nil
}

// readPolicies makes c evaluate the policies in text, if there are any. It returns their errors, and the policies without a
// binding.
func (d *TextChecker) readPolicies(text input.Text, c *Decider) (problems []error, err error) {
	if len(bytes.TrimSpace(text.Data)) == 0 {
		return nil, nil
	}
	var docs []*input.Document
	text.Each(func(doc *input.Document) { docs = append(docs, doc) })
	p, err := policies.FromDocuments(docs, []string{text.File}, policy.Config{KubeVersion: d.kubeVersion, Namespaced: d.crds.Namespaced()})
	if errors.Is(err, policies.ErrNoPolicy) {
		return []error{err}, nil
	}
	if err != nil {
		return nil, err
	}
	for _, problem := range slices.Concat(p.Problems, p.Unbound) {
		problems = append(problems, problem)
	}
	c.Admission = &Admission{Policies: p, User: policyrequest.User("", nil)}
	return problems, nil
}

func (d *TextChecker) readOlds(text input.Text) *Olds {
	olds := NewOlds()
	text.Each(func(doc *input.Document) { olds.Take(ReadOld(doc), d.crds, nil) })
	return olds
}
