package output

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/internal/yaml/position"
	"github.com/celadon-cel/celadon/x/crdedit"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/ruletest/coverage"
)

// Sources holds the source files of the measured CRDs and policies.
type Sources struct {
	all []*source
}

// source is a CRD or a policy in a file. edit is nil for a policy.
type source struct {
	file     string
	line     int // line of the file where text starts
	name     string
	versions []string
	edit     *crdedit.CRD
	doc      *position.Document
}

// ReadSources reads the files that contain the CRDs and policies. Files that can no longer be read are skipped.
func ReadSources(files []string) *Sources {
	s := &Sources{}
	for i, name := range files {
		if slices.Contains(files[:i], name) {
			continue
		}
		data, err := input.ReadFile(name, input.MaxFile)
		if err != nil {
			continue
		}
		input.SplitText(name, data, func(c input.Chunk) bool {
			return c.Each(func(doc *input.Document) bool {
				s.add(doc)
				return true
			})
		})
	}
	return s
}

func (s *Sources) add(doc *input.Document) {
	text, line, inList := doc.Source()
	resource.Complete(doc)
	switch {
	case text == nil || doc.Err != nil:
		return
	case doc.Object["kind"] == policyrequest.Kind && !inList:
		s.addPolicy(doc, text, line)
		return
	case doc.Object["kind"] != resource.Kind:
		return
	}
	edit, err := crdedit.Parse(text, inList, doc.Item)
	if err != nil {
		return
	}
	one := &source{file: doc.File, line: line, edit: edit}
	one.doc, _ = edit.Schema(crdedit.SchemaNode{})
	one.name, _ = input.Metadata(doc.Object)["name"].(string)
	spec, _ := doc.Object["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		one.versions = append(one.versions, name)
	}
	s.all = append(s.all, one)
}

func (s *Sources) addPolicy(doc *input.Document, text []byte, line int) {
	parsed, err := position.Parse(text)
	if err != nil {
		return
	}
	s.all = append(s.all, &source{file: doc.File, line: line, name: doc.Identity().Name, doc: parsed})
}

// expression returns the scalar node of an expression of a policy, or nil if the policy has another
// expression there.
func (s *source) expression(item *coverage.Item) *position.Node {
	lists := map[string]string{coverage.PartCondition: "matchConditions", coverage.PartVariable: "variables", coverage.PartValidation: "validations"}
	_, node := s.doc.Find(position.Path{position.Key("spec"), position.Key(lists[item.Part]), position.Item(item.Index), position.Key("expression")})
	if node == nil || node.Resolve().Value != item.Rule {
		return nil
	}
	return node.Resolve()
}

// schema returns the node of the schema at path in a version, or nil if it is not in the source.
func (s *source) schema(version, path string) *position.Node {
	at := slices.Index(s.versions, version)
	steps, err := engine.ParsePath(path)
	if at < 0 || err != nil {
		return nil
	}
	_, node := s.edit.Schema(crdedit.SchemaNode{Version: at, Steps: steps})
	return node
}

// rule returns the scalar node of the rule text at index, or nil if the CRD has another rule there.
func (s *source) rule(version, path string, index int, text string) *position.Node {
	node := s.schema(version, path)
	if node == nil {
		return nil
	}
	_, rules := node.Get("x-kubernetes-validations")
	if rules == nil {
		return nil
	}
	item := rules.Resolve().Item(index)
	if item == nil {
		return nil
	}
	_, rule := item.Get("rule")
	if rule == nil || rule.Resolve().Value != text {
		return nil
	}
	return rule.Resolve()
}

// find returns the first source that contains a rule or expression, and its node there.
func (s *Sources) find(item *coverage.Item) (*source, *position.Node) {
	for _, one := range s.all {
		var node *position.Node
		switch {
		case item.Policy != "" && one.edit == nil && one.name == item.Policy:
			node = one.expression(item)
		case item.Policy == "" && one.edit != nil && one.name == item.CRD:
			node = one.rule(item.Version, item.Path, item.Index, item.Rule)
		}
		if node != nil {
			return one, node
		}
	}
	return nil, nil
}

func (s *source) lineOf(node *position.Node) int {
	return s.doc.Position(node.Start).Line + s.line - 1
}

// Lcov writes coverage in the lcov format. A rule is a function on the line where it starts, with a
// branch for acceptance and a branch for rejection. Each condition of the rule is two branches. Rules
// that are not found in a file are left out.
func Lcov(w io.Writer, r *coverage.Report, sources *Sources) error {
	files := map[string]*tracefile{}
	for i := range r.Items {
		item := &r.Items[i]
		src, node := sources.find(item)
		if node == nil {
			continue
		}
		if files[src.file] == nil {
			files[src.file] = &tracefile{lines: map[int]int{}}
		}
		files[src.file].add(item, src.lineOf(node))
	}
	b := &strings.Builder{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(b, "TN:\nSF:%s\n", untrusted.Line(name))
		files[name].write(b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tracefile is the record of a file.
type tracefile struct {
	functions, hits, branches []string
	hit, taken                int
	lines                     map[int]int
}

func (f *tracefile) add(item *coverage.Item, line int) {
	text := policyItem(item)
	if item.Policy == "" {
		text = fmt.Sprintf("%s %s %s[%d]", item.CRD, item.Version, item.Path, item.Index)
	}
	name := untrusted.Line(text)
	f.functions = append(f.functions, fmt.Sprintf("FN:%d,%s", line, name))
	f.hits = append(f.hits, fmt.Sprintf("FNDA:%d,%s", item.Ran, name))
	f.hit += min(item.Ran, 1)
	f.lines[line] += item.Ran
	branch := func(n, taken int) {
		text := "-"
		if item.Ran > 0 {
			text = fmt.Sprint(taken)
			f.taken += min(taken, 1)
		}
		f.branches = append(f.branches, fmt.Sprintf("BRDA:%d,%d,%d,%s", line, len(f.functions), n, text))
	}
	if item.HasOutcomes() {
		branch(0, item.Passed)
		branch(1, item.Rejected)
	}
	for i, c := range item.Conditions {
		branch(2+2*i, c.True)
		branch(3+2*i, c.False)
	}
}

func (f *tracefile) write(b *strings.Builder) {
	for _, line := range slices.Concat(f.functions, f.hits) {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(b, "FNF:%d\nFNH:%d\n", len(f.functions), f.hit)
	for _, line := range f.branches {
		b.WriteString(line + "\n")
	}
	fmt.Fprintf(b, "BRF:%d\nBRH:%d\n", len(f.branches), f.taken)
	hit := 0
	for _, n := range slices.Sorted(maps.Keys(f.lines)) {
		fmt.Fprintf(b, "DA:%d,%d\n", n, f.lines[n])
		hit += min(f.lines[n], 1)
	}
	fmt.Fprintf(b, "LF:%d\nLH:%d\nend_of_record\n", len(f.lines), hit)
}
