package check

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/secret"
)

// TextChecker is celadon check of whole texts that stand in no file, as a page has them: of
// Live, whose CRDs change, an editor asks document by document. It is safe for
// concurrent use.
type TextChecker struct {
	kubeVersion string
	crds        *definitions
}

// NewTextChecker reads the CRDs and compiles none. The error is of the version.
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
		switch r := readCRD(ctx, doc, named, &t, crdUse{}); {
		case r.Err != nil:
			unreadable = append(unreadable, r)
		case r.CRD != nil:
			given = append(given, r.Read)
		}
	})
	d := &definitions{}
	if len(given) == 0 && len(unreadable) == 0 {
		d.problems = append(d.problems, noCRD(named))
	}
	for _, r := range unreadable {
		d.unreadable(r)
	}
	all := gathered(engine.Config{KubeVersion: kubeVersion}, given)
	all.problems = append(d.problems, all.problems...)
	return &TextChecker{kubeVersion, all}, nil
}

// Writes are objects and what they replace, where they do.
type Writes struct {
	Objects, Olds input.Text
	// Subresource is as in --subresource.
	Subresource string
}

// Checked is what celadon check says of a text.
type Checked struct {
	// Report is that of --no-vet --verbose --summary -o json.
	Report  []byte
	Objects []Answer
	// Problems are of the CRDs and of the old objects.
	Problems []error
}

// Answer is what is known of one object.
type Answer struct {
	*finding.Object
	// CRD is the name of the object's; "" and no Engine where none was given.
	CRD    string
	Engine *engine.Engine
	// Runs are all runs of rules over it.
	Runs []engine.RuleRun
	// Secrets must not be shown.
	Secrets secret.Texts
}

// Check decides the objects. The error is the context's, or of how they are asked
// about.
func (d *TextChecker) Check(ctx context.Context, w Writes) (*Checked, error) {
	o := Options{
		KubeVersion: d.kubeVersion, CRDs: []string{"-"}, Subresource: w.Subresource, Olds: []string{w.Olds.File},
		Validate: "strict", Output: "json", Verbose: true, Summary: true, NoVet: true, Diff: true,
	}
	shown := o
	shown.Diff = false // which is for this report's reader alone
	if err := shown.Check(nil); err != nil {
		return nil, err
	}
	o.validation = shown.validation
	c := &checker{options: &o, crds: d.crds, olds: d.readOlds(&o, w.Olds), named: []string{w.Objects.File}}
	c.templates.hold(w.Objects)
	var out bytes.Buffer
	a := &run{command.Streams{Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard}}
	v, err := types.ParseVersion(d.kubeVersion)
	if err != nil {
		return nil, err
	}
	t, err := a.tally(ctx, &shown, v.String())
	if err != nil {
		return nil, err
	}
	t.checker = c
	checked := &Checked{}
	w.Objects.Each(func(doc *input.Document) {
		if err != nil {
			return
		}
		var one Answer
		c.observe = func(run engine.RuleRun) { one.Runs = append(one.Runs, run) }
		if one.Object = c.decide(ctx, doc); one.Object == nil {
			err = ctx.Err()
			return
		}
		if def := d.crds.find(one.GroupKind()); def != nil {
			one.CRD, one.Engine, one.Secrets = def.entry.Name, def.engine, secret.Of(def.crd.ForEngine(), doc.Object).Texts
			if old, ok := c.olds.find(d.crds, doc); ok {
				one.Secrets = append(one.Secrets, secret.Of(def.crd.ForEngine(), old).Texts...)
			}
		}
		checked.Objects = append(checked.Objects, one)
		err = t.take(one.Object)
	})
	if err == nil {
		err = errors.Join(t.end(false), t.to.out.Flush())
	}
	checked.Report, checked.Problems = out.Bytes(), t.problems
	return checked, err
}

// Readable is true where there is a CRD.
func (d *TextChecker) Readable() bool { return len(d.crds.all) > 0 }

// Definition is the CRD of a name and what it compiles to; an only CRD has any name.
// Both are nil where there is none that can be used.
func (d *TextChecker) Definition(name string) (*apiextensionsv1.CustomResourceDefinition, *engine.Engine) {
	for _, def := range d.crds.all {
		if def.crd.Name == name || len(d.crds.all) == 1 {
			def.once.Do(def.compile)
			return def.crd.ForEngine(), def.engine
		}
	}
	return nil, nil
}

func (d *TextChecker) readOlds(o *Options, text input.Text) *oldObjects {
	olds := &oldObjects{byKey: map[string]*oldObject{}}
	text.Each(func(doc *input.Document) { olds.take(readOldObject(doc), o, d.crds) })
	return olds
}
