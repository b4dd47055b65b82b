package schema

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/celadon-cel/celadon/internal/regexp/automaton"
	"github.com/celadon-cel/celadon/internal/regexp/regexcost"
	"github.com/celadon-cel/celadon/internal/text/preview"
)

type text struct {
	maxLength, minLength *int64
	pattern              *pattern
	format               func(string) bool // nil if the format is not checked
}

func (c *compiler) text(n *node, p *apiextensionsv1.JSONSchemaProps) *text {
	t := &text{maxLength: p.MaxLength, minLength: p.MinLength, format: formatOf(n.format)}
	if p.Pattern != "" {
		if c.patterns[p.Pattern] == nil {
			c.patterns[p.Pattern] = &pattern{text: p.Pattern}
		}
		t.pattern = c.patterns[p.Pattern]
	}
	if t.maxLength == nil && t.minLength == nil && t.pattern == nil && t.format == nil {
		return nil
	}
	return t
}

func (t *text) valid(s string, m *meter) bool {
	if t == nil {
		return true
	}
	return (t.maxLength == nil || !t.tooLong(s)) &&
		(t.minLength == nil || !t.tooShort(s)) &&
		(t.pattern == nil || t.pattern.match(s, m)) &&
		(t.format == nil || t.formatted(s, m))
}

// Lengths are in characters. A string has at most as many characters as bytes.

func (t *text) tooLong(s string) bool {
	return int64(len(s)) > *t.maxLength && int64(utf8.RuneCountInString(s)) > *t.maxLength
}

func (t *text) tooShort(s string) bool {
	return int64(len(s)) < *t.minLength || int64(utf8.RuneCountInString(s)) < *t.minLength
}

// A pattern is compiled on first use, because most are never used. After many uses it gets a transition table.
type pattern struct {
	text  string
	once  sync.Once
	re    *regexcost.Pattern
	err   error // if set, no string matches
	uses  atomic.Int32
	table atomic.Pointer[automaton.Table] // nil if not built yet or too large
}

// often is the number of uses after which a table pays off.
const often = 100

func (p *pattern) match(s string, m *meter) bool {
	p.once.Do(func() { p.re, p.err = regexcost.New(p.text) })
	if p.err != nil {
		return false
	}
	if p.re.TooLarge() {
		m.stop(fmt.Sprintf("pattern %q has more than %d states", preview.Bytes(p.text, maxShown), regexcost.MaxStates))
	}
	if m.left -= len(s) * p.re.PerByte(); m.left < 0 {
		m.stop(fmt.Sprintf("a match of pattern %q on %d bytes", preview.Bytes(p.text, maxShown), len(s)))
	}
	if t := p.table.Load(); t != nil {
		if matches, ok := t.Matches(s); ok {
			return matches
		}
	} else if p.uses.Load() < often && p.uses.Add(1) == often {
		if l, err := automaton.Compile(p.text); err == nil {
			p.table.Store(l.Table())
		}
	}
	return p.re.MatchString(s)
}

// perFormatted is the work for each byte of a string with a format.
const perFormatted = 100

func (t *text) formatted(s string, m *meter) bool {
	m.spend(perFormatted * len(s))
	return t.format(s)
}

// WorkLimit is the Origin of the error for a value that was not fully checked, because its
// patterns, formats, and branches need more work than allowed.
const WorkLimit = "workLimit"

// The work limit, in units of about a nanosecond. Ordinary values need a thousandth of it.
const (
	maxWork     = 1 << 30
	perNode     = 8
	perReported = 64
)

type meter struct{ left int }

func (m *meter) spend(units int) {
	if m.left -= units; m.left < 0 {
		m.stop("its fields, branches and formats")
	}
}

func (m *meter) stop(why string) { panic(overwork(why)) }

type overwork string

func (m *meter) stopped(path *field.Path, errs *field.ErrorList) {
	switch why := recover().(type) {
	case nil:
	case overwork:
		*errs = field.ErrorList{field.InternalError(path, errors.New("too much work: "+string(why))).WithOrigin(WorkLimit)}
	default:
		panic(why)
	}
}

const maxShown = 80

// Schema is a compiled schema, or the schema of a property. It is immutable.
type Schema struct {
	root   *node
	server server
	// marked is set if a property's name starts with mark. Errors of branches can then count
	// although another branch is valid, which only a thorough report detects.
	marked  bool
	settled bool
}

// Compile compiles a schema that is passed both as props and as the equivalent structural schema.
// Values are validated against props as the API server of Kubernetes 1.minor does; pruning,
// defaulting, and list types are the same in all versions. structural is used to prune, default,
// and correlate objects; the caller must have pruned its defaults. The result shares memory with
// both, so do not modify them afterwards.
func Compile(props *apiextensionsv1.JSONSchemaProps, structural *structuralschema.Structural, minor int) (*Schema, error) {
	if props == nil || structural == nil || minor <= 0 {
		return nil, errors.New("schema: want a schema in both forms and a minor version")
	}
	c := &compiler{
		server:   server(minor),
		types:    map[string][]string{},
		patterns: map[string]*pattern{},
	}
	root, err := c.node(props, structural)
	if err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	return &Schema{root: root, server: c.server, marked: c.marked, settled: !c.unsettled && !root.embeds}, nil
}

// Property returns the schema of a property of the root, or nil if it does not exist.
func (s *Schema) Property(name string) *Schema {
	n := s.root.properties[name]
	if n == nil {
		return nil
	}
	return &Schema{root: n, server: s.server, marked: s.marked}
}

// Embedded reports whether objects can contain embedded resources. If not, ValidateEmbedded does
// nothing.
func (s *Schema) Embedded() bool { return s.root.embeds }

// Settled reports whether pruning and defaulting an object twice is certainly the same as doing it
// once.
func (s *Schema) Settled() bool { return s.settled }

// Validate validates a value for a create. Errors are reported below path. If the value needs too
// much work, the only error is an internal error whose Origin is WorkLimit; the value may or may
// not be valid.
func (s *Schema) Validate(path *field.Path, value any) field.ErrorList {
	return s.validate(path, value, oldValue{})
}

// ValidateUpdate validates a value for an update: errors of unchanged values are dropped. A nil old
// means that the value was absent or null.
func (s *Schema) ValidateUpdate(path *field.Path, value, old any) field.ErrorList {
	return s.validate(path, value, oldValue{known: true, value: old})
}

func (s *Schema) validate(path *field.Path, value any, was oldValue) (errs field.ErrorList) {
	m := meter{left: maxWork}
	defer m.stopped(path, &errs)
	if !s.marked && s.root.valid(value, &m) {
		return nil
	}
	r := report{thorough: s.marked, meter: &meter{left: m.left}} // a new meter, so that m does not escape to the heap
	r.value(s.root, value, nil, was)
	return r.fieldErrors(path, s.server)
}
