package ruletest

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

// Kind and APIVersion identify suites in Celadon's own format.
const (
	Kind       = "RuleTest"
	APIVersion = "celadon/v1"
)

// Holds reports whether a decoded document looks like a suite.
func Holds(v any) bool {
	doc, _ := v.(map[string]any)
	if doc == nil {
		return false
	}
	apiVersion, _ := doc["apiVersion"].(string)
	kind, _ := doc["kind"].(string)
	if kind == Kind || strings.HasPrefix(apiVersion, "celadon/") {
		return true
	}
	if kind != "" {
		return false
	}
	tests, _ := doc["tests"].(map[string]any)
	_, named := doc["crdName"]
	return named || hasKey(tests, "onCreate") || hasKey(tests, "onUpdate") || hasKey(doc, "onCreate") || hasKey(doc, "onUpdate")
}

func hasKey(m map[string]any, key string) bool {
	_, ok := m[key]
	return ok
}

// Parse parses a YAML document. line is the number of its first line in file. Errors are in
// Suite.Problems and Case.Problem.
func Parse(file string, line int, text []byte) *Suite {
	return parse(file, line, text, decode.Decode)
}

// ParseDecoded parses a document like Parse, if it is already decoded and has no duplicate keys.
// The suite shares memory with decoded, which must not be modified.
func ParseDecoded(file string, line int, text []byte, decoded map[string]any) *Suite {
	return parse(file, line, text, func([]byte) (any, error, error) { return decoded, nil, nil })
}

func parse(file string, line int, text []byte, decode func([]byte) (v any, duplicate, err error)) *Suite {
	s := &Suite{File: file, Position: Position{line, 1}}
	fail := func(message string) *Suite {
		s.Problems = append(s.Problems, Problem{s.Position, message})
		return s
	}
	if len(text) > maxText {
		return fail(tooMany("bytes", len(text), maxText))
	}
	v, duplicate, err := decode(text)
	if err != nil {
		return fail(plainly(err, s, text))
	}
	doc, err := position.Parse(text)
	if err != nil {
		return fail(plainly(err, s, text))
	}
	r := &reader{doc: doc, line: line}
	s.reader, s.Position = r, r.positionOf(doc.Root)
	m, ok := v.(map[string]any)
	if !ok {
		return fail("not a suite: want a mapping")
	}
	if m["kind"] == Kind {
		r.own(s, m)
	} else {
		r.openShift(s, m)
	}
	broken := slices.ContainsFunc(s.Cases, func(c *Case) bool { return c.Problem != nil })
	if duplicate != nil && !broken && len(r.problems) == 0 {
		r.addProblem(doc.Root, "%s", plainMessage(duplicate))
	}
	s.Problems = append(s.Problems, r.problems...)
	if len(s.Cases) == 0 && len(s.Problems) == 0 {
		return fail("an empty suite: it has no test")
	}
	return s
}

// plainly returns a decoder's error message, and sets the position of the suite to the error's line
// if that is known.
func plainly(err error, s *Suite, text []byte) string {
	if line := decode.ErrorLine(text, err); line > 0 {
		s.Position = Position{s.Position.Line + line - 1, 1}
	}
	return plainMessage(err)
}

// add adds a case. The first problem found since mark becomes the problem of the case; the others
// stay problems of the suite.
func (r *reader) add(s *Suite, c *Case, mark int) {
	if len(r.problems) > mark {
		first := r.problems[mark]
		c.Problem = &first
		r.problems = slices.Delete(r.problems, mark, mark+1)
	}
	s.Cases = append(s.Cases, c)
}

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

// Suite is a document with tests of a CRD or of built-in kinds. It is immutable.
type Suite struct {
	// File is the file name for reports.
	File string
	Position
	Name string
	// CRDPath is the file of the CRD, relative to the suite's folder, or the name of the CRD.
	// CRDName is its name. If both are "", Kind identifies the CRD.
	CRDPath, CRDName string
	Kind             schema.GroupKind
	// CRDPosition is the position of the reference to the CRD, if there is one.
	CRDPosition Position
	// Version is the version under test. "" means the only version of the CRD or, in Celadon's own
	// format, all versions.
	Version string
	// PolicyPaths are the files and folders of the admission policies, relative to the suite's folder.
	PolicyPaths    []string
	PolicyPosition Position
	// FeatureGates lists the gates that the tests depend on. A leading "-" means disabled.
	FeatureGates []string
	Cases        []*Case
	// Problems are the problems that are not in Case.Problem.
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
	// Operation is "create", "update", "delete", or "connect".
	Operation string
	// Subresource is the updated subresource, such as "status" or "scale", or "".
	Subresource string
	// Skip is the reason why the case is skipped, or "".
	Skip string
	// Only is set if cases without it are skipped.
	Only bool
	// Problem is the first error in the case. The case is then not run; see Config.Fill for an
	// exception.
	Problem *Problem

	path position.Path
	body body
	// versions are the Kubernetes versions to run the case with; nil means Config.KubeVersion.
	versions []string
	// patches are the JSON patches of the CRD under which the old object was stored, or "".
	patches string
	// open is set if the only problem is that nothing is expected.
	open bool
}

type body interface {
	run(t *trial)
	// golden returns the changes of the suite's text after which the case would pass, if there are
	// any.
	golden(c *Case, got *trial) []position.Change
}
