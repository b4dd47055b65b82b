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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/batch"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// readResult is the result of reading a document. All fields are empty for a document that is
// skipped.
type readResult struct {
	suite *ruletest.Suite
	text  []byte // source of the suite, which starts at a line
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

// isSuite reports whether the file's name ends in .testsuite before its extension.
func isSuite(file string) bool {
	name := strings.TrimSuffix(file, filepath.Ext(file))
	return strings.HasSuffix(name, ".testsuite")
}

// suspects caches which files look like suites, because a file can have millions of unreadable
// documents.
type suspects struct{ memo[bool] }

// has reports whether an unreadable file looks like a suite.
func (s *suspects) has(file string) bool {
	return isSuite(file) || s.get(file, func() bool {
		text, err := input.ReadFile(file, input.MaxFile)
		return err == nil && ruletest.MayBeSuite(text)
	})
}

// readCRDs reads the CRDs at and below paths. problems are the errors of documents in files that
// the user named. It returns an error if there are paths, but neither CRDs nor problems.
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
