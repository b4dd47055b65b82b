package ruletest

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Position is a position in a file. Lines and columns start at 1; line 0 means unknown.
type Position struct {
	Line   int `json:"line"`
	Column int `json:"column,omitempty"`
}

// Problem is an error in a suite that keeps part of it from being tested.
type Problem struct {
	Position
	Message string `json:"message"`
}

// Suite is a document with tests of a version of a CRD. It is immutable.
type Suite struct {
	// File is the file name for reports.
	File string
	Position
	Name string
	// CRDPath is the file of the CRD, relative to the suite's folder, or the name of the CRD.
	// CRDName is its name. If both are "", Kind identifies the CRD.
	CRDPath, CRDName string
	Kind             schema.GroupKind
	// CRDPosition is the position where the suite names its CRD.
	CRDPosition Position
	// Version is the version under test, or "" if the CRD has only one.
	Version string
	// PolicyPaths are the files and folders of the admission policies, relative to the suite's folder.
	PolicyPaths    []string
	PolicyPosition Position
	// FeatureGates lists the gates that the tests depend on. A leading "-" means disabled.
	FeatureGates []string
	Cases        []*Case
	// Problems are the problems that do not belong to a case.
	Problems []Problem

	reader *reader
	// whole is set if the CRD is used with all its versions. Otherwise only the version under test
	// is served and stored, as in OpenShift's harness.
	whole bool
}

// TestsBuiltins reports whether the suite tests built-in kinds: it names no CRD, and its kind is built in.
func (s *Suite) TestsBuiltins() bool {
	return s.CRDPath == "" && s.CRDName == "" && policyrequest.IsBuiltin(s.Kind)
}

// Case is a test.
type Case struct {
	Name string
	Position
	// Operation is "create", "update", or "delete".
	Operation string
	// Subresource is "" or "status".
	Subresource string
	// Skip is the reason why the case is skipped, or "".
	Skip string
	// Only is set if cases without it are skipped.
	Only bool
	// Problem is an error in the case, which is then not run.
	Problem *Problem

	path position.Path
	body body
	// open is set if the only problem is that nothing is expected.
	open bool
}

// body holds the writes and expectations of a case.
type body interface {
	// run does the writes on a CRD version and adds mismatches to t.
	run(t *trial)
	// kubeVersions returns the versions to run the case with; nil is the newest.
	kubeVersions() []string
	// patches returns the JSON patches of the CRD under which the old object was stored; nil means
	// no patches.
	patches() []byte
	// golden returns the changes of the suite's text after which the case would pass.
	golden(c *Case, got *outcome) []position.Change
}
