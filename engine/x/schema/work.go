package schema

import (
	"errors"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// WorkLimit is the Origin of the error of a value that was not checked: its
// patterns, formats and branches ask for more work than is done.
const WorkLimit = "workLimit"

// The limit is in units of about a nanosecond. What is checked once takes a
// thousandth of it.
const (
	maxWork     = 1 << 30
	perNode     = 8
	perReported = 64
)

// meter counts the work on one value.
type meter struct{ left int }

func (m *meter) spend(units int) {
	if m.left -= units; m.left < 0 {
		m.stop("its fields, branches and formats")
	}
}

// stop ends the check.
func (m *meter) stop(why string) { panic(overwork(why)) }

// overwork is what asks for too much.
type overwork string

// stopped makes the one error of a check that was ended.
func (m *meter) stopped(path *field.Path, errs *field.ErrorList) {
	switch why := recover().(type) {
	case nil:
	case overwork:
		*errs = field.ErrorList{field.InternalError(path, errors.New("too much work: "+string(why))).WithOrigin(WorkLimit)}
	default:
		panic(why)
	}
}

// maxShown is how much of a pattern an error shows.
const maxShown = 80
