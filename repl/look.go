package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/catalog"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/internal/yaml/emit"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/apply"
	"github.com/celadon-cel/celadon/x/assist"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func use(_ context.Context, s *Session, arg string) (string, error) {
	if s.state.crd.version(arg) < 0 {
		return "", fmt.Errorf("version %q: the CRD has %s", arg, strings.Join(s.state.crd.engine.Info().Versions, ", "))
	}
	next := *s.state
	next.version, next.rule = arg, -1
	return "", s.commit(&next, next.steps)
}

func kube(_ context.Context, s *Session, arg string) (string, error) {
	if arg == "" {
		if s.state.kube == "" {
			return fmt.Sprintf("all supported versions (up to 1.%d)\n", types.Newest), nil
		}
		return s.state.kube + "\n", nil
	}
	v, err := types.ParseVersion(arg)
	if err != nil {
		return "", err
	}
	next := *s.state
	next.kube = v.String()
	if next.crd != nil {
		if next.crd, err = next.crd.with(s.config(next.kube)); err != nil {
			return "", err
		}
	}
	if err := s.commit(&next, next.steps); err != nil {
		return "", err
	}
	var b strings.Builder
	if next.crd != nil {
		for _, bad := range next.crd.broken {
			fmt.Fprintf(&b, "%s rejects a rule at %s: %s: %s\n", next.kube, phrase.Path(bad.Path), termwidth.Cut(lex.Flat(bad.Rule), maxValue), summary(bad)+s.hint(bad))
		}
	}
	return termwidth.Fold(b.String(), s.Width, 2), nil
}

// cd implements :cd, which :undo does not revert.
func cd(_ context.Context, s *Session, arg string) (string, error) {
	p, err := s.there(cmp.Or(arg, "/"))
	if err != nil {
		return "", err
	}
	next := *s.state
	next.rule, next.location, next.steps = -1, p, p.steps
	s.state = &next
	return "", nil
}

func pwd(_ context.Context, s *Session, _ string) (string, error) {
	p := s.state.location
	return table([][]string{{
		fmt.Sprintf("%s/%s %s", s.state.crd.kind().Kind, s.state.version, phrase.Path(p.path())),
		p.decl().String(), assist.Bounds(p.decl(), p.help.Schema),
	}}, s.Width), nil
}

func (s *Session) there(arg string) (*location, error) {
	st := s.state
	steps, err := st.location.resolve(arg)
	if err != nil {
		return nil, err
	}
	p, err := newLocation(st.crd, st.version, steps, st.here())
	if err != nil {
		err = fmt.Errorf("%w%s", err, st.location.suggestion(steps))
	}
	return p, err
}

func ls(_ context.Context, s *Session, arg string) (string, error) {
	p, err := s.there(arg)
	if err != nil {
		return "", err
	}
	d, schema := p.decl(), p.help.Schema
	if d.Elem != nil && d.Kind != types.Object {
		return table([][]string{lsRow("[*]", d.Elem, assist.SchemaBelow(schema, engine.Step{Any: true}), false)}, s.Width), nil
	}
	var rows [][]string
	for _, name := range d.FieldNames() {
		f := d.Fields[name]
		step := engine.Step{Name: name}
		text := engine.FormatPath([]engine.Step{step})
		if f.Escaped != name && f.Escaped != "" {
			text += " (" + f.Escaped + ")"
		}
		rows = append(rows, lsRow(text, f.Decl, assist.SchemaBelow(schema, step), f.Required))
	}
	if len(rows) == 0 {
		return fmt.Sprintf("%s has no fields: it is %s\n", phrase.Path(p.path()), d), nil
	}
	return table(rows, s.Width), nil
}

func lsRow(name string, d *types.Decl, node *schemaNode, required bool) []string {
	must, has := "", ""
	if required {
		must = "required"
	}
	if node != nil && len(node.XValidations) > 0 {
		has = phrase.Count(len(node.XValidations), "rule")
	}
	return []string{name, d.String(), must, has, assist.Bounds(d, node)}
}

func showValue(_ context.Context, s *Session, arg string) (string, error) {
	p, err := s.there(arg)
	if err != nil {
		return "", err
	}
	if len(p.steps) == 0 || p.steps[0].Name == statusName {
		s.statusIsRead()
	}
	if s.state.object == nil || s.state.visible(s.state.object) == nil {
		return "", s.noSelf()
	}
	if !p.has {
		return "", fmt.Errorf("the object has no value at %s", phrase.Path(p.path()))
	}
	text, err := emit.YAML(p.self)
	return printable(string(text)), err
}

// selfType matches the checker's name for the type of self.
var selfType = regexp.MustCompile(`\bselfType\d*`)

func typeOf(_ context.Context, s *Session, arg string) (string, error) {
	x, err := s.compile(arg, false)
	if err != nil {
		return "", err
	}
	text := s.helper().TypeOf(x)
	if cel := selfType.ReplaceAllString(x.Type().String(), "self"); cel != text {
		text += " (CEL: " + cel + ")"
	}
	return termwidth.Fold(text+"\n", s.Width, 2), nil
}

func costOf(_ context.Context, s *Session, arg string) (string, error) {
	x, err := s.compile(arg, false)
	if err != nil {
		return "", err
	}
	a := s.price(x)
	text := a.estimateText() + "\n"
	if a.Total() > a.Limit {
		text += fmt.Sprintf("too expensive: the limit of a rule's estimate is %s for one object\n", phrase.Number(a.Limit))
	}
	var rows [][]string
	for _, u := range s.helper().Unbounded(x) {
		rows = append(rows, []string{"  " + u.Text, fmt.Sprintf("no %s: %s assumed", u.Set, u.Assumed)})
	}
	return termwidth.Fold(text, s.Width, 2) + table(rows, s.Width), nil
}

func explain(ctx context.Context, s *Session, arg string) (string, error) {
	x, err := s.compile(arg, false)
	if err != nil {
		return "", err
	}
	p := s.here()
	s.noteStatus(x, p.steps)
	if needsSelf(x) && !p.has {
		return "", s.noSelf()
	}
	t, err := s.trace(ctx, x)
	if err != nil {
		return "", err
	}
	rows := [][]string{{"cost", "value", "expression"}}
	for _, part := range t.Tree() {
		units, value := "-", "not evaluated"
		if part.Ran {
			units, value = phrase.Number(part.Cost), termwidth.Cut(printable(format(part.Value)), 32)
		}
		rows = append(rows, []string{units, value, strings.Repeat("  ", part.Depth) + part.Text})
	}
	text := table(rows, s.Width)
	if t.Err != nil {
		text += termwidth.Fold("error: "+printable(t.Err.Error())+"\n", s.Width, 2)
	}
	return text, nil
}

// A crd is the CRD of a session state. It is immutable, except that def, engine, and writer can be nil in older states.
// See compile.
type crd struct {
	doc      Document
	def      *apiextensionsv1.CustomResourceDefinition
	config   engine.Config
	engine   *engine.Engine
	writer   *apply.Writer
	broken   []*engine.CompileError
	builtins *policyrequest.Builtins
}

func newCRD(doc Document, cfg engine.Config) (*crd, error) {
	c := &crd{doc: doc, config: cfg}
	return c, c.compile()
}

func (c *crd) with(cfg engine.Config) (*crd, error) {
	next := &crd{doc: c.doc, def: c.def, config: cfg, builtins: c.builtins}
	return next, next.compile()
}

func (c *crd) compile() (err error) {
	if c.engine != nil {
		return nil
	}
	if c.def == nil {
		if c.def, err = catalog.Decode(c.doc.JSON); err != nil {
			return fmt.Errorf("%s: %w", c.doc.File, err)
		}
	}
	e, err := engine.Compile(c.def, c.config)
	var bad *engine.CompileErrors
	switch {
	case errors.As(err, &bad):
		c.broken = bad.Errors
	case err != nil:
		return fmt.Errorf("%s: %w", c.doc.File, err)
	}
	c.engine, c.writer = e, apply.NewWriter(c.def, e)
	return nil
}

type schemaNode = apiextensionsv1.JSONSchemaProps

func (c *crd) schema(version string) *schemaNode {
	if v := c.version(version); v >= 0 && c.def.Spec.Versions[v].Schema != nil {
		return c.def.Spec.Versions[v].Schema.OpenAPIV3Schema
	}
	return nil
}

func (c *crd) version(name string) int {
	return slices.IndexFunc(c.def.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool { return v.Name == name })
}

func (s *Session) helper() *assist.Context {
	at := s.here().help
	at.Limits, at.Functions = s.limits, s.funcs
	return at
}

func (c *crd) kind() schema.GroupKind { return c.engine.Info().GroupKind }
