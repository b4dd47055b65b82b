package ruletest

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/yaml/position"
)

// Place is where something stands in a file, from 1; line 0 is nowhere.
type Place struct {
	Line   int `json:"line"`
	Column int `json:"column,omitempty"`
}

// Problem is what is wrong with a suite itself: with it not all is tested.
type Problem struct {
	Place
	Message string `json:"message"`
}

// Suite is a document with tests of one version of one CRD. It is immutable.
type Suite struct {
	// File is its name for reports.
	File string
	Place
	Name string
	// CRDPath is the file of the CRD, from the suite's folder, or the CRD's name;
	// CRDName is its name. Where both are "", Kind says which CRD is meant.
	CRDPath, CRDName string
	Kind             schema.GroupKind
	// CRDPlace is where the suite names its CRD.
	CRDPlace Place
	// Version is "" for the only one of the CRD.
	Version string
	// FeatureGates are those that the tests are about; one that begins with "-" is
	// off.
	FeatureGates []string
	Cases        []*Case
	// Problems are those of no case.
	Problems []Problem

	reader *reader
	// whole: all versions of the CRD are as they are; else the one alone is served
	// and stored, as OpenShift's harness has it.
	whole bool
}

// Case is one test.
type Case struct {
	Name string
	Place
	// Operation is "create" or "update".
	Operation string
	// Subresource is "" or "status".
	Subresource string
	// Skip is why the case is not run; "" is run.
	Skip string
	// Only: of the suite's cases none without it is run.
	Only bool
	// Problem is what is wrong with the case itself, which then is not run.
	Problem *Problem

	path position.Path
	body body
	// open: nothing is expected, which is all that is wrong.
	open bool
}

// body is what a case does, and what has to come of it.
type body interface {
	// run does the writes on a CRD version and says what is not as expected.
	run(t *trial)
	// kubeVersions are those to run it at; none is the newest.
	kubeVersions() []string
	// patches change the CRD that the old object was stored under; none is no
	// change. They are JSON.
	patches() []byte
	// golden is what the case would expect, had it been right: changes of the
	// suite's text.
	golden(c *Case, got *outcome) []position.Change
}
