package diff

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// Report is the report of celadon diff, as -o json writes it.
type Report struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	// Compatible: nothing breaks, but for what is allowed. Proved: that is no
	// matter of what was found.
	Compatible bool    `json:"compatible"`
	Proved     bool    `json:"proved"`
	Summary    Summary `json:"summary"`
	CRDs       []*CRD  `json:"crds"`
	// Objects are those of --objects to which the change does something.
	Objects []*finding.Object `json:"objects,omitempty"`
}

// Summary counts changes, and objects.
type Summary struct {
	CRDs       int `json:"crds"`
	Breaking   int `json:"breaking"`
	Loosening  int `json:"loosening"`
	Equivalent int `json:"equivalent"`
	Unknown    int `json:"unknown"`
	// Allowed are the breaking and the unknown changes that a file allows; they
	// are not counted as such.
	Allowed int `json:"allowed,omitempty"`
	// Refused are CRDs that the server would not take.
	Refused    int `json:"refused,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
	// Objects are those that were given, and what the change does to them.
	Objects *Objects `json:"objects,omitempty"`
	// Interrupted: not all was compared.
	Interrupted bool `json:"interrupted,omitempty"`

	unproved int // changes of which nothing is known but that nothing was found
}

// Objects counts the objects of --objects.
type Objects struct {
	Checked int `json:"checked"`
	finding.UpgradeSummary
}

// CRD is what was found of one.
type CRD struct {
	Name string `json:"name"`
	// OldFile and NewFile are where it stands; "" where it does not.
	OldFile string `json:"oldFile,omitempty"`
	NewFile string `json:"newFile,omitempty"`
	OldLine int    `json:"oldLine,omitempty"`
	NewLine int    `json:"newLine,omitempty"`
	// Update is what the server says to the CRD itself, in the place of the old.
	Update  *finding.CRD `json:"update,omitempty"`
	Changes []*Change    `json:"changes"`

	limited int // changes for which the work budget was too small
}

// Change is one change of a CRD.
type Change struct {
	Version    string         `json:"version,omitempty"`
	OldVersion string         `json:"oldVersion,omitempty"`
	Also       []string       `json:"alsoVersions,omitempty"`
	Path       string         `json:"path"`
	What       string         `json:"what"`
	Old        string         `json:"old"`
	New        string         `json:"new"`
	Effect     compare.Effect `json:"effect"`
	By         compare.Basis  `json:"by"`
	Proof      string         `json:"proof,omitempty"`
	Reason     string         `json:"reason,omitempty"`
	Searched   int            `json:"searched"`
	Refused    *Witness       `json:"refused,omitempty"`
	Admitted   *Witness       `json:"admitted,omitempty"`
	Kept       *Witness       `json:"kept,omitempty"`
	OldLine    int            `json:"oldLine,omitempty"`
	NewLine    int            `json:"newLine,omitempty"`
	// Allowed is the reason why the change is accepted.
	Allowed string `json:"allowed,omitempty"`
}

// Witness is an object, and what the other CRD makes of it.
type Witness struct {
	Operation       string           `json:"operation,omitempty"`
	Object          map[string]any   `json:"object"`
	Old             map[string]any   `json:"old,omitempty"`
	Create          compare.Verdict  `json:"create,omitempty"`
	ChangedUpdate   compare.Verdict  `json:"changedUpdate,omitempty"`
	UnchangedUpdate compare.Verdict  `json:"unchangedUpdate,omitempty"`
	Causes          []Cause          `json:"causes,omitempty"`
	Kept            []finding.Change `json:"kept,omitempty"`
	// Hidden are places of format password.
	Hidden []string `json:"hidden,omitempty"`
}

// Cause is one reason for a refusal, in the server's words.
type Cause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// breaks: something that was served is not served as well.
func (c *Change) breaks() bool { return c.Effect == compare.Breaking || c.Effect == compare.Both }

// unproved: nothing was found to break, and nothing shows that nothing does.
func (c *Change) unproved() bool { return !c.breaks() && c.By == compare.BySearch }

func (s *Summary) count(crd *CRD) {
	s.CRDs++
	if crd.Update != nil && crd.Update.Refused() {
		s.Refused++
	}
	for _, c := range crd.Changes {
		switch {
		case c.Allowed != "":
			s.Allowed++
			continue
		case c.breaks():
			s.Breaking++
		case c.Effect == compare.Unknown:
			s.Unknown++
		case c.Effect == compare.Loosening:
			s.Loosening++
		default:
			s.Equivalent++
		}
		if c.unproved() {
			s.unproved++
		}
	}
}

// seal draws the conclusions.
func (r *Report) seal() {
	s := &r.Summary
	hurt := slices.ContainsFunc(r.Objects, func(o *finding.Object) bool { return o.Upgrade.Finding() })
	r.Compatible = s.Breaking == 0 && s.Refused == 0 && !hurt
	r.Proved = r.Compatible && s.unproved == 0 && s.Allowed == 0 && s.Unreadable == 0 && !s.Interrupted
}
