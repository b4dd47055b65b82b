package repl

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/assist"
)

// How it works: to count the objects that rules reject, the CRD is compiled with only these rules, and each
// object of the collection is prepared and passed to them. The counts are cached by the rule, its path, and
// the rest of the CRD, so after an edit only the changed rule runs again. Each rule is counted as if
// it were alone: it has the whole budget of an object, and the object may be otherwise invalid.

// A ruleKey identifies the counts of a rule.
type ruleKey struct {
	// shape is a digest of the CRD without its rules.
	shape                            [sha256.Size]byte
	kube, version, subresource, path string
	rule, messageExpression          string
	optionalOldSelf                  bool
}

// maxCounts limits the number of rules whose counts are cached.
const maxCounts = 1000

// A ruleCount holds the results of a rule for the objects of a collection.
type ruleCount struct {
	// objects is the number of objects of the version in use. Others are of another version.
	objects, others int
	// rejected objects make the rule false, failed objects make it fail, overBudget objects exceed a cost
	// limit, and undecided objects exceed the work limit. unprepared objects are rejected before rules run.
	rejected, failed, overBudget, undecided, unprepared objectList
	// ratcheted is the number of updates for which the rule is false, but only causes a warning.
	ratcheted int
}

// An objectList holds the first objects of a category, by index, and their number.
type objectList struct {
	n     int
	first []int32
}

// maxListed limits the objects of a category that are remembered.
const maxListed = 1000

func (l *objectList) add(i int) {
	if l.n++; len(l.first) < maxListed {
		l.first = append(l.first, int32(i))
	}
}

func (l *objectList) append(more *objectList) {
	l.n += more.n
	l.first = append(l.first, more.first[:min(len(more.first), maxListed-len(l.first))]...)
}

func (c *ruleCount) append(more *ruleCount) {
	c.objects, c.others, c.ratcheted = c.objects+more.objects, c.others+more.others, c.ratcheted+more.ratcheted
	for i, l := range c.lists() {
		l.append(more.lists()[i])
	}
}

func (c *ruleCount) lists() []*objectList {
	return []*objectList{&c.rejected, &c.failed, &c.overBudget, &c.undecided, &c.unprepared}
}

// add counts the result of the rule for object i.
func (c *ruleCount) add(i int, r *engine.RuleResult, perObject int64) {
	errs := r.Errors
	if r.OverBudget {
		errs--
	}
	switch {
	case r.Failed-r.Errors-r.Ratcheted > 0:
		c.rejected.add(i)
	case errs > 0:
		c.failed.add(i)
	case r.OverBudget || r.Cost > perObject:
		c.overBudget.add(i)
	case r.Undecided > 0:
		c.undecided.add(i)
	case r.Ratcheted > 0:
		c.ratcheted++
	}
}

// A countedRule is a rule of the CRD at a path of the schema.
type countedRule struct {
	path  string
	index int
	rule  *apiextensionsv1.ValidationRule
}

// rulesOf returns the rules at paths, as far as they compile. It returns nil without a collection.
func (s *Session) rulesOf(paths ...*location) (out []countedRule) {
	if s.many() == nil {
		return nil
	}
	for _, p := range paths {
		node := assist.SchemaAt(s.state.crd.schema(s.state.version), p.steps)
		if node == nil || p.compiler == nil {
			continue
		}
		for i := range node.XValidations {
			rule := &node.XValidations[i]
			if _, err := p.compile(rule.Rule, rule.OptionalOldSelf); err == nil {
				out = append(out, countedRule{p.pattern(), i, rule})
			}
		}
	}
	return out
}

// countRules returns the counts of rules by their path and index. It returns nil without a collection.
func (s *Session) countRules(ctx context.Context, rules []countedRule) (map[engine.RuleRef]*ruleCount, error) {
	c := s.many()
	if c == nil || len(rules) == 0 {
		return nil, nil
	}
	shape, err := s.state.crd.shape()
	if err != nil {
		return nil, err
	}
	counts := map[engine.RuleRef]*ruleCount{}
	var missing []countedRule
	keys := make([]ruleKey, len(rules))
	for i, r := range rules {
		keys[i] = s.ruleKey(shape, r)
		if cached := c.counts[keys[i]]; cached != nil {
			counts[engine.RuleRef{Path: r.path, Index: r.index}] = cached
		} else {
			missing = append(missing, r)
		}
	}
	if len(missing) == 0 {
		return counts, nil
	}
	ran, err := s.countAgain(ctx, c, missing)
	if err != nil {
		return nil, err
	}
	if len(c.counts)+len(missing) > maxCounts {
		clear(c.counts)
	}
	for i, r := range rules {
		ref := engine.RuleRef{Path: r.path, Index: r.index}
		if counts[ref] == nil {
			counts[ref] = ran[ref]
			c.counts[keys[i]] = ran[ref]
		}
	}
	return counts, nil
}

func (s *Session) ruleKey(shape [sha256.Size]byte, r countedRule) ruleKey {
	return ruleKey{
		shape: shape, kube: s.state.kube, version: s.state.version, subresource: s.state.subresource, path: r.path,
		rule: r.rule.Rule, messageExpression: r.rule.MessageExpression, optionalOldSelf: r.rule.OptionalOldSelf != nil && *r.rule.OptionalOldSelf,
	}
}

// countAgain runs rules for all objects of the collection.
func (s *Session) countAgain(ctx context.Context, c *collection, rules []countedRule) (map[engine.RuleRef]*ruleCount, error) {
	e, err := s.onlyWith(rules)
	if err != nil {
		return nil, err
	}
	total := make([]ruleCount, len(rules))
	olds := s.knownOlds()
	run := counter{e, s.state, indexesOf(rules), int64(s.limits.WithDefaults().PerObject)}
	work := func(from, to int) []ruleCount {
		block := make([]ruleCount, len(rules))
		for i := from; i < to && ctx.Err() == nil; i++ {
			run.count(ctx, i, c.store.Object(i), olds.of(c.store.Head(i)), block)
		}
		return block
	}
	err = sweep(ctx, c.store.Len(), work, func(block []ruleCount) {
		for i := range block {
			total[i].append(&block[i])
		}
	})
	if err != nil {
		return nil, err
	}
	out := map[engine.RuleRef]*ruleCount{}
	for i, r := range rules {
		out[engine.RuleRef{Path: r.path, Index: r.index}] = &total[i]
	}
	return out, nil
}

// A counter runs the rules of an engine, which onlyWith returned.
type counter struct {
	engine    *engine.Engine
	state     *state
	indexes   map[engine.RuleRef]int // of the rules in counts
	perObject int64                  // the cost limit of an object
}

// count runs the rules for object i and adds the results to counts.
func (n *counter) count(ctx context.Context, i int, object, old map[string]any, counts []ruleCount) {
	apiVersion, _ := object["apiVersion"].(string)
	if versionOf(apiVersion) != n.state.version {
		for k := range counts {
			counts[k].others++
		}
		return
	}
	var results []engine.RuleResult
	p, err := prepareWrite(n.engine, n.state, object, old)
	if err == nil {
		results, _, err = p.RunRules(ctx)
	}
	var work *engine.WorkLimitError
	failed := err != nil && !errors.As(err, &work)
	for k := range counts {
		if counts[k].objects++; failed {
			counts[k].unprepared.add(i)
		}
	}
	for k := range results {
		r := &results[k]
		counts[n.indexes[engine.RuleRef{Path: r.Path, Index: r.Index}]].add(i, r, n.perObject)
	}
}

// indexesOf returns the index in rules of each rule, by its path and its index in the CRD of onlyWith.
func indexesOf(rules []countedRule) map[engine.RuleRef]int {
	indexes, at := map[engine.RuleRef]int{}, map[string]int{}
	for i, r := range rules {
		indexes[engine.RuleRef{Path: r.path, Index: at[r.path]}] = i
		at[r.path]++
	}
	return indexes
}

// onlyWith compiles the CRD with only the given rules. The budget of an object suffices for each of them.
func (s *Session) onlyWith(rules []countedRule) (*engine.Engine, error) {
	kept := map[string][]apiextensionsv1.ValidationRule{}
	for _, r := range rules {
		kept[r.path] = append(kept[r.path], *r.rule)
	}
	def := s.state.crd.def.DeepCopy()
	for i := range def.Spec.Versions {
		v := &def.Spec.Versions[i]
		if v.Schema == nil {
			continue
		}
		here := kept
		if v.Name != s.state.version {
			here = nil
		}
		keepRules(v.Schema.OpenAPIV3Schema, nil, here)
	}
	cfg := s.state.crd.config
	cfg.Limits = s.limits.WithDefaults()
	cfg.Limits.PerObject *= int64(max(1, len(rules)))
	e, err := engine.Compile(def, cfg)
	var bad *engine.CompileErrors
	if errors.As(err, &bad) {
		err = nil
	}
	return e, err
}

// keepRules removes the rules at and below a schema, except those that are kept by their path.
func keepRules(s *schemaNode, at []engine.Step, kept map[string][]apiextensionsv1.ValidationRule) {
	if s == nil {
		return
	}
	s.XValidations = kept[engine.FormatPath(at)]
	for name, prop := range s.Properties {
		keepRules(&prop, append(slices.Clone(at), engine.Step{Name: name}), kept)
		s.Properties[name] = prop
	}
	each := append(slices.Clone(at), engine.Step{Any: true})
	if s.Items != nil {
		keepRules(s.Items.Schema, each, kept)
	}
	if s.AdditionalProperties != nil {
		keepRules(s.AdditionalProperties.Schema, each, kept)
	}
	for _, list := range [][]schemaNode{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			keepRules(&list[i], nil, nil)
		}
	}
	keepRules(s.Not, nil, nil)
}

// shape returns a digest of the CRD without its rules.
func (c *crd) shape() ([sha256.Size]byte, error) {
	if c.digest != nil {
		return *c.digest, nil
	}
	def := c.def.DeepCopy()
	for i := range def.Spec.Versions {
		if v := &def.Spec.Versions[i]; v.Schema != nil {
			keepRules(v.Schema.OpenAPIV3Schema, nil, nil)
		}
	}
	data, err := json.Marshal(def.Spec)
	if err != nil {
		return [sha256.Size]byte{}, err
	}
	sum := sha256.Sum256(data)
	c.digest = &sum
	return sum, nil
}
