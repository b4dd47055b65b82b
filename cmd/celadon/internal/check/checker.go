package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/cluster"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/converter"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/conversion"
	"github.com/celadon-cel/celadon/x/secret"
	"github.com/celadon-cel/celadon/x/trace"
)

// checker decides documents, on many goroutines.
type checker struct {
	options   *Options
	crds      *definitions
	before    *definitions // of --crd-old; nil without it
	olds      *oldObjects
	templates templates
	named     []string // what of the objects was named by hand
	source    batch.Source
	width     int // of excerpts; 0 is the usual one
	// observe is told of each run of a rule; nil is nobody.
	observe func(engine.RuleRun)
	// explained limits the explanations; the tally settles them.
	explained trace.Run
}

// engine is how objects are decided.
func (o *Options) engine() (engine.Config, error) {
	c, err := o.Convert.Open(converter.Patience)
	return engine.Config{KubeVersion: o.KubeVersion, Converter: c}, err
}

// newChecker reads CRDs and old objects; client is nil without --cluster.
func (a *run) newChecker(ctx context.Context, o *Options, paths []string, client *cluster.Client) (*checker, error) {
	c := &checker{options: o, named: paths, width: a.excerptWidth(o), source: a.files(o, paths)}
	cfg, err := o.engine()
	if err != nil {
		return nil, err
	}
	from := o.selection()
	after := func(wait func(), yield func(input.Chunk) bool) { from.Scan(a.Stdin, o.CRDs, wait, yield) }
	switch {
	case client != nil && len(o.CRDs) > 0:
		after, c.before, err = a.before(ctx, o, client, cfg)
	case len(o.CRDOlds) > 0:
		c.before, err = readCRDs(ctx, a.Stdin, o.CRDOlds, from, crdUse{before: true}, cfg)
	}
	if err != nil {
		return nil, err
	}
	var j *crdReviewer
	if !o.NoVet {
		j = &crdReviewer{kubeVersion: o.KubeVersion, validation: o.validation, before: c.before, width: c.width, now: o.reportsPart()}
	}
	if client != nil && len(o.CRDs) == 0 {
		c.crds, err = clusterCRDs(ctx, client, nil, crdUse{vet: j}, cfg)
	} else {
		c.crds, err = readCRDsFrom(ctx, after, o.CRDs, crdUse{vet: j}, cfg)
	}
	if err != nil {
		return nil, err
	}
	if client != nil {
		c.source = a.objectsOf(ctx, client, c)
	}
	c.olds, err = a.readOld(ctx, o, paths, c.crds)
	return c, err
}

// gutter is what stands around an excerpt: the line's number, and dots.
const gutter = 10

// excerptWidth lets excerpts fit the terminal, where the report goes to one; 0
// is the usual width.
func (a *run) excerptWidth(o *Options) int {
	width, _ := command.Width(a.Stdout)
	if width == 0 || o.Out != "" {
		return 0
	}
	return max(2*gutter, width-gutter)
}

// problems are those of the CRDs and of old objects.
func (c *checker) problems() []error {
	problems := append(c.crds.found(), c.olds.problems...)
	if c.before != nil {
		problems = append(problems, c.before.found()...)
	}
	return problems
}

// decide gives one document its verdict; nil when the context is cancelled.
func (c *checker) decide(ctx context.Context, doc *input.Document) *finding.Object {
	if ctx.Err() != nil {
		return nil
	}
	rep := newReport(doc)
	if c.options.partial() || c.options.baselined() {
		rep.Key = c.crds.shardKey(doc.Named())
	}
	if !c.mine(rep) {
		rep.Verdict = finding.Elsewhere
		return rep
	}
	if below(doc, c.named) {
		if why := noObject(doc); why != "" {
			rep.Verdict, rep.Problem = finding.Ignored, why
			return rep
		}
	}
	if c.templates.has(doc) {
		rep.Line, rep.Verdict, rep.Problem = 0, finding.Unreadable, errTemplate.Error()
		rep.Template = true
		return rep
	}
	def, typed := c.crds.addressee(doc.Object)
	if err := readable(doc); err != nil && (typed || def == nil) {
		rep.Verdict, rep.Problem = finding.Unreadable, err.Error()
		return rep
	}
	id := finding.Identify(doc.Object)
	rep.Identity = id
	if def == nil {
		rep.Verdict, rep.Problem = finding.Skipped, fmt.Sprintf("no CRD given for %s", id.GroupKind())
		return rep
	}
	if def.engine.Namespaced() && rep.Namespace == "" {
		rep.Namespace = metav1.NamespaceDefault
	}
	if c.before != nil && typed {
		c.upgrade(ctx, def, doc, rep)
		c.choose(def, doc.Object, rep)
	} else if typed && unserved(def.engine, rep) {
		c.choose(def, doc.Object, rep)
	} else {
		c.choose(def, c.write(ctx, def, doc, rep), rep)
	}
	if ctx.Err() != nil {
		return nil
	}
	return rep
}

func newReport(doc *input.Document) *finding.Object {
	return &finding.Object{File: doc.File, Document: doc.Index, Item: doc.Item, Line: doc.Line, Warnings: []string{}, Causes: []finding.Cause{}}
}

func readable(doc *input.Document) error {
	if doc.Err != nil {
		return doc.Err
	}
	id := finding.Identify(doc.Object)
	switch {
	case id.APIVersion != "" && id.Kind != "":
		return nil
	case mistyped(doc.Object):
		return errors.New("not a Kubernetes object: apiVersion or kind is not a string")
	}
	return errors.New("not a Kubernetes object: apiVersion or kind is missing")
}

// unserved refuses an object of a version that the CRD does not serve: clients
// find no endpoint to send it to.
func unserved(e *engine.Engine, rep *finding.Object) bool {
	_, version, _ := strings.Cut(rep.APIVersion, "/")
	served := e.Served()
	if slices.Contains(served, version) {
		return false
	}
	rep.Verdict, rep.Operation = finding.Invalid, "create"
	rep.Status = &finding.Status{
		Code:    404,
		Reason:  string(metav1.StatusReasonNotFound),
		Message: fmt.Sprintf("no matches for kind %q in version %q: the CRD serves %s", rep.Kind, rep.APIVersion, strings.Join(served, ", ")),
	}
	return true
}

// noSubresource refuses a write to a subresource that the version has not: there
// is no endpoint.
func (c *checker) noSubresource(def *definition, doc *input.Document, rep *finding.Object) bool {
	sub, v := c.options.Subresource, def.view(doc.Object)
	if sub == "" || v == nil || slices.Contains(v.subresources, sub) {
		return false
	}
	rep.Verdict, rep.Operation = finding.Invalid, "update"
	rep.Status = &finding.Status{
		Code:    404,
		Reason:  string(metav1.StatusReasonNotFound),
		Message: fmt.Sprintf("the server could not find the requested resource: version %s of the CRD has no %s subresource", v.table().Kind.Version, sub),
	}
	return true
}

// write decides the object as a create, or an update of its old self. It gives as
// much as is known of what is stored.
func (c *checker) write(ctx context.Context, def *definition, doc *input.Document, rep *finding.Object) map[string]any {
	req := engine.Request{Object: doc.Object, FieldValidation: c.options.validation, Subresource: c.options.Subresource, Trace: c.options.Summary, Observe: c.observe}
	if doc.Raw != nil {
		req.Object, req.Raw = nil, doc.Raw
	}
	rep.Operation, rep.Subresource = "create", c.options.Subresource
	if c.noSubresource(def, doc, rep) {
		return doc.Object
	}
	if old, ok := c.olds.find(c.crds, doc); ok {
		rep.Operation, req.OldObject = "update", old
	} else if c.options.Subresource != "" {
		rep.Verdict, rep.Problem = finding.Skipped, "no old object for a "+c.options.Subresource+" update"
		return doc.Object
	}
	if c.duplicateKeys(def, doc, rep) {
		return doc.Object
	}
	return c.request(ctx, def, req, doc, rep)
}

// request asks the engine and tells what it says. It gives as much as is known of
// what is stored.
func (c *checker) request(ctx context.Context, def *definition, req engine.Request, doc *input.Document, rep *finding.Object) map[string]any {
	res, ok := validate(ctx, def.engine, req, rep)
	if !ok {
		return doc.Object
	}
	rep.Cost, rep.Rules = res.Cost, res.Rules
	rep.Warnings = append(rep.Warnings, res.Warnings...)
	if res.Allowed {
		if couldBeTooLarge(doc) {
			rep.Warnings = append(rep.Warnings, tooLarge(doc.JSON, res)...)
		}
		c.show(def, req, doc, res, rep)
		return res.Object
	}
	c.refuse(ctx, def, req, doc, res, rep)
	if p := res.Prepared(); p != nil {
		return p.Self()
	}
	return doc.Object
}

// validate is false where there is no result; the report then says why.
func validate(ctx context.Context, e *engine.Engine, req engine.Request, rep *finding.Object) (*engine.Result, bool) {
	res, err := e.Validate(ctx, req)
	var notChecked *engine.NotCheckedError
	var failed *conversion.Error
	switch {
	case errors.As(err, &rep.Limit):
		rep.Verdict, rep.Problem = finding.Undecided, err.Error()
		return nil, false
	case errors.As(err, &failed): // whom the user named does not answer
		rep.Verdict, rep.Problem = finding.Undecided, "not checked: "+err.Error()
		return nil, false
	case errors.As(err, &notChecked):
		rep.Verdict, rep.Problem = finding.Skipped, notChecked.Error()
		return nil, false
	case err != nil:
		rep.Verdict, rep.Problem, rep.Bug = finding.Unreadable, err.Error(), err
		return nil, false
	}
	rep.Verdict = finding.Valid
	return res, true
}

// duplicateKeys of YAML are judged here, in the server's words for a YAML body.
func (c *checker) duplicateKeys(def *definition, doc *input.Document, rep *finding.Object) (refused bool) {
	if doc.Duplicate == nil {
		return false
	}
	switch c.options.validation {
	case "Strict":
		_, version, _ := strings.Cut(rep.APIVersion, "/")
		message := fmt.Sprintf("%s in version %q cannot be handled as a %s: strict decoding error: %v", rep.Kind, version, rep.Kind, doc.Duplicate)
		rep.Verdict, rep.Duplicate = finding.Invalid, true
		rep.Status = &finding.Status{Code: 400, Reason: string(metav1.StatusReasonBadRequest), Message: message}
		if c.options.locates() {
			rep.Strict = excerpt.Duplicates(doc, excerpt.NewExcerpts(doc, c.width, secret.Of(def.crd.ForEngine(), doc.Object), nil))
		}
		return true
	case "Warn":
		rep.Warnings = append(rep.Warnings, doc.Duplicate.Error())
	}
	return false
}
