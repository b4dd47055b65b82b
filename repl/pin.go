package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/internal/text/filename"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/termwidth"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// How it works: :pin adds the object and its verdict to a suite of celadon test. The suite is read
// again for each run, so that changes to it by other programs count too. After each change of the
// CRD, the cases of all pinned suites run, and the reply lists the cases with another outcome.

// pins holds the pinned suites and the outcomes of their last run.
type pins struct {
	files    []string
	outcomes map[string]ruletest.Outcome // by pinKey
	crd      *crd                        // of the last run
}

// pinKey returns the key of a case in pins.outcomes.
func pinKey(file, name string) string { return file + "\x00" + name }

// pin implements :pin [NAME] [SUITE].
func pin(ctx context.Context, s *Session, arg string) (string, error) {
	st := s.state
	switch {
	case st.crd == nil:
		return "", ErrNoCRD
	case st.object == nil:
		return "", errNoObject
	case s.host.ReadText == nil || s.host.WriteText == nil:
		return "", errNoFiles
	}
	name, file, err := s.pinTarget(arg)
	if err != nil {
		return "", err
	}
	before, err := s.host.ReadText(file)
	created := errors.Is(err, fs.ErrNotExist)
	if created {
		before, err = nil, nil
	}
	if err != nil {
		return "", err
	}
	text, got, err := s.pinned(ctx, file, name, before)
	if err != nil {
		return "", err
	}
	reply, err := s.verdictLine(ctx)
	if err != nil {
		return "", err
	}
	if err := s.mayWrite(file); err != nil {
		return "", err
	}
	if err := s.host.WriteText(file, before, text); err != nil {
		return "", err
	}
	s.addSuite(file)
	s.pins.outcomes[pinKey(file, got.Name)] = ruletest.Passed
	verb := "added %q to %s\n"
	if created {
		verb = "wrote %q to %s\n"
	}
	reply += printable(fmt.Sprintf(verb, got.Name, file))
	if s.Unsaved() {
		reply += "note: the suite uses the file of the CRD, which lacks your unsaved changes: run :save\n"
	}
	return termwidth.Fold(reply, s.Width, 2), nil
}

// pinTarget returns the name of the case and the file of the suite. An argument that ends in .yaml
// or .yml is the file.
func (s *Session) pinTarget(arg string) (name, file string, err error) {
	name = arg
	if i := strings.LastIndexByte(arg, ' '); strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml") {
		name, file = strings.TrimSpace(arg[:max(i, 0)]), arg[i+1:]
	}
	if n := len(s.pins.files); file == "" && n > 0 {
		file = s.pins.files[n-1]
	}
	if file == "" {
		c := s.state.crd
		if file, err = filename.Join(filepath.Dir(c.doc.File), c.def.Spec.Names.Plural+".testsuite.yaml"); err != nil {
			err = fmt.Errorf("spec.names.plural: %w: use :pin NAME SUITE.yaml", err)
		}
	}
	return name, file, err
}

// pinned returns the text of a suite with a case for the session's write, and the result of the case.
// The case passes.
func (s *Session) pinned(ctx context.Context, file, name string, before []byte) ([]byte, *ruletest.CaseReport, error) {
	if before == nil {
		before = ruletest.NewSuite(s.state.crd.def.Spec.Names.Plural, s.suiteReference(file))
	}
	suite := ruletest.Parse(file, 1, before)
	if err := s.otherCRD(suite); err != nil {
		return nil, nil, err
	}
	if name == "" {
		name = s.unusedName(suite)
	}
	open, err := suite.Append(name, s.state.request())
	if err != nil {
		return nil, nil, err
	}
	only := regexp.MustCompile("^" + regexp.QuoteMeta(suite.Name+"/"+name) + "$")
	suite = ruletest.Parse(file, 1, open)
	text, _, errs := suite.Update(s.runSuite(ctx, suite, ruletest.Config{Fill: true, Run: only}))
	if len(errs) > 0 {
		return nil, nil, errs[0]
	}
	if text == nil {
		text = open
	}
	suite = ruletest.Parse(file, 1, text)
	report := s.runSuite(ctx, suite, ruletest.Config{Run: only})
	if err := cmp.Or(firstProblem(file, suite.Problems), firstProblem(file, report.Errors)); err != nil {
		return nil, nil, err
	}
	if len(report.Cases) != 1 {
		return nil, nil, fmt.Errorf("%s: the test %q was not found again", file, name)
	}
	got := report.Cases[0]
	if got.Outcome != ruletest.Passed {
		return nil, nil, fmt.Errorf("the verdict cannot be a test: %s", firstMismatch(got))
	}
	return text, got, nil
}

// suiteReference returns the reference of a suite to the session's CRD: the path of its file relative
// to the suite, or the name of the CRD.
func (s *Session) suiteReference(file string) string {
	doc := s.state.crd.doc
	if doc.File == "-" || strings.Contains(doc.File, "#") {
		return s.state.crd.def.Name
	}
	rel, err := filepath.Rel(filepath.Dir(file), doc.File)
	if err != nil {
		return s.state.crd.def.Name
	}
	return filepath.ToSlash(rel)
}

// unusedName returns a name for a case, after the object and, if that is taken, a number.
func (s *Session) unusedName(suite *ruletest.Suite) string {
	base := identify(s.state.object.doc).name
	if base == "" {
		base = strings.ToLower(s.state.crd.def.Spec.Names.Kind)
	}
	taken := func(name string) bool {
		return slices.ContainsFunc(suite.Cases, func(c *ruletest.Case) bool { return c.Name == name })
	}
	name := base
	for n := 2; taken(name); n++ {
		name = fmt.Sprintf("%s %d", base, n)
	}
	return name
}

// runSuite runs a suite on the session's CRD, with its unsaved changes.
func (s *Session) runSuite(ctx context.Context, suite *ruletest.Suite, cfg ruletest.Config) *ruletest.SuiteReport {
	c := s.state.crd
	return ruletest.New(cfg).Run(ctx, suite, []*ruletest.CRD{{File: c.doc.File, Definition: c.def}}, nil)
}

// firstMismatch returns why a case did not pass.
func firstMismatch(c *ruletest.CaseReport) string {
	if c.Message != "" || len(c.Mismatches) == 0 {
		return c.Message
	}
	m := c.Mismatches[0]
	return fmt.Sprintf("want %s; got %s", m.Want, m.Got)
}

// addSuite adds a suite to the pinned suites, as the last.
func (s *Session) addSuite(file string) {
	s.pins.files = append(slices.DeleteFunc(slices.Clone(s.pins.files), func(f string) bool { return f == file }), file)
	if s.pins.outcomes == nil {
		s.pins.outcomes = map[string]ruletest.Outcome{}
	}
}

// pinsCommand implements :pins [SUITE|-].
func pinsCommand(ctx context.Context, s *Session, arg string) (string, error) {
	switch {
	case arg == "-":
		s.pins = pins{}
		return "", nil
	case s.state.crd == nil:
		return "", ErrNoCRD
	case s.host.ReadText == nil:
		return "", errNoFiles
	case arg != "":
		if err := s.mayWrite(arg); err != nil { // the next :pin writes it
			return "", err
		}
		before := s.pins
		text, err := s.host.ReadText(arg)
		if err != nil {
			return "", err
		}
		if err := s.otherCRD(ruletest.Parse(arg, 1, text)); err != nil {
			return "", err
		}
		s.addSuite(arg)
		list, err := s.pinList(ctx)
		if err != nil {
			s.pins = before
		}
		return list, err
	case len(s.pins.files) == 0:
		return "", errors.New("no suite is pinned: run :pin to add the object to a suite, or :pins SUITE")
	}
	return s.pinList(ctx)
}

// pinList runs all pinned suites and lists their cases.
func (s *Session) pinList(ctx context.Context) (string, error) {
	var rows [][]string
	passed, total, err := s.runPins(ctx, func(_ string, c *ruletest.CaseReport) {
		row := []string{string(c.Outcome), c.Name}
		if c.Outcome == ruletest.Failed || c.Outcome == ruletest.Error {
			row[1] += ": " + firstMismatch(c)
		}
		rows = append(rows, row)
	})
	if err != nil {
		return "", err
	}
	return printable(table(rows, s.Width)) + pinSummary(passed, total), nil
}

// runPins runs all pinned suites and calls each for every case. It remembers the outcomes, unless it
// returns an error: the next run then compares with the same outcomes.
func (s *Session) runPins(ctx context.Context, each func(file string, c *ruletest.CaseReport)) (passed, total int, err error) {
	outcomes := map[string]ruletest.Outcome{}
	maps.Copy(outcomes, s.pins.outcomes)
	for _, file := range s.pins.files {
		text, err := s.host.ReadText(file)
		if err != nil {
			return 0, 0, err
		}
		suite := ruletest.Parse(file, 1, text)
		if !s.isTestedBy(suite) {
			continue
		}
		if err := firstProblem(file, suite.Problems); err != nil {
			return 0, 0, err
		}
		report := s.runSuite(ctx, suite, ruletest.Config{})
		if err := ctx.Err(); err != nil {
			return 0, 0, err
		}
		if err := firstProblem(file, report.Errors); err != nil {
			return 0, 0, err
		}
		for _, c := range report.Cases {
			each(file, c)
			total++
			if c.Outcome == ruletest.Passed || c.Outcome == ruletest.Skipped {
				passed++
			}
			outcomes[pinKey(file, c.Name)] = c.Outcome
		}
	}
	s.pins.outcomes, s.pins.crd = outcomes, s.state.crd
	return passed, total, nil
}

// firstProblem returns the first problem of a suite as an error, or nil.
func firstProblem(file string, problems []ruletest.Problem) error {
	if len(problems) == 0 {
		return nil
	}
	return fmt.Errorf("%s:%d: %s", file, problems[0].Line, problems[0].Message)
}

// otherCRD returns an error if a suite tests another CRD than the session's.
func (s *Session) otherCRD(suite *ruletest.Suite) error {
	if s.isTestedBy(suite) {
		return nil
	}
	return fmt.Errorf("%s tests another CRD: %s: use another suite", suite.File, cmp.Or(suite.CRDName, suite.CRDPath, suite.Kind.String()))
}

// isTestedBy reports whether a suite tests the session's CRD, or names no CRD.
func (s *Session) isTestedBy(suite *ruletest.Suite) bool {
	c := s.state.crd
	switch {
	case suite.CRDName != "":
		return suite.CRDName == c.def.Name
	case suite.CRDPath != "" && suite.CRDPath != c.def.Name:
		crd := filepath.Join(filepath.Dir(suite.File), filepath.FromSlash(suite.CRDPath))
		rel, err := filepath.Rel(crd, c.doc.File)
		if err != nil { // one path is absolute
			return filepath.Base(crd) == filepath.Base(c.doc.File)
		}
		return rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
	case suite.CRDPath == "" && suite.Kind.Kind != "":
		return suite.Kind == c.engine.Info().GroupKind
	}
	return true
}

// pinChanges runs the pinned suites after a change of the CRD, and returns the cases whose outcome
// changed. It returns "" if nothing is pinned, or if the suites ran already, after a line of :read.
func (s *Session) pinChanges(ctx context.Context) string {
	if len(s.pins.files) == 0 || s.state.crd == nil || s.pins.crd == s.state.crd {
		return ""
	}
	var b strings.Builder
	passed, total, err := s.runPins(ctx, func(file string, c *ruletest.CaseReport) {
		was, known := s.pins.outcomes[pinKey(file, c.Name)]
		switch {
		case c.Outcome == was || c.Outcome == ruletest.Skipped || c.Outcome == ruletest.Passed && !known:
		case c.Outcome == ruletest.Passed:
			fmt.Fprintf(&b, "  passes again: %s\n", c.Name)
		default:
			fmt.Fprintf(&b, "  %s now: %s: %s\n", failsWord(c.Outcome), c.Name, termwidth.Cut(firstMismatch(c), maxPinText))
		}
	})
	switch {
	case err != nil:
		return termwidth.Fold("pins: "+printable(err.Error())+"\n", s.Width, 2)
	case total == 0: // the suites are for other CRDs
		return ""
	}
	return pinSummary(passed, total) + termwidth.Fold(printable(b.String()), s.Width, 2)
}

// maxPinText limits the columns of a mismatch in a list of changes.
const maxPinText = 200

func failsWord(o ruletest.Outcome) string {
	if o == ruletest.Error {
		return "no verdict"
	}
	return "fails"
}

func pinSummary(passed, total int) string {
	if passed == total {
		return fmt.Sprintf("pins: %s\n", allPass(total))
	}
	return fmt.Sprintf("pins: %s of %s pass\n", phrase.Number(uint64(passed)), phrase.Number(uint64(total)))
}

func allPass(total int) string {
	switch total {
	case 0:
		return "no tests"
	case 1:
		return "1 test passes"
	}
	return fmt.Sprintf("all %s tests pass", phrase.Number(uint64(total)))
}

// changedCRD reports whether the CRD changed since before.
func (s *Session) changedCRD(before *state) bool {
	return before != nil && before.crd != s.state.crd && s.state.crd != nil && before.crd != nil
}
