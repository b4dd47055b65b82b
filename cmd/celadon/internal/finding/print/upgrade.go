package print

import (
	"fmt"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// UpgradeCounts returns the counts of an upgrade, except for undecided objects.
func UpgradeCounts(s *finding.UpgradeSummary) string {
	return fmt.Sprintf("%d accepted before and rejected on create now, %d rejected on update even when unchanged, %d accepted by ratcheting, %d silently changed",
		s.RejectedOnCreate, s.RejectedOnUpdate, s.Ratcheted, s.Changed)
}

// showUpgrades writes the counts of an upgrade, if there is one.
func showUpgrades(b *strings.Builder, s *finding.UpgradeSummary) {
	if s == nil {
		return
	}
	b.WriteString("upgrade: " + UpgradeCounts(s))
	if s.Undecided > 0 {
		untrusted.Fprintf(b, ", %d undecided", s.Undecided)
	}
	b.WriteString("\nceladon diff OLD NEW compares the CRDs themselves and finds breaking changes beyond these objects\n")
}

// Upgraded describes the effect of an upgrade on the object in a few lines.
func Upgraded(o *finding.Object) string {
	var b strings.Builder
	showUpgrade(&b, o)
	return strings.TrimSpace(b.String())
}

// showUpgrade writes the effect of an upgrade on an object, if there is any.
func showUpgrade(b *strings.Builder, o *finding.Object) {
	u := o.Upgrade
	var what []string
	for _, effect := range []struct {
		is   bool
		text string
	}{
		{u.RejectedOnCreate(), "accepted before, rejected on create now"},
		{u.RejectedOnUpdate(), "rejected on update even when unchanged"},
		{u.Before == finding.Undecided, "undecided before"},
		{u.Now == finding.Undecided, "undecided on create now"},
		{u.Unchanged == finding.Undecided, "undecided on an unchanged update"},
		{u.Ratcheted, "accepted by ratcheting on an unchanged update"},
		{len(u.Changes) > 0, "silently changed"},
	} {
		if effect.is {
			what = append(what, effect.text)
		}
	}
	if len(what) == 0 {
		return
	}
	untrusted.Fprintf(b, "%s: upgrade: %s: %s\n", place(o), title(o), strings.Join(what, "; "))
	for _, c := range u.Changes {
		if c.Before != "" {
			untrusted.Fprintf(b, "  - %s: %s\n", c.Field, c.Before)
		}
		if c.After != "" {
			untrusted.Fprintf(b, "  + %s: %s\n", c.Field, c.After)
		}
	}
}
