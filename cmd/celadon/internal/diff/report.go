package diff

import (
	"slices"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/analysis/compare"
)

// Report is the result of celadon diff. -o json prints it.
type Report struct {
	Kind       string `json:"kind"`
	APIVersion string `json:"apiVersion"`
	// Compatible is set if no change is known to break anything, apart from allowed changes, no CRD is rejected, no
	// removed version is in use, and no given object is affected. Proved is set if this is proved for each change,
	// without allowances.
	Compatible bool `json:"compatible"`
	Proved     bool `json:"proved"`
	// KubeVersion and ToKubeVersion are set if two Kubernetes versions are compared.
	KubeVersion   string  `json:"kubeVersion,omitempty"`
	ToKubeVersion string  `json:"toKubeVersion,omitempty"`
	Summary       Summary `json:"summary"`
	CRDs          []*CRD  `json:"crds"`
	// Removed holds the uses of versions of built-in kinds that ToKubeVersion no longer serves.
	Removed []*Removed `json:"removed,omitempty"`
	// Objects holds the objects of --objects, or of the cluster, that the change breaks or changes.
	Objects []*finding.Object `json:"objects,omitempty"`
}

// Summary counts changes and objects.
type Summary struct {
	CRDs       int `json:"crds"`
	Breaking   int `json:"breaking"`
	Loosening  int `json:"loosening"`
	Equivalent int `json:"equivalent"`
	Unknown    int `json:"unknown"`
	// Allowed counts breaking, unknown, and unproved changes that the file of --allow accepts. They are not included
	// in the other counts.
	Allowed int `json:"allowed,omitempty"`
	// Rejected counts CRDs whose update the API server would reject, or that only the newer Kubernetes version
	// rejects.
	Rejected   int `json:"refused,omitempty"`
	Unreadable int `json:"unreadable,omitempty"`
	// Objects counts the given objects by the effect of the change; nil without objects.
	Objects *Objects `json:"objects,omitempty"`
	// Interrupted is set if the run was interrupted.
	Interrupted bool `json:"interrupted,omitempty"`

	unproved  int // changes for which a search found nothing and that have no proof
	undecided int // objects and updates of CRDs without a verdict
}

// Objects counts the objects of --objects or of the cluster.
type Objects struct {
	Checked int `json:"checked"`
	finding.UpgradeSummary
}

// CRD holds the results for a CRD.
type CRD struct {
	Name string `json:"name"`
	// OldFile and NewFile are the CRD's files, or "" if it does not exist on that side.
	OldFile string `json:"oldFile,omitempty"`
	NewFile string `json:"newFile,omitempty"`
	OldLine int    `json:"oldLine,omitempty"`
	NewLine int    `json:"newLine,omitempty"`
	// Update is the API server's verdict on replacing the old CRD with the new CRD.
	Update *finding.CRD `json:"update,omitempty"`
	// KubeVersions holds the verdicts of two Kubernetes versions on the CRD, if those are compared.
	KubeVersions *KubeVersions `json:"kubeVersions,omitempty"`
	Changes      []*Change     `json:"changes"`

	limited int // changes that exceeded the work budget
}

// Change is a change of a CRD.
type Change struct {
	Version    string         `json:"version,omitempty"`
	OldVersion string         `json:"oldVersion,omitempty"`
	Also       []string       `json:"alsoVersions,omitempty"`
	Path       string         `json:"path"`
	Subject    string         `json:"what"`
	Old        string         `json:"old"`
	New        string         `json:"new"`
	Effect     compare.Effect `json:"effect"`
	// Clusters describes the clusters that a breaking change breaks; "" is all clusters.
	Clusters string        `json:"clusters,omitempty"`
	By       compare.Basis `json:"by"`
	Proof    string        `json:"proof,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Searched int           `json:"searched"`
	Rejected *Witness      `json:"refused,omitempty"`
	Admitted *Witness      `json:"admitted,omitempty"`
	Kept     *Witness      `json:"kept,omitempty"`
	OldLine  int           `json:"oldLine,omitempty"`
	NewLine  int           `json:"newLine,omitempty"`
	// Allowed is the reason why the change is accepted, or "".
	Allowed string `json:"allowed,omitempty"`
}

// Witness is an example object and the verdicts of the CRD on the other side.
type Witness struct {
	Operation       string           `json:"operation,omitempty"`
	Object          map[string]any   `json:"object"`
	Old             map[string]any   `json:"old,omitempty"`
	Create          compare.Verdict  `json:"create,omitempty"`
	ChangedUpdate   compare.Verdict  `json:"changedUpdate,omitempty"`
	UnchangedUpdate compare.Verdict  `json:"unchangedUpdate,omitempty"`
	Causes          []finding.Cause  `json:"causes,omitempty"`
	Kept            []finding.Change `json:"kept,omitempty"`
	// Hidden lists paths of values with format password, which are hidden.
	Hidden []string `json:"hidden,omitempty"`
	// AlsoBreaks lists other breaking changes that the same write demonstrates, if no example was found that
	// demonstrates only one change.
	AlsoBreaks []compare.ChangeRef `json:"alsoBreaks,omitempty"`
}

func (c *Change) unproved() bool { return !c.Effect.Breaks() && c.By == compare.BySearch }

func (s *Summary) count(crd *CRD) {
	s.CRDs++
	if crd.Update != nil && crd.Update.Rejected() || crd.KubeVersions.rejects() {
		s.Rejected++
	}
	for _, c := range crd.Changes {
		switch {
		case c.Allowed != "":
			s.Allowed++
			continue
		case c.Effect.Breaks():
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

func (crd *CRD) unchanged() bool {
	if crd.Update != nil && !crd.Update.Accepted || len(crd.Changes) > 0 {
		return false
	}
	u := crd.KubeVersions
	return u == nil || len(u.Estimates) == 0 && u.From.Accepted && u.To.Accepted
}

func (r *Report) unchanged() (names []string) {
	for _, crd := range r.CRDs {
		if crd.unchanged() {
			names = append(names, crd.Name)
		}
	}
	return names
}

func (r *Report) seal() {
	s := &r.Summary
	newlyRejected := slices.ContainsFunc(r.Objects, func(o *finding.Object) bool { return o.Upgrade.Finding() })
	r.Compatible = s.Breaking == 0 && s.Rejected == 0 && !newlyRejected && len(r.Removed) == 0
	r.Proved = r.Compatible && s.unproved == 0 && s.Allowed == 0 && s.Unreadable+s.undecided == 0 && !s.Interrupted
}

type jsonPrinter struct {
	atEnd
	out *untrusted.Writer
}

func (p *jsonPrinter) end(r *Report) error { return print.JSON(p.out, r) }

func (c *Change) level() string {
	switch {
	case c.Allowed != "":
		return "note"
	case c.Effect.Breaks():
		return "error"
	case c.unproved():
		return "warning"
	}
	return ""
}

func (c *Change) at(crd *CRD) finding.Location {
	if crd.NewFile == "" {
		return finding.Location{File: crd.OldFile, Line: c.OldLine, Field: c.Path}
	}
	return finding.Location{File: crd.NewFile, Line: max(c.NewLine, crd.NewLine), Field: c.Path + " " + c.Subject}
}

// listPrinter writes the changes of CRDs in a format that lists findings. objects writes objects and updates
// of CRDs as celadon check does.
type listPrinter struct {
	list    print.List
	objects print.Printer
}

func (p *listPrinter) crd(crd *CRD) error {
	if crd.Update != nil {
		if err := p.objects.CRD(crd.Update); err != nil {
			return err
		}
	}
	return p.list.Add(finding.Result{Findings: slices.Values(crd.findings())})
}

func (p *listPrinter) object(o *finding.Object) error { return p.objects.Object(o) }

func (p *listPrinter) removed(r *Removed) error {
	return p.list.Add(finding.Result{Findings: slices.Values([]finding.Finding{r.finding()})})
}

func (p *listPrinter) end(r *Report) error {
	return p.list.End(print.End{Text: r.summary() + ": " + r.conclusion() + "\n", Interrupted: r.Summary.Interrupted})
}

func (crd *CRD) findings() (list []finding.Finding) {
	name := untrusted.Line(crd.Name)
	if u := crd.KubeVersions; u.rejects() {
		f := finding.Finding{
			ID: "kube-version", Description: "Another Kubernetes version rejects the CRD", Level: "error",
			Title: string(name), At: finding.Location{File: crd.NewFile, Line: crd.NewLine}, Subject: []string{crd.NewFile, crd.Name},
		}
		verdict, causes := u.verdict()
		f.Message = string(name + ": " + verdict)
		for _, cause := range causes {
			f.Details = append(f.Details, string(cause))
		}
		list = append(list, f)
	}
	for _, c := range crd.Changes {
		level := c.level()
		if level == "" {
			continue
		}
		title := name + " " + c.title()
		f := finding.Finding{
			ID: c.Subject, Description: "A change of a CRD: " + c.Subject, Level: level, Title: string(title),
			Message: string(title + ": " + c.effect()), At: c.at(crd), Subject: []string{crd.Name, c.Version},
		}
		for _, line := range c.details() {
			f.Details = append(f.Details, string(line))
		}
		list = append(list, f)
	}
	return list
}
