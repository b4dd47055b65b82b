package test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// readResult is the result of reading a document. All fields are empty for a document that is
// skipped.
type readResult struct {
	suite *ruletest.Suite
	text  []byte // source of the suite, which starts at line
	line  int
	crd   *definition
	// policies is the file of an object in the group of policies. Suites may name it.
	policies string
	err      error // only if the file was named or looks like a suite
}

// read reads suites, and the CRDs next to them. A named file must contain a suite, or policies that
// suites may then name. Other files in folders are skipped.
func (r *run) read(ctx context.Context, paths []string) ([]*readResult, error) {
	named := map[string]bool{}
	for _, path := range paths {
		named[path] = true
	}
	held := map[string]bool{} // files that hold a suite or policies
	var suites []*readResult
	suspected := &suspects{}
	decode := func(doc *input.Document) *readResult { return classify(doc, named[doc.File], suspected) }
	err := batch.From(batch.Files(r.Stdin, paths), decode, func(f *readResult) error {
		switch {
		case f.crd != nil:
			r.crds.walked = append(r.crds.walked, f.crd)
		case f.suite != nil:
			held[f.suite.File] = true
			suites = append(suites, f)
		case f.policies != "":
			held[f.policies] = true
		case f.err != nil:
			r.problems = append(r.problems, f.err)
		}
		return nil
	}).Run(ctx)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && !info.IsDir() && (!held[path] || len(suites) == 0) && len(r.problems) == 0 {
			r.problems = append(r.problems, fmt.Errorf("%s: no suite found: want kind: %s, or OpenShift's crdName and tests", path, ruletest.Kind))
		}
	}
	return suites, err
}

func classify(doc *input.Document, named bool, s *suspects) *readResult {
	text, line, inList := doc.Source()
	switch {
	case errors.Is(doc.Err, input.ErrNoObject) && !named:
		return &readResult{}
	case doc.Err != nil && (named || s.has(doc.File)):
		return &readResult{err: fmt.Errorf("%s: %w", doc.Location(), doc.Err)}
	case doc.Err != nil:
		return &readResult{}
	case ruletest.Holds(doc.Object) && !inList, isSuite(doc.File):
		line = max(line, 1)
		f := &readResult{text: text, line: line}
		if doc.AsWritten() {
			f.suite = ruletest.ParseDecoded(doc.File, line, text, doc.Object)
		} else {
			f.suite = ruletest.Parse(doc.File, line, text)
		}
		return f
	}
	if apiVersion, _ := doc.Object["apiVersion"].(string); strings.HasPrefix(apiVersion, "admissionregistration.k8s.io/") {
		return &readResult{policies: doc.File}
	}
	return &readResult{crd: newDefinition(doc)}
}

func isSuite(file string) bool {
	name := strings.TrimSuffix(file, filepath.Ext(file))
	return strings.HasSuffix(name, ".testsuite")
}

// suspects caches which files look like suites, because a file can have millions of unreadable
// documents.
type suspects struct{ memo[bool] }

func (s *suspects) has(file string) bool {
	return isSuite(file) || s.get(file, func() bool {
		text, err := input.ReadFile(file, input.MaxFile)
		return err == nil && ruletest.MayBeSuite(text)
	})
}

// problems are the errors of documents in files that the user named. readCRDs returns an error if there are paths,
// but neither CRDs nor problems.
func readCRDs(ctx context.Context, stdin io.Reader, paths []string) (crds []*definition, problems []error, err error) {
	read := func(doc *input.Document) *readResult {
		if doc.Err != nil && slices.Contains(paths, doc.File) {
			return &readResult{err: fmt.Errorf("%s: %w", doc.Location(), doc.Err)}
		}
		return &readResult{crd: newDefinition(doc)}
	}
	err = batch.From(batch.Files(stdin, paths), read, func(f *readResult) error {
		switch {
		case f.err != nil:
			problems = append(problems, f.err)
		case f.crd != nil:
			crds = append(crds, f.crd)
		}
		return nil
	}).Run(ctx)
	if err == nil && len(crds)+len(problems) == 0 && len(paths) > 0 {
		err = fmt.Errorf("no CustomResourceDefinition in %s", strings.Join(paths, ", "))
	}
	return crds, problems, err
}

// roots returns the folders in which suites may name files: the git work trees of paths, because the author of a suite
// can change any file of its tree, or the paths themselves outside of git.
func roots(paths []string) (all []string) {
	for _, path := range paths {
		if path == "-" {
			continue
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() {
			path = filepath.Dir(path)
		}
		if tree, err := worktree.Top(path); err == nil && tree != "" {
			path = tree
		}
		all = append(all, path)
	}
	return all
}

const (
	maxPolicyDocuments = 5000
	maxPolicyBytes     = 64 << 20
)

type policyList struct {
	policies *ruletest.Policies
	notes    []error
	errs     []error
}

// policies returns the policies that suite s names. Like its CRD, they must be below the roots.
func (d *definitions) policies(s *ruletest.Suite) (*ruletest.Policies, []error) {
	paths := make([]string, len(s.PolicyPaths))
	for i, name := range s.PolicyPaths {
		paths[i] = filepath.Join(filepath.Dir(s.File), filepath.FromSlash(name))
		if s.File == "-" || filepath.IsAbs(name) || !d.mayRead(paths[i]) {
			return nil, []error{fmt.Errorf("policies: %s: a suite may only name files in the folders on the command line and their git work trees: test a folder that contains both", name)}
		}
	}
	near := d.near(s)
	key := slices.Clone(paths)
	for _, def := range near {
		key = append(key, def.file)
	}
	list := d.policyFiles.get(strings.Join(key, "\x00"), func() policyList {
		return readPolicies(paths, d.mayRead, namespaced(slices.Concat(d.given, d.walked, near)))
	})
	return list.policies, list.errs
}

// The CRDs near a suite may define the params of its policies.
func (d *definitions) near(s *ruletest.Suite) []*definition {
	if path := filepath.Join(filepath.Dir(s.File), filepath.FromSlash(s.CRDPath)); s.CRDPath != "" && !filepath.IsAbs(s.CRDPath) && d.mayRead(path) {
		return d.file(path).crds // find reports the error
	}
	is, _ := wanted(s)
	return d.laidOut(s, is)
}

func namespaced(crds []*definition) map[schema.GroupKind]bool {
	all := map[schema.GroupKind]bool{}
	for _, d := range crds {
		if crd, err := d.decode(); err == nil {
			spec := &crd.Definition.Spec
			all[schema.GroupKind{Group: spec.Group, Kind: spec.Names.Kind}] = spec.Scope == apiextensionsv1.NamespaceScoped
		}
	}
	return all
}

func (d *definitions) policyNotes() (all []error) {
	for _, list := range d.policyFiles.known.Range {
		all = append(all, list.(func() policyList)().notes...)
	}
	slices.SortFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return slices.CompactFunc(all, func(a, b error) bool { return a.Error() == b.Error() })
}

// kinds is as in policy.Config.Namespaced.
func readPolicies(paths []string, mayRead func(string) bool, kinds map[schema.GroupKind]bool) (l policyList) {
	docs, err := policyDocuments(paths, mayRead)
	if err != nil {
		return policyList{errs: []error{fmt.Errorf("policies: %w", err)}}
	}
	read, err := policies.FromDocuments(docs, paths, policy.Config{Namespaced: kinds})
	if err != nil {
		return policyList{errs: []error{fmt.Errorf("policies: %w", err)}}
	}
	for _, problem := range read.Problems {
		l.errs = append(l.errs, errors.New("policies: "+firstLine(problem.Error()))) // the rest is an excerpt of the expression
	}
	switch n := len(read.Set.Policies()); {
	case n == 0:
	case len(read.Unbound) == n && len(l.errs) == 0:
		l.errs = []error{fmt.Errorf("policies: %w", read.Unbound[0])}
	default:
		l.notes = slices.Concat(read.Misspelled(builtins.Nearest), read.Unbound)
		l.policies = policiesIn(read, kinds)
	}
	return l
}

func policiesIn(read *policies.Policies, kinds map[schema.GroupKind]bool) *ruletest.Policies {
	return &ruletest.Policies{Documents: read.Documents(), Set: read.Set, Namespaced: kinds, Validation: read.Validation}
}

func policyDocuments(paths []string, mayRead func(string) bool) (docs []*input.Document, err error) {
	var inside memo[bool]
	size := 0
	input.Selection{Regular: true}.Scan(nil, paths, func() {}, func(c input.Chunk) bool {
		if !inside.get(c.File, func() bool { return mayRead(c.File) }) {
			return true
		}
		if size += c.Size(); size > maxPolicyBytes {
			err = fmt.Errorf("the files are too large (want at most %d MiB): name fewer files", maxPolicyBytes>>20)
			return false
		}
		return c.Each(func(doc *input.Document) bool {
			docs = append(docs, doc)
			if len(docs) > maxPolicyDocuments {
				err = fmt.Errorf("too many documents (want at most %d): name fewer files", maxPolicyDocuments)
			}
			return err == nil
		})
	})
	if err == nil && len(docs) == 0 {
		err = errors.New("no document in " + strings.Join(paths, ", "))
	}
	return docs, err
}
