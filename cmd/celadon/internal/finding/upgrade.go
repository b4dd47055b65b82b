package finding

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// Upgrade is the effect of a new CRD on an object stored under the old CRD.
type Upgrade struct {
	// Before and Now are the verdicts on creating the object under the old and the new CRD: valid,
	// invalid, or undecided.
	Before string `json:"before"`
	Now    string `json:"now"`
	// Unchanged is the new CRD's verdict on an update without changes.
	Unchanged string `json:"unchanged"`
	// Ratcheted is set if that update is accepted only because of ratcheting.
	Ratcheted bool `json:"ratcheted,omitempty"`
	// Changes are silent changes by pruning and defaulting.
	Changes []Change `json:"changes,omitempty"`
}

// Change is a changed field. An empty Before or After means that the field is absent.
type Change struct {
	Field  string `json:"field"`
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// RefusedOnCreate reports whether the object was accepted before and is rejected now.
func (u *Upgrade) RefusedOnCreate() bool { return u.Before == Valid && u.Now == Invalid }

// RefusedOnUpdate reports whether every update is rejected, even without changes.
func (u *Upgrade) RefusedOnUpdate() bool { return u.Unchanged == Invalid }

// Undecided reports whether any of the verdicts is undecided.
func (u *Upgrade) Undecided() bool {
	return u.Before == Undecided || u.Now == Undecided || u.Unchanged == Undecided
}

// Lossy reports whether a field is removed or gets another value.
func (u *Upgrade) Lossy() bool {
	for _, c := range u.Changes {
		if c.Before != "" {
			return true
		}
	}
	return false
}

// Finding reports whether the upgrade breaks or changes the object.
func (u *Upgrade) Finding() bool { return u.RefusedOnCreate() || u.RefusedOnUpdate() || u.Lossy() }

// UpgradeSummary counts the effects of an upgrade.
type UpgradeSummary struct {
	RefusedOnCreate int `json:"refusedOnCreate"`
	RefusedOnUpdate int `json:"refusedOnUpdate"`
	Ratcheted       int `json:"ratcheted"`
	Changed         int `json:"changed"`
	Undecided       int `json:"undecided,omitempty"`
}

// Add adds an object to the counts.
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
	untrusted.Fprintf(b, "upgrade: %d accepted before and rejected on create now, %d rejected on update even when unchanged, %d accepted by ratcheting, %d silently changed",
		s.RefusedOnCreate, s.RefusedOnUpdate, s.Ratcheted, s.Changed)
	if s.Undecided > 0 {
		untrusted.Fprintf(b, ", %d undecided", s.Undecided)
	}
	b.WriteString("\nceladon diff OLD NEW compares the CRDs themselves and finds breaking changes beyond these objects\n")
}

// Upgraded describes the effect of an upgrade on the object in a few lines.
func (o *Object) Upgraded() string {
	var b strings.Builder
	o.Upgrade.show(&b, o)
	return strings.TrimSpace(b.String())
}

// show writes the effect on an object, if there is any.
func (u *Upgrade) show(b *strings.Builder, o *Object) {
	var effects []string
	if u.RefusedOnCreate() {
		effects = append(effects, "accepted before, rejected on create now")
	}
	if u.RefusedOnUpdate() {
		effects = append(effects, "rejected on update even when unchanged")
	}
	if u.Before == Undecided {
		effects = append(effects, "undecided before")
	}
	if u.Now == Undecided {
		effects = append(effects, "undecided on create now")
	}
	if u.Unchanged == Undecided {
		effects = append(effects, "undecided on an unchanged update")
	}
	if u.Ratcheted {
		effects = append(effects, "accepted by ratcheting on an unchanged update")
	}
	if len(u.Changes) > 0 {
		effects = append(effects, "silently changed")
	}
	if len(effects) == 0 {
		return
	}
	untrusted.Fprintf(b, "%s: upgrade: %s: %s\n", o.locationText(), o.title(), strings.Join(effects, "; "))
	for _, c := range u.Changes {
		if c.Before != "" {
			untrusted.Fprintf(b, "  - %s: %s\n", c.Field, c.Before)
		}
		if c.After != "" {
			untrusted.Fprintf(b, "  + %s: %s\n", c.Field, c.After)
		}
	}
}
