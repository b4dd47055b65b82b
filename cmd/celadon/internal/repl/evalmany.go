package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/gctuning"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/repl"
)

// How it works: whether the input has one object or many is known only after the second. The first object is
// therefore held back. If there is another, both are evaluated as many, and from then on objects are
// evaluated on all cores as they are read. Otherwise, the object is evaluated like a single object that the
// user named.

func (e *evaluation) checkObjects() error {
	switch several := len(e.Objects) > 1; {
	case len(e.Objects) == 0 && e.Cluster.On && e.CRD == "":
		return errors.New("--cluster: use --object KIND/NAME, or --crd PATH to evaluate all objects of its kind")
	case several && e.Cluster.On:
		return errors.New("--object: want one KIND/NAME with --cluster, or only --crd to evaluate all objects of its kind")
	case several && e.Inputs.Name != "":
		return errors.New("--name: use it with one --object")
	}
	return nil
}

func (e *evaluation) mayBeMany() bool {
	if e.Cluster.On {
		return len(e.Objects) == 0 && e.CRD != ""
	}
	return len(e.Objects) > 0 && e.Inputs.Name == ""
}

type manyEvaluation struct {
	*evaluation
	src     string
	session *repl.Session
	kinds   []schema.GroupKind
	crds    []repl.Document
	kind    schema.GroupKind // of the first object

	// evaluator is set when the evaluation of many objects begins.
	evaluator atomic.Pointer[repl.Evaluator]
	held      *evaluated
	others    []repl.Document // documents of other kinds
	problems  []error         // of unreadable documents, before there are several objects
	isFalse   bool
	without   bool // some object has no value or cannot be read
}

// maxHeld limits the documents of other kinds, and the errors, that are held.
const maxHeld = 100

type evaluated struct {
	doc     *input.Document
	kind    schema.GroupKind
	ignored bool
	rows    []repl.Row
}

func (e *evaluation) all(ctx context.Context, src string) error {
	m := &manyEvaluation{evaluation: e, src: src}
	if err := m.readCRDs(ctx); err != nil {
		return err
	}
	source, err := m.source(ctx)
	if err != nil {
		return err
	}
	if m.session, err = m.newSession(&m.Inputs, cost.Limits{}); err != nil {
		return err
	}
	filter := resource.NewFilter(e.Objects)
	work := func(doc *input.Document) *evaluated {
		d := &evaluated{doc: doc, kind: doc.Identity().GroupKind(), ignored: filter.Ignores(doc)}
		if x := m.evaluator.Load(); x != nil && doc.Err == nil && !d.ignored && d.kind == m.kind {
			d.rows = m.rows(ctx, x, doc)
		}
		return d
	}
	defer gctuning.CollectSeldom(400, readMemory)()
	err = batch.From(source, work, func(d *evaluated) error { return m.take(ctx, d) }).Run(ctx)
	switch err = cmp.Or(err, ctx.Err()); {
	case err != nil:
		return err
	case m.evaluator.Load() == nil:
		return m.single(ctx)
	case m.without:
		return &command.ExitError{Code: command.Usage}
	case m.ExitStatus && m.isFalse:
		return &command.ExitError{Code: command.Findings}
	}
	return nil
}

func (m *manyEvaluation) readCRDs(ctx context.Context) error {
	flags := m.Inputs
	flags.Cluster = cluster.Flags{} // otherwise, check requires an object
	if err := cmp.Or(m.Cluster.Check(), flags.check()); err != nil {
		return err
	}
	docs, err := m.load(ctx, m.CRD)
	if err != nil {
		return err
	}
	if m.CRD == "" {
		return nil // the objects may be of a built-in kind
	}
	if m.kinds, m.crds = repl.Definitions(docs); len(m.crds) == 0 {
		return fmt.Errorf("no CustomResourceDefinition in %s", m.CRD)
	}
	return nil
}

// source returns the source of the objects. With --cluster, it sets an empty m.KubeVersion to the version of
// the cluster.
func (m *manyEvaluation) source(ctx context.Context) (batch.Source, error) {
	if !m.Cluster.On {
		if err := command.CheckPaths(m.given, m.Objects...); err != nil {
			return nil, err
		}
		return batch.Files(m.Stdin, m.Objects), nil
	}
	if len(m.crds) > 1 {
		return nil, fmt.Errorf("%s: %d CRDs: want one, whose objects are read", m.CRD, len(m.crds))
	}
	crd, err := catalog.Decode(m.crds[0].JSON)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.CRD, err)
	}
	kind, err := cluster.KindOf(crd)
	if err != nil {
		return nil, err
	}
	client, err := m.Cluster.Connect(ctx, m.Complain, &m.KubeVersion)
	if err != nil {
		return nil, err
	}
	return batch.Source(client.Objects(ctx, []cluster.Kind{kind})), nil
}

func (m *manyEvaluation) rows(ctx context.Context, x *repl.Evaluator, doc *input.Document) []repl.Row {
	return x.Rows(ctx, doc.Object, m.session.OldOf(doc.Object))
}

func (m *manyEvaluation) take(ctx context.Context, d *evaluated) error {
	switch {
	case d.ignored:
		return nil
	case d.doc.Err != nil:
		return m.problem(d.doc)
	case m.kind.Kind == "" && m.defined(d.kind):
		m.kind, m.held = d.kind, d
		if d.doc.Detach(); m.Cluster.On {
			return m.begin(ctx)
		}
		return nil
	case d.kind != m.kind:
		return m.other(d.doc)
	}
	if m.held != nil {
		if err := m.begin(ctx); err != nil {
			return err
		}
	}
	return m.print(ctx, d)
}

// defined reports whether a CRD defines a kind. Without --crd, it first adds a description of the kind if the
// first object is of a built-in kind.
func (m *manyEvaluation) defined(kind schema.GroupKind) bool {
	if m.CRD == "" && len(m.kinds)+len(m.others) == 0 {
		if doc, ok := repl.BuiltinCRD(kind); ok {
			m.kinds, m.crds = []schema.GroupKind{kind}, []repl.Document{doc}
		}
	}
	return slices.Contains(m.kinds, kind)
}

func (m *manyEvaluation) begin(ctx context.Context) error {
	first := m.held
	m.held = nil
	if err := m.session.LoadCRD(m.crds[slices.Index(m.kinds, m.kind)]); err != nil {
		return err
	}
	if m.Old != "" {
		if err := m.session.LoadOlds(ctx, m.Old); err != nil {
			return fmt.Errorf("--old: %w", err)
		}
	}
	version := m.Version
	if version == "" {
		gv, _ := schema.ParseGroupVersion(first.doc.Identity().APIVersion)
		version = gv.Version
	}
	if err := m.session.Go(version, m.At); err != nil {
		return err
	}
	x, err := m.session.Evaluator(m.src)
	if err != nil {
		return m.broken(m.session, err)
	}
	m.evaluator.Store(x)
	for _, problem := range m.problems {
		m.Complain(problem)
	}
	return m.print(ctx, first)
}

func (m *manyEvaluation) print(ctx context.Context, d *evaluated) error {
	x := m.evaluator.Load()
	if d.rows == nil {
		d.rows = m.rows(ctx, x, d.doc)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	for i := range d.rows {
		row := &d.rows[i]
		var bug *engine.InternalError
		if errors.As(row.Err, &bug) {
			return &command.ExitError{Code: command.Bug, Err: row.Err}
		}
		m.without = m.without || row.Err != nil
		m.isFalse = m.isFalse || row.Value != nil && row.Value.False()
		if err := m.printRow(x, d.doc, row); err != nil {
			return fmt.Errorf("cannot write the value: %w", err)
		}
	}
	return nil
}

// problem reports a document that cannot be read, or holds the error until there are several objects.
func (m *manyEvaluation) problem(doc *input.Document) error {
	err := fmt.Errorf("%s: %w", doc.Location(), doc.Err)
	m.without = true
	if m.evaluator.Load() != nil {
		m.Complain(err)
	} else if len(m.problems) < maxHeld {
		m.problems = append(m.problems, err)
	}
	return nil
}

// other holds a document of another kind, which may be the only one.
func (m *manyEvaluation) other(doc *input.Document) error {
	if m.evaluator.Load() != nil || len(m.others) >= maxHeld {
		return nil
	}
	doc.Detach()
	other, err := editable(doc)
	m.others = append(m.others, other)
	return err
}

func (m *manyEvaluation) single(ctx context.Context) error {
	if len(m.crds) == 0 && (len(m.others) > 0 || len(m.problems) == 0) {
		return errNoCRD
	}
	if len(m.problems) > 0 {
		return m.problems[0]
	}
	if m.Cluster.On {
		return fmt.Errorf("no object of kind %s in the cluster", m.kinds[0].Kind)
	}
	objects := m.others
	if m.held != nil {
		doc, err := editable(m.held.doc)
		if err != nil {
			return err
		}
		objects = []repl.Document{doc}
	}
	olds, err := m.load(ctx, m.Old)
	if err != nil {
		return err
	}
	err = m.session.Start(repl.Inputs{
		CRDs: m.crds, Objects: objects, Olds: olds, CRDPath: m.CRD, ObjectPath: m.Objects[0], OldPath: m.Old,
	})
	if err != nil {
		return err
	}
	m.Object = m.Objects[0]
	return m.one(ctx, m.session, m.src)
}

func (e *evaluation) printRow(x *repl.Evaluator, doc *input.Document, r *repl.Row) error {
	id := doc.Identity()
	if e.Output == "text" {
		name, value := cmp.Or(id.Name, doc.Location()), ""
		if id.Namespace != "" {
			name = id.Namespace + "/" + name
		}
		if r.Path != "" {
			name += " " + r.Path
		}
		if r.Err != nil {
			value = "error: " + reasonOf(r.Err)
		} else {
			value = r.Value.String()
		}
		_, err := fmt.Fprintf(untrusted.NewWriter(e.Stdout), "%s: %s\n", oneLine(name), oneLine(value))
		return err
	}
	rep, err := x.Report(r)
	if err != nil {
		return err
	}
	rep.Object = &repl.ReportObject{APIVersion: id.APIVersion, Kind: id.Kind, Namespace: id.Namespace, Name: id.Name}
	if !doc.Live {
		rep.Object.File, rep.Object.Line = doc.File, doc.Line
	}
	if r.Err != nil {
		rep.Error.Message = reasonOf(r.Err)
	}
	return e.printReport(rep)
}

// reasonOf returns the text of an error, without the shell command that a NoValueError suggests.
func reasonOf(err error) string {
	if lacking, ok := err.(*repl.NoValueError); ok {
		return lacking.Reason
	}
	return err.Error()
}

func oneLine(text string) string { return strings.NewReplacer("\n", `\n`, "\r", `\r`).Replace(text) }
