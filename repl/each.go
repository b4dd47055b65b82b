package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/google/cel-go/cel"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/assist"
)

// maxColumn limits the columns of a value in a table of objects.
const maxColumn = 200

// maxDistinct limits the distinct values that are counted.
const maxDistinct = 10_000

// splitWhere splits the argument of :each into an expression and the condition after "where".
func splitWhere(arg string) (src, where string, err error) {
	at := whereAt(arg)
	if at < 0 {
		return arg, "", nil
	}
	text := []rune(arg)
	src, where = strings.TrimSpace(string(text[:at])), strings.TrimSpace(string(text[at+len("where"):]))
	if where == "" {
		err = errors.New("no condition given after where: use :each EXPR where EXPR")
	}
	return src, where, err
}

// whereAt returns the position of "where" between two expressions, in code points, or -1.
func whereAt(arg string) int {
	depth := 0
	tokens := lex.Tokens([]rune(arg))
	for i, t := range tokens {
		depth += lex.Depth(t)
		if depth == 0 && i > 0 && t.Kind == lex.Ident && t.Text == "where" && endsOperand(tokens[i-1]) {
			return t.Start
		}
	}
	return -1
}

// endsOperand reports whether an operand can end with t.
func endsOperand(t lex.Token) bool {
	return lex.EndsOperand(t) || t.Kind == lex.Number || t.Text == "}"
}

// A sample is an object of the collection, by its index, with the error for it.
type sample struct {
	object int
	err    error
}

// A sampleCount holds the number of objects of a category, and the first.
type sampleCount struct {
	n     int
	first sample
}

func (c *sampleCount) add(n int, first sample) {
	if c.n == 0 {
		c.first = first
	}
	c.n += n
}

// misses counts the objects and elements that have no row.
type misses struct {
	absent, broken, unclear sampleCount // no value at the path; unprepared; the condition failed
}

func (m *misses) append(more *misses) {
	for i, c := range m.counts() {
		if from := more.counts()[i]; from.n > 0 {
			c.add(from.n, from.first)
		}
	}
}

func (m *misses) counts() []*sampleCount { return []*sampleCount{&m.absent, &m.broken, &m.unclear} }

// text returns a line for each category.
func (m *misses) text(s *Session, c *collection) string {
	var b strings.Builder
	namespaced := s.state.crd.engine.Info().Namespaced
	example := func(n *sampleCount) string {
		return c.name(n.first.object, namespaced) + ": " + shortened(n.first.err.Error())
	}
	if n := &m.absent; n.n > 0 {
		fmt.Fprintf(&b, "no value: %s (%s)\n", counted(n.n, "object"), example(n))
	}
	if n := &m.broken; n.n > 0 {
		fmt.Fprintf(&b, "not evaluated: %s (%s)\n", counted(n.n, "object"), example(n))
	}
	if n := &m.unclear; n.n > 0 {
		fmt.Fprintf(&b, "the condition fails on %s (%s)\n", count(n.n), example(n))
	}
	return b.String()
}

// A manyRow is a row with its object.
type manyRow struct {
	Row
	object int
}

// evaluateAll evaluates an expression for all objects of the collection, on all cores. It calls visit for
// each row of a block of objects, and merge with the results of the blocks in the order of the objects.
// where can be nil.
func evaluateAll[T any](ctx context.Context, s *Session, x, where *Evaluator, visit func(*T, *manyRow), merge func(*T)) (misses, error) {
	type block struct {
		misses misses
		result T
	}
	c := s.many()
	var all misses
	err := sweep(ctx, c.store.Len(), func(from, to int) *block {
		b := new(block)
		for i := from; i < to && ctx.Err() == nil; i++ {
			s.visitRows(ctx, c, i, x, where, &b.misses, func(r *manyRow) { visit(&b.result, r) })
		}
		return b
	}, func(b *block) {
		all.append(&b.misses)
		merge(&b.result)
	})
	return all, err
}

// visitRows calls visit for the rows of object i for which the condition is true.
func (s *Session) visitRows(ctx context.Context, c *collection, i int, x, where *Evaluator, m *misses, visit func(*manyRow)) {
	p := x.prepare(c.store.Object(i), s.knownOlds().of(c.store.Head(i)))
	var absent *NoValueError
	switch {
	case errors.As(p.err, &absent):
		m.absent.add(1, sample{i, errors.New(absent.Reason)})
		return
	case p.err != nil:
		m.broken.add(1, sample{i, p.err})
		return
	}
	for _, path := range p.paths {
		if ctx.Err() != nil {
			return
		}
		if where != nil {
			switch met := where.evaluate(ctx, p.Prepared, path); {
			case met.Err != nil:
				m.unclear.add(1, sample{i, met.Err})
				continue
			case !met.Value.True():
				continue
			}
		}
		visit(&manyRow{x.row(ctx, p.Prepared, path), i})
	}
}

// evaluators compiles an expression and a condition, which may be empty.
func (s *Session) evaluators(src, where string) (x, condition *Evaluator, err error) {
	if x, err = s.everywhere(src); err != nil || where == "" {
		return x, nil, err
	}
	if condition, err = s.everywhere(where); err != nil {
		return nil, nil, err
	}
	if condition.x.Type() != cel.BoolType {
		return nil, nil, fmt.Errorf("the condition after where must be a boolean (got %s)", assist.TypeWords(condition.x))
	}
	return x, condition, nil
}

// valueText returns the value or the error of a row, on a line.
func (r *Row) valueText() string {
	if r.Err != nil {
		return "error: " + cutText(r.Err.Error())
	}
	return cutText(r.Value.String())
}

func cutText(text string) string {
	if len(text) > maxNameBytes {
		text = text[:maxNameBytes]
	}
	return termwidth.Cut(printable(lex.OneLine(text)), maxColumn)
}

// each implements :each. It prints a table with the value for each object.
func each(ctx context.Context, s *Session, arg string) (string, error) {
	c, err := s.needMany()
	if err != nil {
		return "", err
	}
	src, condition, err := splitWhere(arg)
	if err != nil {
		return "", err
	}
	x, where, err := s.evaluators(src, condition)
	if err != nil {
		return "", err
	}
	type block struct {
		rows  [][]string
		total int
	}
	namespaced := s.state.crd.engine.Info().Namespaced
	var merged block
	var full atomic.Bool // the first blocks have enough rows
	missed, err := evaluateAll(ctx, s, x, where, func(b *block, r *manyRow) {
		if b.total++; len(b.rows) < maxRows && !full.Load() {
			b.rows = append(b.rows, eachRow(c, r, namespaced))
		}
	}, func(b *block) {
		merged.total += b.total
		merged.rows = append(merged.rows, b.rows[:min(len(b.rows), maxRows-len(merged.rows))]...)
		full.Store(len(merged.rows) == maxRows)
	})
	if err != nil {
		return "", err
	}
	text := table(merged.rows, s.Width)
	if more := merged.total - len(merged.rows); more > 0 {
		text += fmt.Sprintf("and %s more\n", count(more))
	}
	if merged.total == 0 {
		text = fmt.Sprintf("no rows for %s\n", counted(c.store.Len(), "object"))
	}
	return text + missed.text(s, c), nil
}

func eachRow(c *collection, r *manyRow, namespaced bool) []string {
	name := c.name(r.object, namespaced)
	if r.Path != "" {
		return []string{name, shortened(r.Path), r.valueText()}
	}
	return []string{name, r.valueText()}
}

// A distinctValue is a value or an error, with its number.
type distinctValue struct {
	text  string
	n     int
	first int // the first object
}

// distinctValues holds up to maxDistinct values in the order in which they were added. others is the number
// of rows with other values.
type distinctValues struct {
	list   []*distinctValue
	byText map[string]*distinctValue
	others int
}

func (d *distinctValues) add(v distinctValue) {
	switch known := d.byText[v.text]; {
	case known != nil:
		known.n += v.n
	case len(d.list) < maxDistinct:
		if d.byText == nil {
			d.byText = map[string]*distinctValue{}
		}
		d.byText[v.text] = &v
		d.list = append(d.list, &v)
	default:
		d.others += v.n
	}
}

// countValues counts the texts of all rows, the most frequent first.
func (s *Session) countValues(ctx context.Context, x *Evaluator, textOf func(*manyRow) string) (values distinctValues, missed misses, err error) {
	missed, err = evaluateAll(ctx, s, x, nil, func(b *distinctValues, r *manyRow) {
		b.add(distinctValue{textOf(r), 1, r.object})
	}, func(b *distinctValues) {
		for _, v := range b.list {
			values.add(*v)
		}
		values.others += b.others
	})
	slices.SortStableFunc(values.list, func(a, b *distinctValue) int {
		return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.text, b.text))
	})
	return values, missed, err
}

// everywhereInMany returns the collection, and compiles an expression for its objects.
func (s *Session) everywhereInMany(src string) (*collection, *Evaluator, error) {
	c, err := s.needMany()
	if err != nil {
		return nil, nil, err
	}
	x, err := s.everywhere(src)
	return c, x, err
}

// distinct implements :distinct. It prints the distinct values, the most frequent first.
func distinct(ctx context.Context, s *Session, arg string) (string, error) {
	c, x, err := s.everywhereInMany(arg)
	if err != nil {
		return "", err
	}
	values, missed, err := s.countValues(ctx, x, func(r *manyRow) string { return r.valueText() })
	if err != nil {
		return "", err
	}
	var cells [][]string
	for _, v := range values.list[:min(len(values.list), maxRows)] {
		cells = append(cells, []string{count(v.n), v.text})
	}
	text := table(cells, s.Width)
	switch more := len(values.list) - len(cells); {
	case values.others > 0:
		text += fmt.Sprintf("and over %s more values\n", count(more))
	case more > 0:
		text += fmt.Sprintf("and %s more\n", counted(more, "value"))
	}
	return text + missed.text(s, c), nil
}

// countCommand implements :count. It counts the objects, or the elements, for which a boolean is true, is
// false, or fails. For another expression, it counts the values of each type.
func countCommand(ctx context.Context, s *Session, arg string) (string, error) {
	c, x, err := s.everywhereInMany(arg)
	if err != nil {
		return "", err
	}
	values, missed, err := s.countValues(ctx, x, func(r *manyRow) string {
		switch {
		case r.Err != nil:
			return "error"
		case r.Value.True():
			return "true"
		case r.Value.False():
			return "false"
		}
		return r.Value.val.Type().TypeName()
	})
	if err != nil {
		return "", err
	}
	var cells [][]string
	for _, v := range values.list {
		cells = append(cells, []string{v.text, count(v.n), s.firstOf(ctx, c, x, v)})
	}
	text := table(cells, s.Width)
	if x.inElements() {
		text += "elements at " + phrase.Path(engine.FormatPath(x.pattern)) + "\n"
	}
	return text + missed.text(s, c), nil
}

// firstOf returns the name of the first object of a count, with its first error.
func (s *Session) firstOf(ctx context.Context, c *collection, x *Evaluator, v *distinctValue) string {
	text := c.name(v.first, s.state.crd.engine.Info().Namespaced)
	if v.text == "error" {
		s.visitRows(ctx, c, v.first, x, nil, &misses{}, func(r *manyRow) {
			if r.Err != nil && !strings.Contains(text, ": ") {
				text += ": " + cutText(r.Err.Error())
			}
		})
	}
	if v.n > 1 {
		text += ", …"
	}
	return "(" + text + ")"
}

// completeEach completes the expression, or the condition after where.
func completeEach(s *Session, arg string) assist.Completion {
	text := []rune(arg)
	from := 0
	if at := whereAt(arg); at >= 0 && at+len("where") < len(text) {
		from = at + len("where")
	}
	c := s.completeExpr(text[from:])
	c.Start += from
	return c
}
