package finding

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Upgrade is what a new CRD does to an object that exists under the old one.
type Upgrade struct {
	// Before and Now are the verdicts on a create under the old and the new CRD:
	// valid, invalid or undecided.
	Before string `json:"before"`
	Now    string `json:"now"`
	// Unchanged is the new CRD's verdict on an update that changes nothing.
	Unchanged string `json:"unchanged"`
	// Ratcheted is true where only ratcheting lets that update pass.
	Ratcheted bool `json:"ratcheted,omitempty"`
	// Changes are made silently, by pruning and defaulting.
	Changes []Change `json:"changes,omitempty"`
}

// Change is a field that is not what it was. "" is no field.
type Change struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// RefusedOnCreate: accepted before and refused now.
func (u *Upgrade) RefusedOnCreate() bool { return u.Before == Valid && u.Now == Invalid }

// RefusedOnUpdate: every update is refused, whatever it changes elsewhere.
func (u *Upgrade) RefusedOnUpdate() bool { return u.Unchanged == Invalid }

// Undecided is true where nobody can tell one of the verdicts.
func (u *Upgrade) Undecided() bool {
	return u.Before == Undecided || u.Now == Undecided || u.Unchanged == Undecided
}

// Lossy is true where the object loses what it had.
func (u *Upgrade) Lossy() bool {
	for _, c := range u.Changes {
		if c.Before != "" {
			return true
		}
	}
	return false
}

// Finding is true where the upgrade hurts the object.
func (u *Upgrade) Finding() bool { return u.RefusedOnCreate() || u.RefusedOnUpdate() || u.Lossy() }

// UpgradeSummary counts what an upgrade does.
type UpgradeSummary struct {
	RefusedOnCreate int `json:"refusedOnCreate"`
	RefusedOnUpdate int `json:"refusedOnUpdate"`
	Ratcheted       int `json:"ratcheted"`
	Changed         int `json:"changed"`
	Undecided       int `json:"undecided,omitempty"`
}

// Add counts one object.
func (s *UpgradeSummary) Add(u *Upgrade) {
	if u.RefusedOnCreate() {
		s.RefusedOnCreate++
	}
	if u.RefusedOnUpdate() {
		s.RefusedOnUpdate++
	}
	if u.Ratcheted {
		s.Ratcheted++
	}
	if len(u.Changes) > 0 {
		s.Changed++
	}
	if u.Undecided() {
		s.Undecided++
	}
}

func (s *UpgradeSummary) show(b *strings.Builder) {
	if s == nil {
		return
	}
	untrusted.Fprintf(b, "upgrade: %d accepted before and refused on create now, %d refused on update even when unchanged, %d saved by ratcheting, %d silently changed",
		s.RefusedOnCreate, s.RefusedOnUpdate, s.Ratcheted, s.Changed)
	if s.Undecided > 0 {
		untrusted.Fprintf(b, ", %d undecided", s.Undecided)
	}
	b.WriteString("\nceladon diff OLD NEW compares the CRDs themselves: it finds what they break beyond these objects\n")
}

// Upgraded is what an upgrade does to the object, in a few lines.
func (o *Object) Upgraded() string {
	var b strings.Builder
	o.Upgrade.show(&b, o)
	return strings.TrimSpace(b.String())
}

// show tells of one object that the upgrade touches.
func (u *Upgrade) show(b *strings.Builder, o *Object) {
	var what []string
	if u.RefusedOnCreate() {
		what = append(what, "accepted before, refused on create now")
	}
	if u.RefusedOnUpdate() {
		what = append(what, "refused on update even when unchanged")
	}
	if u.Before == Undecided {
		what = append(what, "undecided before")
	}
	if u.Now == Undecided {
		what = append(what, "undecided on create now")
	}
	if u.Unchanged == Undecided {
		what = append(what, "undecided on an unchanged update")
	}
	if u.Ratcheted {
		what = append(what, "saved by ratcheting on an unchanged update")
	}
	if len(u.Changes) > 0 {
		what = append(what, "silently changed")
	}
	if len(what) == 0 {
		return
	}
	untrusted.Fprintf(b, "%s: upgrade: %s: %s\n", o.place(), o.title(), strings.Join(what, "; "))
	for _, c := range u.Changes {
		if c.Before != "" {
			untrusted.Fprintf(b, "  - %s: %s\n", c.Field, c.Before)
		}
		if c.After != "" {
			untrusted.Fprintf(b, "  + %s: %s\n", c.Field, c.After)
		}
	}
}
