package finding

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/types"
)

// Reports that are merged may come from anybody. What no run writes is refused
// before it is shown: other code trusts that it is not there.

// most is more than any count of a run: sums of many stay in an int.
const most = 1 << 48

func count(name string, n int64) error {
	if n < 0 || n > most {
		return fmt.Errorf("%s: %d (want 0 to %d)", name, n, int64(most))
	}
	return nil
}

// first is the first error.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

var (
	verdicts   = []string{Valid, Invalid, Skipped, Unreadable, Undecided, Ignored}
	answers    = []string{Valid, Invalid, Undecided}
	operations = []string{"", "create", "update"}
)

func oneOf(name, got string, want []string) error {
	if !slices.Contains(want, got) {
		return fmt.Errorf("%s: %.40q (want %q)", name, got, want)
	}
	return nil
}

// sound says what of an object no run writes. It puts in the empty lists that
// others count on.
func (o *Object) sound() error {
	if o.Causes == nil {
		o.Causes = []Cause{}
	}
	if o.Warnings == nil {
		o.Warnings = []string{}
	}
	if o.Verdict == Invalid && o.Status == nil {
		return fmt.Errorf("status: missing beside the verdict %s", o.Verdict)
	}
	if u := o.Upgrade; u != nil {
		if err := first(oneOf("before", u.Before, answers), oneOf("now", u.Now, answers), oneOf("unchanged", u.Unchanged, answers)); err != nil {
			return fmt.Errorf("upgrade: %w", err)
		}
	}
	return first(
		oneOf("verdict", o.Verdict, verdicts), oneOf("operation", o.Operation, operations),
		count("at", o.At), count("document", int64(o.Document)), count("item", int64(o.Item)), count("line", int64(o.Line)), count("cost", o.Cost),
		causesSound(o.Causes), placesSound(o.Strict),
	)
}

func (c *CRD) sound() error {
	if c.Causes == nil {
		c.Causes = []Cause{}
	}
	if c.Refused() && c.Status == nil {
		return fmt.Errorf("status: missing from a CRD that is refused")
	}
	return first(count("line", int64(c.Line)), causesSound(c.Causes), placesSound(c.Strict))
}

func causesSound(causes []Cause) error {
	for i := range causes {
		c := &causes[i]
		err := first(count("line", int64(c.Line)), count("column", int64(c.Column)))
		if c.Ref != nil && err == nil {
			err = count("index", int64(c.Ref.Index))
		}
		if err != nil {
			return fmt.Errorf("causes[%d]: %w", i, err)
		}
	}
	return nil
}

func placesSound(places []Place) error {
	for i, p := range places {
		if err := first(count("line", int64(p.Line)), count("column", int64(p.Column))); err != nil {
			return fmt.Errorf("strict[%d]: %w", i, err)
		}
	}
	return nil
}

// Sound says what of a part's last line no run writes.
func (e *PartEnd) Sound(s *Summary) error {
	for i, r := range e.Rules {
		if err := first(count("index", int64(r.Index)), count("runs", int64(r.Runs)), count("failed", int64(r.Failed)), count("cost", r.Cost)); err != nil {
			return fmt.Errorf("end.rules[%d]: %w", i, err)
		}
	}
	for i, k := range s.Kinds {
		if err := first(count("checked", int64(k.Checked)), count("invalid", int64(k.Invalid)), count("undecided", int64(k.Undecided)), count("cost", k.Cost)); err != nil {
			return fmt.Errorf("summary.kinds[%d]: %w", i, err)
		}
	}
	if err := first(count("documents", e.Documents), count("unselected", int64(e.Unselected))); err != nil {
		return fmt.Errorf("end: %w", err)
	}
	if s.Baseline != nil {
		if err := first(count("known", int64(s.Baseline.Known)), count("stale", int64(s.Baseline.Stale))); err != nil {
			return fmt.Errorf("summary.baseline: %w", err)
		}
	}
	if err := first(count("vanished", int64(s.Vanished))); err != nil {
		return fmt.Errorf("summary: %w", err)
	}
	return nil
}

// Sound says what of a part's first line no run writes.
func (h *PartHead) Sound() error {
	v, err := types.ParseVersion(h.KubeVersion)
	switch {
	case err != nil || v.String() != h.KubeVersion:
		return fmt.Errorf("kubeVersion: %.40q (want X.Y)", h.KubeVersion)
	case h.Kind != Kind || h.APIVersion != APIVersion:
		return fmt.Errorf("kind %.40q, apiVersion %.40q (want %s and %s)", h.Kind, h.APIVersion, Kind, APIVersion)
	case h.Shard.Of < 1 || h.Shard.Of > MaxShards || h.Shard.Index < 0 || h.Shard.Index >= h.Shard.Of:
		return fmt.Errorf("shard: %s (want I/N, I from 0 to N-1 and N up to %d)", h.Shard, MaxShards)
	case h.Sources < 0 || h.Sources > MaxShards:
		return fmt.Errorf("sources: %d (want 0 to %d)", h.Sources, MaxShards)
	}
	for _, n := range []struct{ what, name string }{{"source", h.Source}, {"run", h.Run}} {
		if n.name == "" {
			continue
		}
		if err := CheckSource(n.name); err != nil {
			return fmt.Errorf("%s: %w", n.what, err)
		}
	}
	return nil
}

// MaxShards is more than anybody starts.
const MaxShards = 10_000

// maxSource is how long the name of a source may be, in bytes: an ARN fits.
const maxSource = 512

// CheckSource says what is wrong with the name of a source, or of a run.
func CheckSource(name string) error {
	bad := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:/@", r))
	}
	switch {
	case name == "":
		return errors.New("want a name")
	case len(name) > maxSource:
		return fmt.Errorf("%d bytes: want no more than %d", len(name), maxSource)
	case strings.ContainsFunc(name, bad):
		return fmt.Errorf("%q: want letters, digits and - _ . : / @", name)
	}
	return nil
}
