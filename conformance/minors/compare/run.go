package compare

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

// A Run compares the verdicts of an Oracle and a Server and counts the results.
type Run struct {
	Minor  int
	Oracle *Oracle
	Server *Server

	// CRDs, Rules, and Writes count the compared verdicts, Undecided the CRDs and writes that exceed Celadon's work
	// limits, and Random the verdicts that depend on the order of a Go map.
	CRDs, Rules, Writes, Undecided, Random int
	// Compiled counts the rules that compile, Accepted the accepted writes.
	Compiled, Accepted int
	// Reasons counts known differences, Classes others. Examples has one of each class.
	Reasons, Classes map[string]int
	Examples         map[string]string
}

// maxShuffles limits how often a CRD or a write is repeated whose verdicts differ.
const maxShuffles = 100

// Case compares the verdicts on a CRD and its writes.
func (r *Run) Case(ctx context.Context, c *Case) error {
	if err := r.crd(ctx, c); err != nil {
		return fmt.Errorf("%s: %w", c.Name, err)
	}
	for i, w := range c.Writes {
		if err := r.Write(ctx, fmt.Sprintf("%s, write %d", c.Name, i), w); err != nil {
			return fmt.Errorf("%s, write %d: %w", c.Name, i, err)
		}
	}
	return nil
}

func (r *Run) crd(ctx context.Context, c *Case) error {
	got, err := r.Server.CRD(ctx, c.CRD)
	if errors.Is(err, ErrUndecided) {
		r.Undecided++
		return nil
	}
	if err != nil {
		return err
	}
	want, err := r.Oracle.CRD(c.CRD)
	if err != nil {
		return err
	}
	r.CRDs++
	r.Rules += len(want[rule])
	for _, line := range want[rule] {
		if compiles(line) {
			r.Compiled++
		}
	}
	differences := Differences(want, got)
	for n := 0; n < maxShuffles && len(differences) > 0; n++ { // rules can depend on the order of a map in a default
		again, err := r.Oracle.CRD(c.CRD)
		if err != nil {
			return err
		}
		if len(Differences(again, got)) == 0 {
			differences = nil
			r.Random++
		}
	}
	r.count(c.Name, differences)
	return nil
}

// Write compares the verdicts on a write.
func (r *Run) Write(ctx context.Context, name string, w *Write) error {
	// The libraries may allocate all memory for a write that exceeds Celadon's work limits.
	got, err := r.Server.Write(ctx, w)
	if errors.Is(err, ErrUndecided) {
		r.Undecided++
		return nil
	}
	if err != nil {
		return err
	}
	want, err := r.Oracle.Write(w)
	if err != nil {
		return err
	}
	r.Writes++
	if len(want[persisted]) > 0 {
		r.Accepted++
	}
	differences := Differences(want, got)
	if len(differences) > 0 {
		_, err := r.Oracle.Shuffled(w, maxShuffles, func(more []Verdict) bool {
			if !Within(append([]Verdict{want}, more...), got) {
				return false
			}
			differences = nil
			r.Random++
			return true
		})
		if err != nil {
			return err
		}
	}
	r.count(name, differences)
	return nil
}

// count counts the first difference that has a known reason. If none has, it counts the class of each difference.
func (r *Run) count(name string, differences []Difference) {
	for i := range differences {
		d := &differences[i]
		if reason := Known(d, r.Minor); reason != "" {
			r.Reasons[reason]++
			return
		}
	}
	for i := range differences {
		d := &differences[i]
		class := d.Class()
		if r.Classes[class]++; r.Classes[class] == 1 {
			r.Examples[class] = name + " " + d.String()
		}
	}
}

// Print prints the counts and an example of each class, the most frequent first.
func (r *Run) Print(out io.Writer) {
	fmt.Fprintf(out, "1.%d: %d CRDs, %d rules (%d compile), %d writes (%d accepted); %d depend on the order of a map, %d undecided\n",
		r.Minor, r.CRDs, r.Rules, r.Compiled, r.Writes, r.Accepted, r.Random, r.Undecided)
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		fmt.Fprintf(out, "1.%d: %d known: %s\n", r.Minor, r.Reasons[reason], reason)
	}
	classes := slices.SortedFunc(maps.Keys(r.Classes), func(a, b string) int { return r.Classes[b] - r.Classes[a] })
	for _, class := range classes {
		fmt.Fprintf(out, "1.%d: %d differ: %s\n%s", r.Minor, r.Classes[class], class, r.Examples[class])
	}
}

// enoughCRDs is the number of CRDs from which the shares of known differences are limited. Celadon's
// own CRDs have many known differences.
const enoughCRDs = 1000

// TooManyKnown returns the reasons that explain more differences than allowed.
func (r *Run) TooManyKnown() (reasons []string) {
	for _, reason := range slices.Sorted(maps.Keys(r.Reasons)) {
		if r.CRDs >= enoughCRDs && float64(r.Reasons[reason]) > allowed(reason)*float64(r.Rules+r.Writes) {
			reasons = append(reasons, reason)
		}
	}
	return reasons
}
