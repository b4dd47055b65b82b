package schema

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WorkLimit is the Origin of the error for a value that was not fully checked, because its
// patterns, formats, and branches need more work than allowed.
const WorkLimit = "workLimit"

// The work limit, in units of about a nanosecond. Ordinary values need a thousandth of it.
const (
	maxWork     = 1 << 30
	perNode     = 8
	perReported = 64
)

// A meter counts down the work on a value.
type meter struct{ left int }

func (m *meter) spend(units int) {
	if m.left -= units; m.left < 0 {
		m.stop("its fields, branches and formats")
	}
}

// stop ends the check.
func (m *meter) stop(why string) { panic(overwork(why)) }

// overwork is the panic value of a check that needs too much work. It describes the work.
type overwork string

// stopped recovers the panic of a meter and replaces errs with its error.
func (m *meter) stopped(path *field.Path, errs *field.ErrorList) {
	switch why := recover().(type) {
	case nil:
	case overwork:
		*errs = field.ErrorList{field.InternalError(path, errors.New("too much work: "+string(why))).WithOrigin(WorkLimit)}
	default:
		panic(why)
	}
}

// maxShown is the maximum length of a pattern in an error.
const maxShown = 80
