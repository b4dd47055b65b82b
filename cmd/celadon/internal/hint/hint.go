// Package hint explains mistakes in CRDs and other objects in a few words, with their positions and fixes.
package hint

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/excerpt"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/hint/table"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/vet"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
	"github.com/celadon-cel/celadon/x/assist"
)

// Explain adds the codes, hints, and fixed expressions to the first causes of the rejection of a CRD, and moves them
// to the position of the mistake. data is the CRD as JSON, and needs are the parts of rules that need a later
// version. The first of kubeVersions is the version of the verdict.
func Explain(
	doc *input.Document, data []byte, kubeVersions []string, causes []finding.Cause, needs []vet.Need, excerpts *excerpt.Excerpts,
) {
	isRule := func(c finding.Cause) bool { return c.Ref != nil }
	if !slices.ContainsFunc(causes, isRule) || resource.Beta(doc) {
		return
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal(data, &crd); err != nil {
		return // the server rejects it for another reason
	}
	c := newCRD(&crd, kubeVersions[0])
	others := sync.OnceValue(func() (all []*crdRules) {
		for _, version := range kubeVersions[1:] {
			all = append(all, newCRD(&crd, version))
		}
		return all
	})
	length := 0
	for i := range causes[:min(len(causes), excerpt.Shown)] {
		cause := &causes[i]
		if cause.Ref == nil {
			continue
		}
		if length += len(cause.Rule) + c.names(cause.Ref)/8; length > maxExplained {
			return
		}
		part := cause.Field[strings.LastIndex(cause.Field, ".")+1:]
		problem, written := c.problem(cause.Ref, part), doc.Value(resource.DocumentPath(doc, cause.Field))
		isRejected := func(other *crdRules) bool { return !other.compiles(cause.Ref, cause.Fixed) }
		withdraw := func() { // a fix that another Kubernetes version rejects
			if cause.Fixed != "" && slices.ContainsFunc(others(), isRejected) {
				cause.Fixed, cause.Certain = "", false
			}
		}
		if c.misread(cause, doc) {
			withdraw()
			continue
		}
		if problem != nil {
			if cause.Hint, _ = table.Cut(written, problem.Start); cause.Hint != "" {
				continue
			}
		}
		isNewer := func(n vet.Need) bool {
			return n.Path == cause.Ref.Path && n.Index == cause.Ref.Index && !n.Silent && (part == "rule" || part == "messageExpression")
		}
		newer := slices.IndexFunc(needs, isNewer)
		if newer >= 0 {
			cause.Hint = fmt.Sprintf("%s needs Kubernetes %s", needs[newer].Part, needs[newer].KubeVersion)
		}
		if problem == nil {
			continue
		}
		if newer < 0 {
			set(cause, problem)
		}
		if part == "messageExpression" && written != nil && newer < 0 { // try: shows it, but vet --fix does not write it
			cause.Fixed = strings.TrimSpace(problem.Fixed(written.Value))
		}
		withdraw()
		at, ok := doc.Inside(resource.DocumentPath(doc, cause.Field), problem.Start)
		if ok && cause.Line > 0 && cause.File == doc.File {
			cause.Line, cause.Column, cause.Excerpt = at.Line, at.Column, excerpts.At(at)
		}
	}
}

// maxExplained limits the search for fixes in a CRD: the bytes of its broken rules, plus an eighth of the number of
// fields at each of them. Real CRDs have a few rules that do not compile.
const maxExplained = 40_000

type crdRules struct {
	crd       *apiextensionsv1.CustomResourceDefinition
	engine    *engine.Engine // or nil
	bad       []*engine.CompileError
	functions assist.Functions
}

func newCRD(from *apiextensionsv1.CustomResourceDefinition, kubeVersion string) *crdRules {
	c := &crdRules{crd: from}
	var err error
	var bad *engine.CompileErrors
	cfg := engine.Config{KubeVersion: kubeVersion, Expressions: engine.New}
	if c.engine, err = engine.Compile(from, cfg); errors.As(err, &bad) {
		c.bad = bad.Errors
	}
	return c
}

// names returns the number of fields at the path of a rule.
func (c *crdRules) names(ref *engine.RuleRef) int {
	if c.engine == nil {
		return 0
	}
	node, err := c.engine.At(ref.Version, ref.Path)
	if err != nil {
		return 0
	}
	return len(node.Decl.Fields)
}

// misread adds a hint to the cause of a rule whose YAML has another meaning than its text.
func (c *crdRules) misread(cause *finding.Cause, doc *input.Document) bool {
	if cause.Line == 0 || cause.File != doc.File {
		return false
	}
	line, _, _ := doc.SourceLine(input.Position{Line: cause.Line, Column: cause.Column})
	expression, quoted, reason := decode.Misread(line)
	if reason == "" || !c.compiles(cause.Ref, expression) {
		return false
	}
	cause.Code, cause.Summary, cause.Hint = assist.UnquotedRule, "YAML reads the rule as "+reason, "quote it: "+quoted
	if expression[0] == '!' && strings.HasSuffix(cause.Field, ".rule") { // otherwise, a fix would leave the comment
		cause.Fixed, cause.Certain = expression, true
	}
	return true
}

func (c *crdRules) compiles(ref *engine.RuleRef, expression string) bool {
	if c.engine == nil || len(expression) > maxExplained {
		return false
	}
	version := ref.Version
	if version == "" {
		version = c.crd.Spec.Versions[0].Name
	}
	node, err := c.engine.At(version, ref.Path)
	if err != nil {
		return false
	}
	_, err = node.Compile(expression)
	return err == nil
}

func (c *crdRules) problem(ref *engine.RuleRef, part string) *assist.Problem {
	for _, bad := range c.bad {
		if bad.Path != ref.Path || bad.Index != ref.Index || bad.Part != part || ref.Version != "" && bad.Version != ref.Version {
			continue
		}
		return assist.Explain(c.engine, c.crd, bad, &c.functions)
	}
	return nil
}

// BrokenRule returns a description of a rule that does not compile: where it is, its line with a caret, and how to fix
// it. e is the engine of the CRD.
func BrokenRule(crd *apiextensionsv1.CustomResourceDefinition, e *engine.Engine, bad *engine.CompileError) string {
	text := resource.BrokenRule(crd.Name, bad)
	problem := assist.Explain(e, crd, bad, nil)
	if problem == nil {
		return text
	}
	if hint := problem.Hint(); hint != "" {
		text += "\n  hint: " + hint
	}
	if bad.Part != "rule" {
		return text
	}
	if fixed := problem.Fixed(bad.Rule); fixed != "" {
		text += "\n  try:  " + strings.ReplaceAll(strings.TrimSpace(fixed), "\n", "\n        ")
	}
	return text
}

func set(cause *finding.Cause, problem *assist.Problem) {
	cause.Code, cause.Summary, cause.Hint = problem.Code, problem.Summary(), problem.Hint()
	if cause.Rule != "" && !strings.HasSuffix(cause.Field, "messageExpression") {
		cause.Fixed = strings.TrimSpace(problem.Fixed(cause.Rule))
		cause.Certain = cause.Fixed != "" && problem.Fixes[0].Certain
	}
}

// Failed adds the code and hint to the first causes, if their rules failed for an object.
func Failed(causes []finding.Cause) {
	for i := range causes[:min(len(causes), excerpt.Shown)] {
		cause := &causes[i]
		_, text, _ := strings.Cut(cause.Message, `": `)
		text, _, failed := strings.Cut(text, " evaluating rule: ")
		if overload, _, ok := strings.Cut(text, "': call arguments did not match"); ok {
			text, failed = strings.TrimPrefix(overload, "'"), true
		}
		if cause.Ref == nil || !failed {
			continue
		}
		if advice := assist.Failure(cause.Rule, text); advice.Words != "" {
			cause.Code, cause.Hint = advice.Code, advice.Words
		}
	}
}
