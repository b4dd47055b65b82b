package celenv

import (
	"github.com/celadon-cel/celadon/types"
)

// An invalidTotal is the work for the invalid expressions of a scope. Only cel-go has their errors,
// and each error repeats a line of the source, so they take far more time and memory than valid
// expressions. Reports multiply it: they compile the expressions for each Kubernetes version.
type invalidTotal struct {
	count, units int
}

// maxInvalid limits the work for the invalid expressions of a scope, in units of about a microsecond.
// It is enough for 700 short rules.
const maxInvalid = 250_000

// The units of an invalid expression: for cel-go's checker, for a byte of the source, and for as many
// bytes of errors.
const (
	unitsPerExpression = 300
	unitsPerByte       = 5
	errorBytesPerUnit  = 5
)

// The units of the environment in which cel-go finds the errors, and for a node of its types.
const (
	envUnits     = 200
	unitsPerNode = 2
)

func (t *invalidTotal) exceeded() bool { return t.units > maxInvalid }

// add adds an expression with its error, which is nil if it is valid after all. units is the work that
// its source and its error do not show.
func (t *invalidTotal) add(src string, err error, units int) {
	if err == nil {
		return
	}
	t.count++
	t.units += units + unitsPerExpression + unitsPerByte*len(src) + len(err.Error())/errorBytesPerUnit
}

// nodes returns the number of declarations in d, which may be nil.
func nodes(d *types.Decl) int {
	if d == nil {
		return 0
	}
	n := 1 + nodes(d.Elem)
	for _, f := range d.Fields {
		n += nodes(f.Decl)
	}
	return n
}

// A reportTotal is the size of the errors that were reported. An expression that occurs several times is
// compiled once, but each occurrence is reported.
type reportTotal struct{ count, bytes int }

// maxReported limits the errors that are reported for a scope, in bytes.
const maxReported = 1 << 20

// reportBytes is the size of a report beyond the text of its error.
const reportBytes = 600

// Report counts an error that is reported for an expression of the scope. It returns an error instead if
// the earlier errors reached the limit.
func (s *Scope) Report(text string) *ComplexError {
	if s.reported.bytes > maxReported {
		return &ComplexError{invalid: s.reported.count}
	}
	s.reported.count++
	s.reported.bytes += reportBytes + len(text)
	return nil
}
