// Package work provides a meter for the work that an analysis may do.
//
// Work is counted, never timed, so the same input always gets the same result. One unit is about
// the work of visiting a value of an object.
package work

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"

	"github.com/celadon-cel/celadon/engine"
)

// A Meter holds the rest of a budget. A nil Meter has no limit. A Meter is not safe for concurrent
// use: each lane of a run has its own.
type Meter struct {
	left, spent int64
	unanswered  int64  // the rest for questions without a result
	outer       *Meter // also charged, if not nil
	name        string // of the budget
}

// NewMeter returns a meter with a limit.
func NewMeter(limit int64) *Meter {
	return &Meter{left: limit, unanswered: limit, name: run}
}

// Within returns a meter with a limit of its own that also charges m.
func (m *Meter) Within(limit int64) *Meter {
	return &Meter{left: limit, unanswered: limit, name: "one search", outer: m}
}

const run = "this run"

// Spend charges n units.
func (m *Meter) Spend(n int) {
	for ; m != nil; m = m.outer {
		m.left -= int64(n)
		m.spent += int64(n)
	}
}

// Empty reports whether the budget of m, or of a meter that m charges, is used up.
func (m *Meter) Empty() bool {
	for ; m != nil; m = m.outer {
		if m.left <= 0 || m.unanswered <= 0 {
			return true
		}
	}
	return false
}

// Unanswered charges n units, which Spend has charged already, to the part of the budget that is
// for questions without a result.
func (m *Meter) Unanswered(n int64) {
	if m != nil {
		m.unanswered -= n
	}
}

// Spent returns the work that was charged so far.
func (m *Meter) Spent() int64 {
	if m == nil {
		return 0
	}
	return m.spent
}

// Reason returns why a question has no result, or "" if the budget is not used up.
func (m *Meter) Reason() string {
	if !m.Empty() {
		return ""
	}
	for m.outer.Empty() {
		m = m.outer
	}
	return "the work budget of " + m.name + " is used up"
}

// MaxDepth is the depth to which paths are followed, because much of the work grows
// with the square of the depth. Real schemas are up to 30 levels deep.
const MaxDepth = 500

// TooDeep returns why a path of a depth is not followed.
func TooDeep(depth int) string {
	return fmt.Sprintf("it is %d levels deep, and the analysis goes no deeper than %d", depth, MaxDepth)
}

// The budgets. A question about a large schema takes more work than a question about a small schema, so a run gets more
// for each schema node. Questions with a result may take much more than other questions, because real CRDs have few
// questions without a result. Few rules fail or exceed the budget, so questions about these outcomes mostly have no
// result: each counts as several (RareQuestion).
const (
	// When these were set, the largest real CRDs used up to four fifths of a budget: 369 questions about the
	// 1,114 nodes of HostedCluster took 1,100 million units, and one question 24 million.
	QuestionLimit = 32_000_000

	runLimit       = 60_000_000
	runPerQuestion = 100_000
	runPerNode     = 4_000 // for each question

	unansweredLimit       = 40_000_000
	unansweredPerQuestion = 230_000
	unansweredPerNode     = 300 // for each question

	// RareQuestion is the weight, in ordinary questions, of a question about an error or an exceeded budget.
	RareQuestion = 6

	maxQuestions = 2000 // that make a budget larger
	maxNodes     = 1500 // nodes that make a budget larger

	// MaxRun limits the work of a run, and of all runs of a command that share it. A unit takes about 80 ns,
	// so this is less than two minutes of processor time.
	MaxRun = 1_400_000_000
	// minRun is left for a run if earlier runs of the command used up the rest.
	minRun = 2_000_000
)

// InLanes calls do for each lane, concurrently, and returns the joined errors. A panic of do becomes an
// *engine.InternalError.
func InLanes(do func(lane int) error) error {
	queue := make(chan int, Lanes)
	for i := range Lanes {
		queue <- i
	}
	close(queue)
	var errs [Lanes]error
	var workers sync.WaitGroup
	recovering := func(i int) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
			}
		}()
		return do(i)
	}
	for range min(runtime.GOMAXPROCS(0), Lanes) {
		workers.Go(func() {
			for i := range queue {
				errs[i] = recovering(i)
			}
		})
	}
	workers.Wait()
	return errors.Join(errs[:]...)
}

// Lanes is the number of parts into which the questions of a run are divided. It
// does not depend on the number of cores, because the results must not depend on it.
const Lanes = 4

// NewRun returns the meter of a run that asks questions, one after another, about a schema with the
// given number of nodes.
func NewRun(questions, nodes int) *Meter {
	q, n := int64(min(questions, maxQuestions)), int64(min(nodes, maxNodes))
	return &Meter{
		left:       min(runLimit+q*(runPerQuestion+runPerNode*n), MaxRun),
		unanswered: unansweredLimit + q*(unansweredPerQuestion+unansweredPerNode*n),
		name:       run,
	}
}

// After limits m to the rest of MaxRun after an amount of earlier work, but at least to minRun. It returns m.
func (m *Meter) After(earlier int64) *Meter {
	m.left = min(m.left, max(MaxRun-earlier, minRun))
	return m
}

// Split returns a meter for each lane of a run. A lane asks its questions one after another.
func Split(questions, nodes int) [Lanes]*Meter { return NewRun(questions, nodes).Split() }

// Split divides the rest of m between the lanes of a run. m must not be used afterward.
func (m *Meter) Split() [Lanes]*Meter {
	var lanes [Lanes]*Meter
	for i := range lanes {
		lanes[i] = &Meter{left: m.left / Lanes, unanswered: m.unanswered / Lanes, name: run}
	}
	return lanes
}
