package prove

// How it works. A script contains the formula (propositions and clauses) and the meaning of its
// propositions: a number is below a cut, a pattern matches a string, two values are equal. z3 and
// cvc5 can therefore use arithmetic and strings; package sat and this package only have orders and
// automata. Propositions without a meaning in SMT-LIB stay unconstrained, as in this package.

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/internal/testing/smtlib"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/analysis/prove/sat"
)

const maxScript = 16 << 20

type recording struct {
	clauses [][]sat.Lit
	atoms   []atom
}

type atom struct {
	lit      sat.Lit
	relation string
	a, b     alt
}

func (r *recording) clause(lits []sat.Lit) { r.clauses = append(r.clauses, slices.Clone(lits)) }

func (r *recording) meaning(l sat.Lit, relation string, a, b alt) {
	r.atoms = append(r.atoms, atom{l, relation, a, b})
}

func (w *formula) script(r *recording) string {
	s := &scriptWriter{numbers: map[*content]int{}}
	for i, c := range w.contents {
		s.numbers[c] = i
	}
	last := w.free()
	for v := sat.Lit(0); v <= last; v += 2 {
		s.line("(declare-const p%d Bool)", int(v)/2)
	}
	for _, c := range w.contents {
		s.declare(c)
	}
	for _, c := range w.contents {
		s.meanings(c)
	}
	for _, a := range r.atoms {
		s.atom(a)
	}
	for _, clause := range r.clauses {
		names := make([]string, len(clause))
		for i, l := range clause {
			names[i] = literalName(l)
		}
		s.line("(assert (or false %s))", strings.Join(names, " "))
	}
	return s.String()
}

func literalName(l sat.Lit) string {
	if l&1 == 1 {
		return fmt.Sprintf("(not p%d)", int(l)/2)
	}
	return fmt.Sprintf("p%d", int(l)/2)
}

type scriptWriter struct {
	strings.Builder
	numbers map[*content]int
}

func (s *scriptWriter) line(format string, args ...any) {
	if s.Len() <= maxScript {
		fmt.Fprintf(s, format+"\n", args...)
	}
}

func (s *scriptWriter) number(c *content) string { return fmt.Sprintf("n%d", s.numbers[c]) }

func (s *scriptWriter) text(c *content) string { return fmt.Sprintf("s%d", s.numbers[c]) }

func (s *scriptWriter) size(c *content) string {
	if c.kind == types.String {
		return "(str.len " + s.text(c) + ")"
	}
	return fmt.Sprintf("l%d", s.numbers[c])
}

func (s *scriptWriter) declare(c *content) {
	switch c.kind {
	case types.Int:
		s.line("(declare-const %s Int)", s.number(c))
		s.line("(assert %s)", int64Term(s.number(c)))
	case types.Double:
		s.line("(declare-const %s Real)", s.number(c))
	case types.String:
		s.line("(declare-const %s String)", s.text(c))
	case types.List, types.Map:
		s.line("(declare-const %s Int)", s.size(c))
	}
}

func (s *scriptWriter) meanings(c *content) {
	switch c.kind {
	case types.Int, types.Double:
		for i, cut := range c.numbers.cuts {
			s.cut(c.numbers.lits[i], s.number(c), cut, c.kind == types.Double)
		}
	case types.String, types.List, types.Map:
		for i, cut := range c.sizes.cuts {
			s.cut(c.sizes.lits[i], s.size(c), cut, false)
		}
	}
	if c.kind != types.String {
		return
	}
	for _, m := range c.members {
		if term, ok := memberTerm(s.text(c), m.key); ok {
			s.line("(assert (= %s %s))", literalName(m.lit), term)
		}
	}
}

func (s *scriptWriter) cut(l sat.Lit, term string, c cut, whole bool) {
	op, value := "<", integerTerm(c.i)
	if whole {
		value = realTerm(c.f)
	}
	if c.closed {
		op = "<="
	}
	s.line("(assert (= %s (%s %s %s)))", literalName(l), op, term, value)
}

func memberTerm(text, key string) (term string, ok bool) {
	if exact, ok := strings.CutPrefix(key, "="); ok {
		quoted, err := smtlib.Text(exact)
		return "(= " + text + " " + quoted + ")", err == nil
	}
	by := key[2:]
	if key[:2] == "m~" {
		re, err := smtlib.Regex(by)
		return "(str.in_re " + text + " " + re + ")", err == nil
	}
	quoted, err := smtlib.Text(by)
	if err != nil {
		return "", false
	}
	switch key[:2] {
	case "s~":
		return "(str.prefixof " + quoted + " " + text + ")", true
	case "e~":
		return "(str.suffixof " + quoted + " " + text + ")", true
	case "c~":
		return "(str.contains " + text + " " + quoted + ")", true
	}
	return "", false
}

func (s *scriptWriter) atom(a atom) {
	x, sortX := s.value(a.a)
	y, sortY := s.value(a.b)
	switch {
	case sortX == "" || sortX != sortY:
	case a.relation == "int64":
		s.line("(assert (= %s %s))", literalName(a.lit), int64Term(x))
	case a.relation == "=" || sortX != "String": // SMT-LIB orders strings differently
		s.line("(assert (= %s (%s %s %s)))", literalName(a.lit), a.relation, x, y)
	}
}

func (s *scriptWriter) value(a alt) (term, sort string) {
	switch v := a.constant.(type) {
	case celtypes.Int:
		return integerTerm(int64(v)), "Int"
	case celtypes.Double:
		return realTerm(float64(v)), "Real"
	case celtypes.String:
		if text, err := smtlib.Text(string(v)); err == nil {
			return text, "String"
		}
	}
	switch {
	case a.op != "":
		return s.result(a)
	case a.place == nil:
	case a.size && hasSize(a.place.decl.Kind):
		return fmt.Sprintf("(+ %s %s)", s.size(a.place.content), integerTerm(a.plus)), "Int"
	case a.place.decl.Kind == types.Int:
		return s.number(a.place.content), "Int"
	case a.place.decl.Kind == types.Double:
		return s.number(a.place.content), "Real"
	case a.place.decl.Kind == types.String:
		return s.text(a.place.content), "String"
	}
	return "", ""
}

func (s *scriptWriter) result(a alt) (term, sort string) {
	x, sortX := s.value(a.parts[0])
	y, sortY := s.value(a.parts[1])
	if sortX != "Int" || sortY != "Int" || s.Len() > maxScript {
		return "", ""
	}
	return fmt.Sprintf("(%s %s %s)", a.op, x, y), "Int"
}

func integerTerm(n int64) string {
	if n < 0 {
		return "(- " + new(big.Int).Neg(big.NewInt(n)).String() + ")"
	}
	return fmt.Sprint(n)
}

func realTerm(f float64) string {
	r := new(big.Rat)
	if r.SetFloat64(f) == nil {
		return "" // no schema has infinity
	}
	term := fmt.Sprintf("(/ %s.0 %s.0)", new(big.Int).Abs(r.Num()), r.Denom())
	if r.Sign() < 0 {
		return "(- " + term + ")"
	}
	return term
}

func int64Term(term string) string {
	return fmt.Sprintf("(and (<= (- 9223372036854775808) %s) (<= %s 9223372036854775807))", term, term)
}
