package analysis

import (
	"fmt"
	"runtime/debug"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/analysis/work"
)

// InLanes distributes rules over lanes and runs the lanes on all cores. Rules with the same path
// share a lane. In each lane it calls do for one rule after another, with the rule's index and an
// Analyzer that charges the lane's meter. Apart from the lane's shared budget, a result does not
// depend on other questions.
func (a *Analyzer) InLanes(rules []engine.RuleRef, meters [work.Lanes]*work.Meter, do func(lane *Analyzer, i int) error) error {
	lanes := divide(rules)
	return work.InLanes(func(n int) (err error) {
		defer func() {
			if p := recover(); p != nil {
				err = &engine.InternalError{Reason: fmt.Sprint(p), Stack: debug.Stack()}
			}
		}()
		if len(lanes[n]) == 0 {
			return nil
		}
		lane, err := a.newLane()
		if err != nil {
			return err
		}
		lane.Charge(meters[n])
		for _, i := range lanes[n] {
			if err := do(lane, i); err != nil {
				return err
			}
		}
		return nil
	})
}

// divide returns the indexes of the rules of each lane.
func divide(rules []engine.RuleRef) (lanes [work.Lanes][]int) {
	byPath := map[string][]int{}
	var paths []string
	for i, rule := range rules {
		if byPath[rule.Path] == nil {
			paths = append(paths, rule.Path)
		}
		byPath[rule.Path] = append(byPath[rule.Path], i)
	}
	for i, path := range paths {
		lanes[i%work.Lanes] = append(lanes[i%work.Lanes], byPath[path]...)
	}
	return lanes
}
