package vet

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// Lint is a problem in a rule or CRD that the server accepts.
type Lint struct {
	// Name is the name for Config.WithoutLints.
	Name string
	// Version, Path, Index, and Rule identify the rule. Rule is "" for a lint about a schema or the whole CRD.
	Version string
	Path    string
	Index   int
	Rule    string
	// Field is the path of the rule, or of the part that has the problem, in the CRD.
	Field string
	// Message describes the problem and the fix.
	Message string
	// Fix is a replacement for the rule, or "". It compiles in Config.KubeVersion or, if Config.AdviseAll is set, in
	// the oldest vetted version. The CRD may then accept other objects, unless Equivalent is set.
	Fix string
	// Equivalent is set if Fix is meant to have the same result as the rule for each object.
	Equivalent bool
	// Examples are values for which a comparison as text has another result than a comparison of the values.
	Examples []LintExample
	// Read is the field of the rule that an optional-read is about, such as "self.mode", or "".
	Read string
	// KnownKey is the known key that is similar to the unknown key at Field, or "".
	KnownKey string
	// List is the list type that makes the rule unnecessary, or nil.
	List *ListType
}

// A LintExample holds example values of a field.
type LintExample struct {
	// Path is the field's path in an object, such as "spec.items[*].size".
	Path string
	// Values are strings that the field's schema allows.
	Values []string
}

// look returns nil if it finds nothing. It does not set the fields that identify the lint and the rule.
type lint struct {
	name string
	look func(*inspection) *Lint
}

type inspection struct {
	*rule
	walk *pathWalk
	src  *lex.Source
	// lowest is the oldest version in which a fix has to compile.
	lowest types.Version
	*lintState
	matches map[string][]string
}

// A lintState is shared by the rules of a CRD.
type lintState struct {
	patterns    map[string]*allowedTexts
	noMatches   map[string]bool
	comparisons int
}

func (in *inspection) source() *lex.Source {
	if in.src == nil {
		in.src = lex.NewSource(in.spec.Rule, in.expr.ast)
	}
	return in.src
}

// docs/lints.md has a section for each lint.
func lints() []lint {
	return []lint{
		{"optional-immutable", optionalImmutable},
		{"optional-read", optionalRead},
		{"constant-rule", constantRule},
		{"constant-part", constantPart},
		{"text-order", textOrder},
		{"text-equality", textEquality},
		{"unique-list", uniqueList},
		{"quadratic-rule", quadraticRule},
		{"message-limits", messageLimits},
		{"hidden-work", hiddenWork},
		{"missing-old-self", needsOldValue},
		{impossiblePattern, impossibleMatch},
		{"swallowed-comment", swallowedComment},
		{"failing-literal", failingLiteral},
	}
}

// LintNames returns the valid names for Config.WithoutLints.
func LintNames() []string {
	var names []string
	for _, l := range lints() {
		names = append(names, l.name)
	}
	return append(names, yamlBoolean, optionalParent, contradiction, keptUnknownFields, largeCRD, droppedKey)
}

func (a *admission) lints() []Lint {
	var found []Lint
	state, lowest, all := &lintState{patterns: map[string]*allowedTexts{}, noMatches: map[string]bool{}}, a.lowest(), lints()
	for _, u := range a.units {
		w := &schemaWalk{lintState: state, unit: u, without: a.cfg.WithoutLints}
		w.node(u.root, u.schemaPath(), nil)
		found = append(found, w.found...)
		for _, r := range u.rules {
			if !r.expr.accepted() {
				continue
			}
			in := &inspection{rule: r, walk: newPathWalk(r, r.expr), lowest: lowest, lintState: state}
			for _, l := range all {
				if slices.Contains(a.cfg.WithoutLints, l.name) {
					continue
				}
				if p := l.look(in); p != nil {
					p.Name, p.Version, p.Path, p.Index, p.Rule, p.Field = l.name, u.version(), r.at.objectPath(), r.index, r.spec.Rule, r.path.String()
					found = append(found, *p)
				}
			}
		}
	}
	return found
}

func (a *admission) lowest() types.Version {
	lowest := a.version
	for _, v := range a.advised() {
		lowest.Minor = min(lowest.Minor, v.Minor)
	}
	return lowest
}

// The result can contain the vetted version.
func (a *admission) advised() (list []types.Version) {
	if a.cfg.AdviseAll {
		list = parsed(a.cfg.KubeVersions)
	}
	return list
}

// swallowedComment finds a comment that contains the rest of the rule, because YAML joined its lines.
func swallowedComment(in *inspection) *Lint {
	if !strings.Contains(in.spec.Rule, "//") {
		return nil
	}
	env := celenv.NewRules(in.lowest)
	fixed, _ := lex.Swallowed(in.spec.Rule, func(src string) bool {
		_, checked, err := env.Compile(in.expr.key.Decl, in.expr.key.Optional, src)
		return err == nil && checked.OutputType().Kind() == in.expr.ast.OutputType().Kind()
	})
	if fixed == "" {
		return nil
	}
	return &Lint{Message: lex.SwallowedMessage, Fix: fixed}
}

const keptUnknownFields = "kept-unknown-fields"

// kubectl removes a field only if it applied the field before; CRDs that were created as v1beta1 have
// preserveUnknownFields: true by default. raw is the new CRD.
func (r *Report) addKept(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, raw []byte, cfg Config) error {
	old := cfg.Old
	if old == nil || !old.Spec.PreserveUnknownFields || crd.Spec.PreserveUnknownFields || cfg.VerdictOnly || r.Undecided != nil ||
		slices.Contains(cfg.WithoutLints, keptUnknownFields) || setsPreserve(raw) || setsPreserve([]byte(old.Annotations[lastApplied])) {
		return nil
	}
	merged := crd.DeepCopy()
	merged.Spec.PreserveUnknownFields = true
	cfg.VerdictOnly, cfg.KubeVersions = true, nil
	applied, err := new(Report).vet(ctx, merged, cfg)
	if err != nil {
		return err
	}
	effect := "servers still do not remove unknown fields"
	if len(applied.Causes) > 0 && r.Accepted {
		effect = "the server rejects the CRD: " + applied.Causes[0].Message
	}
	r.Lints = append(r.Lints, Lint{Name: keptUnknownFields, Field: "spec", Message: "kubectl apply keeps preserveUnknownFields: true of the old CRD, " +
		"because the new CRD does not set the field (write preserveUnknownFields: false); " + effect})
	return nil
}

func setsPreserve(crd []byte) bool {
	var set struct{ Spec map[string]json.RawMessage }
	return json.Unmarshal(crd, &set) == nil && set.Spec["preserveUnknownFields"] != nil
}
