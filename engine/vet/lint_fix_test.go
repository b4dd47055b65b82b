package vet

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/testing/corpus"
)

// A lintFix returns false if the lint offers no fix.
type lintFix func(t testing.TB, crd map[string]any, l *Lint) bool

var (
	addedRule    = regexp.MustCompile(`add the rule ("(?:[^"\\]|\\.)*") to (.*), or make`)
	guardOf      = regexp.MustCompile(`or (!.*) \|\| …$`)
	addedDefault = regexp.MustCompile(`add default: (.*)$`)
	writtenFix   = regexp.MustCompile(`: write (.*)$`)
)

var lintFixes = map[string]lintFix{
	"optional-immutable": func(t testing.TB, crd map[string]any, l *Lint) bool {
		m := addedRule.FindStringSubmatch(l.Message)
		if m == nil {
			t.Fatalf("no rule in %s", l.Message)
		}
		rule, err := strconv.Unquote(m[1])
		if err != nil {
			t.Fatal(err)
		}
		eachSchema(t, crd, l.Version, strings.TrimPrefix(m[2], "the root"), func(s map[string]any) {
			rules, _ := s["x-kubernetes-validations"].([]any)
			if !slices.ContainsFunc(rules, func(r any) bool { return r.(map[string]any)["rule"] == rule }) {
				s["x-kubernetes-validations"] = append(rules, map[string]any{"rule": rule})
			}
		})
		return true
	},
	"optional-read": func(t testing.TB, crd map[string]any, l *Lint) bool {
		m := guardOf.FindStringSubmatch(l.Message)
		if m == nil || !strings.HasPrefix(l.Read, "self.") {
			return false
		}
		return replaceRule(t, crd, l, m[1]+" || ("+l.Rule+")")
	},
	"constant-part": replacement, "text-order": replacement, "text-equality": replacement, "quadratic-rule": replacement,
	"missing-old-self": replacement,
	"unique-list": func(t testing.TB, crd map[string]any, l *Lint) bool {
		eachSchema(t, crd, l.Version, l.List.Path, func(s map[string]any) {
			if s["x-kubernetes-list-type"] = "set"; len(l.List.Keys) > 0 {
				s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = "map", l.List.Keys
			}
		})
		eachSchema(t, crd, l.Version, l.Path, func(s map[string]any) {
			rules := s["x-kubernetes-validations"].([]any)
			s["x-kubernetes-validations"] = slices.Delete(rules, l.Index, l.Index+1)
		})
		return true
	},
	impossiblePattern: func(t testing.TB, crd map[string]any, l *Lint) bool {
		if l.Rule != "" {
			return replacement(t, crd, l)
		}
		m := writtenFix.FindStringSubmatch(l.Message)
		if m != nil {
			eachSchema(t, crd, l.Version, l.Path, func(s map[string]any) { s["pattern"] = m[1] })
		}
		return m != nil
	},
	optionalParent: func(t testing.TB, crd map[string]any, l *Lint) bool {
		if strings.Contains(l.Message, "required: [spec]") {
			eachSchema(t, crd, l.Version, "", func(s map[string]any) {
				required, _ := s["required"].([]any)
				s["required"] = append(required, "spec")
			})
			return true
		}
		var value map[string]any
		if m := addedDefault.FindStringSubmatch(l.Message); m == nil || json.Unmarshal([]byte(m[1]), &value) != nil {
			return false
		}
		eachSchema(t, crd, l.Version, l.Path, func(s map[string]any) { s["default"] = value })
		return true
	},
	contradiction: func(t testing.TB, crd map[string]any, l *Lint) bool {
		eachSchema(t, crd, l.Version, l.Path, func(s map[string]any) {
			for _, key := range []string{"enum", "required", "maxLength", "minLength", "pattern", "minimum", "maximum", "minItems", "maxItems", "minProperties", "maxProperties"} {
				delete(s, key)
			}
		})
		return true
	},
	yamlBoolean: func(t testing.TB, crd map[string]any, l *Lint) bool {
		quoted := false
		eachSchema(t, crd, l.Version, l.Path, func(s map[string]any) {
			list, _ := s["enum"].([]any)
			if i := slices.Index(list, any(false)); i >= 0 {
				list[i], quoted = "disabled", true
			}
		})
		return quoted
	},
}

func replacement(t testing.TB, crd map[string]any, l *Lint) bool {
	return l.Fix != "" && replaceRule(t, crd, l, l.Fix)
}

func replaceRule(t testing.TB, crd map[string]any, l *Lint, rule string) bool {
	eachSchema(t, crd, l.Version, l.Path, func(s map[string]any) {
		s["x-kubernetes-validations"].([]any)[l.Index].(map[string]any)["rule"] = rule
	})
	return true
}

// If version is "", eachSchema visits all versions.
func eachSchema(t testing.TB, crd map[string]any, version, path string, f func(map[string]any)) {
	t.Helper()
	steps, err := engine.ParsePath(path)
	if err != nil && path != "" {
		t.Fatal(path, err)
	}
	for _, v := range crd["spec"].(map[string]any)["versions"].([]any) {
		v := v.(map[string]any)
		if version != "" && v["name"] != version {
			continue
		}
		s := v["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		for _, step := range steps {
			switch {
			case !step.Any:
				s = s["properties"].(map[string]any)[step.Name].(map[string]any)
			case s["items"] != nil:
				s = s["items"].(map[string]any)
			default:
				s = s["additionalProperties"].(map[string]any)
			}
		}
		f(s)
	}
}

func (l *Lint) place() string {
	return fmt.Sprint(l.Name, " ", l.Version, " ", l.Path, " ", l.Index, " ", l.Read)
}

// The server must accept the result, the lint must be gone, and no other lint may appear. checkFixes returns the
// number of lints with a fix.
func checkFixes(t testing.TB, raw []byte, name string) (fixed int) {
	t.Helper()
	before := vetJSON(t, raw)
	crd, err := engine.Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for i := range slices.Backward(before.Lints) { // the index of a rule does not depend on later rules
		l := &before.Lints[i]
		if known[l.place()] = true; l.Name == name && lintFixes[name](t, crd, l) {
			known[l.place()] = false
			fixed++
		}
	}
	if fixed == 0 {
		return 0
	}
	fixedCRD, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	after := vetJSON(t, fixedCRD)
	if before.Accepted && !after.Accepted {
		t.Errorf("%s: with the fixes of %s, the server rejects the CRD: %v", before.Name, name, after.Causes)
	}
	for _, l := range after.Lints {
		if isKnown, ok := known[l.place()]; !isKnown && (ok || name != "optional-read" && name != "unique-list") {
			t.Errorf("%s: after the fixes of %s: %s %s: %s", before.Name, name, l.place(), l.Rule, l.Message)
		}
	}
	return fixed
}

func vetJSON(t testing.TB, crd []byte) *Report {
	t.Helper()
	r, err := Vet(context.Background(), crd, Config{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestLintFixes(t *testing.T) {
	t.Parallel()
	const image = `{type: string, maxLength: 9, x-kubernetes-validations: [{rule: self == oldSelf}]}`
	for name, schemas := range map[string][]string{
		"optional-immutable": {
			`{type: object, required: [spec], properties: {spec: {type: object, properties: {image: ` + image + `}}}}`,
			`{type: object, properties: {spec: {type: object, properties: {image: ` + image + `}}}}`,
			`{type: object, properties: {spec: {type: object, properties: {a: {type: object, properties: {b: {type: object, required: [image], properties: {image: ` + image + `}}}}}}}}`,
			`{type: object, properties: {spec: {type: object, properties: {namespace: {type: object, properties: {"x-y": ` + image + `}}}}}}`,
			`{type: object, required: [spec], properties: {spec: {type: object, properties: {l: {type: array, maxItems: 5, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k],
			  items: {type: object, required: [k], properties: {k: {type: string}, o: {type: object, properties: {image: ` + image + `}}}}}}}}}`,
		},
		"optional-read": {
			`{type: object, required: [spec], properties: {spec: {type: object, properties: {a: {type: integer}, b: {type: integer}}, x-kubernetes-validations: [{rule: self.a < self.b}]}}}`,
			`{type: object, properties: {spec: {type: object, properties: {a: {type: object, properties: {b: {type: integer}}}}}}, x-kubernetes-validations: [{rule: self.spec.a.b < 4}]}`,
		},
		"constant-part": {`{type: object, required: [spec], properties: {spec: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "size(self) >= 0 && self != 'a'"}]}}}`},
		"text-order":    {`{type: object, required: [spec], properties: {spec: {type: object, required: [size], properties: {size: {type: string, maxLength: 9}}, x-kubernetes-validations: [{rule: "self.size > '9Gi'"}]}}}`},
		"text-equality": {`{type: object, required: [spec], properties: {spec: {type: object, required: [size], properties: {size: {type: string, maxLength: 9}}, x-kubernetes-validations: [{rule: "self.size != '1Gi'"}]}}}`},
		"quadratic-rule": {`{type: object, required: [spec], properties: {spec: {type: array, maxItems: 5, items: {type: string, maxLength: 9},
			x-kubernetes-validations: [{rule: "self.all(x, self.all(y, x == y))"}]}}}`},
		"unique-list": {`{type: object, required: [spec], properties: {spec: {type: object, properties: {l: {type: array, maxItems: 5, items: {type: string, maxLength: 9},
			x-kubernetes-validations: [{rule: "self.all(x, self.exists_one(y, x == y))"}]}}}}}`},
		"missing-old-self": {
			`{type: object, properties: {spec: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "oldSelf.hasValue() && self == oldSelf.value()", optionalOldSelf: true}]}}}`,
			`{type: object, required: [spec], properties: {spec: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "oldSelf.hasValue() && self == oldSelf.value() && self != 'x'", optionalOldSelf: true}]}}}`,
		},
		impossiblePattern: {
			`{type: object, properties: {spec: {type: string, pattern: "'^[a-z]+$'"}}}`,
			`{type: object, properties: {spec: {type: string, maxLength: 5, pattern: "/^[a-z]+$/"}}}`,
			`{type: object, properties: {spec: {type: string, maxLength: 9, x-kubernetes-validations: [{rule: "self.matches('\"^[a-z]+$\"')"}]}}}`,
		},
		yamlBoolean: {`{type: object, properties: {spec: {type: string, enum: [info, off]}}}`},
		contradiction: {
			`{type: object, properties: {spec: {type: string, enum: [1, a]}}}`,
			`{type: object, properties: {spec: {type: integer, enum: ["1"]}}}`,
			`{type: object, properties: {spec: {type: integer, maxLength: 3}}}`,
			`{type: object, properties: {spec: {type: object, required: [a], properties: {b: {type: string}}}}}`,
		},
		optionalParent: {
			`{type: object, properties: {spec: {type: object, properties: {a: {type: integer, default: 1}, b: {type: string, default: x}}}}}`,
			`{type: object, required: [spec], properties: {spec: {type: object, properties: {a: {type: object, required: [b], properties: {b: {type: integer, default: 1}, c: {type: string, default: x}}}}}}}`,
			`{type: object, required: [spec], properties: {spec: {type: object, properties: {a: {type: object, properties: {b: {type: integer, default: 1}, c: {type: integer, default: 2}}, x-kubernetes-validations: [{rule: self.b < self.c}]}}}}}`,
			`{type: object, properties: {spec: {type: object, required: [a], properties: {a: {type: integer}}, x-kubernetes-validations: [{rule: self.a > 3}]}}}`,
		},
	} {
		for i, schema := range schemas {
			text := strings.Replace(fixCRD, "SCHEMA", schema, 1)
			raw, err := yaml.YAMLToJSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			if r := vetJSON(t, raw); !r.Accepted || len(r.Lints) == 0 || r.Lints[0].Name != name {
				t.Errorf("%s %d: got %v %v", name, i, r.Causes, r.Lints)
			}
			if checkFixes(t, raw, name) == 0 {
				t.Errorf("%s %d: no fix", name, i)
			}
		}
	}
	for name := range lintFixes {
		if !slices.Contains(LintNames(), name) {
			t.Errorf("no lint %s", name)
		}
	}
}

const fixCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, schema: {openAPIV3Schema: SCHEMA}}]
`

func TestLintFixesOfCorpus(t *testing.T) {
	t.Parallel()
	hits, fixed := map[string]int{}, map[string]int{}
	for _, path := range sample(corpus.CRDFiles(t)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := yaml.YAMLToJSON(text)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, l := range vetJSON(t, raw).Lints {
			if hits[l.Name]++; !seen[l.Name] && lintFixes[l.Name] != nil {
				fixed[l.Name] += checkFixes(t, raw, l.Name)
			}
			seen[l.Name] = true
		}
	}
	t.Logf("lints: %v; with a fix: %v", hits, fixed)
}
