package finding

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

// RejectedOnCreate reports whether the object was accepted before and is rejected now.
func (u *Upgrade) RejectedOnCreate() bool { return u.Before == Valid && u.Now == Invalid }

// RejectedOnUpdate reports whether every update is rejected, even without changes.
func (u *Upgrade) RejectedOnUpdate() bool { return u.Unchanged == Invalid }

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
func (u *Upgrade) Finding() bool { return u.RejectedOnCreate() || u.RejectedOnUpdate() || u.Lossy() }

// UpgradeSummary counts the effects of an upgrade.
type UpgradeSummary struct {
	RejectedOnCreate int `json:"refusedOnCreate"`
	RejectedOnUpdate int `json:"refusedOnUpdate"`
	Ratcheted        int `json:"ratcheted"`
	Changed          int `json:"changed"`
	Undecided        int `json:"undecided,omitempty"`
}

// Add adds an object to the counts.
func (s *UpgradeSummary) Add(u *Upgrade) {
	if u.RejectedOnCreate() {
		s.RejectedOnCreate++
	}
	if u.RejectedOnUpdate() {
		s.RejectedOnUpdate++
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
