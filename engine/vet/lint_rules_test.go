package vet

import (
	"context"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/engine/internal/notation"
	"github.com/celadon-cel/celadon/types"
)

const lintFields = `
type: object
required: [size, limit, minVersion, maxVersion, timeout, other, name, pods, list, texts, num]
properties:
  size: {type: string, maxLength: 20}
  limit: {type: string, maxLength: 20}
  minVersion: {type: string, maxLength: 20}
  maxVersion: {type: string, maxLength: 20}
  timeout: {type: string, maxLength: 20}
  period: {type: string, format: duration, maxLength: 20}
  started: {type: string, format: date-time, maxLength: 40}
  seenTimestamp: {type: string, maxLength: 40}
  lastTime: {type: string, maxLength: 40}
  clusterIP: {type: string, maxLength: 40}
  podCIDR: {type: string, maxLength: 40}
  other: {type: string, maxLength: 20}
  another: {type: string, maxLength: 20}
  name: {type: string, maxLength: 20}
  patterned: {type: string, maxLength: 20, pattern: '^[0-9]+(Mi|Gi)$'}
  digits: {type: string, maxLength: 20, pattern: '^[0-9]+$'}
  twoDigits: {type: string, maxLength: 2, minLength: 2, pattern: '^[0-9]+$'}
  tls: {type: string, enum: ['1.0', '1.1', '1.2', '1.3']}
  release: {type: string, enum: ['1.9', '1.10', '1.11']}
  steps: {type: string, enum: ['30s', '1m', '60s']}
  port: {x-kubernetes-int-or-string: true, maxLength: 9}
  pods: {x-kubernetes-int-or-string: true, maxLength: 9}
  cpu: {x-kubernetes-int-or-string: true, pattern: '^[0-9]+m?$', maxLength: 9}
  storage: {type: string, default: 1Gi, maxLength: 20}
  sizes: {type: array, maxItems: 3, items: {type: string, maxLength: 20}}
  resources: {type: object, maxProperties: 3, additionalProperties: {type: string, maxLength: 20}}
  num: {type: integer, minimum: 0, maximum: 9}
  count: {type: integer, minimum: 11}
  mode: {type: string, enum: [Cluster, Namespace]}
  e: {type: string, enum: [a, b]}
  list: {type: array, maxItems: 5, items: {type: object, required: [name, id], properties: {name: {type: string, maxLength: 9}, id: {type: integer}, opt: {type: string, maxLength: 9}, kind: {type: string, maxLength: 9, default: x}, d: {type: number}}}}
  mapped: {type: array, maxItems: 5, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name, id], properties: {name: {type: string, maxLength: 9}, id: {type: integer}}}}
  atomic: {type: array, maxItems: 5, x-kubernetes-list-type: atomic, items: {type: string, maxLength: 9}}
  texts: {type: array, maxItems: 5, items: {type: string, maxLength: 9}}
x-kubernetes-validations: [{rule: R}]
`

func lintSchema(t *testing.T, rule string) (s apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(lintFields), &s); err != nil {
		t.Fatal(err)
	}
	s.XValidations[0].Rule = rule
	return s
}

// lintsOf ignores optional-read and hidden-work, which many rules here also have.
func lintsOf(t *testing.T, rule string, cfg Config) []Lint {
	t.Helper()
	s := lintSchema(t, rule)
	cfg.WithoutLints = append(cfg.WithoutLints, "optional-read", "hidden-work")
	r, err := VetCRD(context.Background(), unitCRD(s), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Accepted {
		t.Fatalf("rejected: %v", r.Causes)
	}
	return r.Lints
}

// A fix of "" means that the lint has none; a name of "" that the rule has no lint.
func checkLint(t *testing.T, rule, name, fix string) {
	t.Helper()
	list := lintsOf(t, rule, Config{})
	if name == "" {
		if len(list) > 0 {
			t.Errorf("%s: %+v", rule, list)
		}
		return
	}
	if len(list) != 1 || list[0].Name != name || list[0].Fix != fix {
		t.Errorf("%s: want %s with fix %s\n%+v", rule, name, fix, list)
		return
	}
	if fix != "" {
		for _, l := range lintsOf(t, fix, Config{}) {
			if l.Name == name {
				t.Errorf("%s: the fix has the same problem: %s", fix, l.Message)
			}
		}
	}
}

func TestTextOrder(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, fix string }{
		{"self.size >= '1Gi'", "isQuantity(self.size) && quantity(self.size).compareTo(quantity('1Gi')) >= 0"},
		{"self.size < self.limit", "isQuantity(self.size) && isQuantity(self.limit) && quantity(self.size).isLessThan(quantity(self.limit))"},
		{"self.name == 'x' || '5Gi' > self.limit", "self.name == 'x' || (isQuantity(self.limit) && quantity('5Gi').isGreaterThan(quantity(self.limit)))"},
		{"self.minVersion <= self.maxVersion", "isSemver(self.minVersion, true) && isSemver(self.maxVersion, true) && semver(self.minVersion, true).compareTo(semver(self.maxVersion, true)) <= 0"},
		{"self.minVersion < '1.20'", "isSemver(self.minVersion, true) && semver(self.minVersion, true).isLessThan(semver('1.20', true))"},
		{"self.timeout > '5s'", "duration(self.timeout) > duration('5s')"},
		{"self.other > '90s'", "duration(self.other) > duration('90s')"},
		{"self.other >= '10Gi'", "isQuantity(self.other) && quantity(self.other).compareTo(quantity('10Gi')) >= 0"},
		{"self.other > '1024'", "int(self.other) > 1024"},
		{"!has(self.patterned) || self.patterned < '10Gi'", "!has(self.patterned) || (isQuantity(self.patterned) && quantity(self.patterned).isLessThan(quantity('10Gi')))"},
		{"has(self.digits) && self.digits < self.digits + 'x' || has(self.digits) && self.digits > '5'", "has(self.digits) && self.digits < self.digits + 'x' || has(self.digits) && (int(self.digits) > 5)"},
		{"has(self.release) && self.release > '1.9'", "has(self.release) && (semver(self.release, true).isGreaterThan(semver('1.9', true)))"},
		{"has(self.steps) && self.steps < '1m'", "has(self.steps) && (duration(self.steps) < duration('1m'))"},
		{"has(self.port) && self.port < self.pods", "has(self.port) && (int(self.port) < int(self.pods))"},
		{"has(self.cpu) && self.cpu <= '500m'", "has(self.cpu) && (isQuantity(string(self.cpu)) && quantity(string(self.cpu)).compareTo(quantity('500m')) <= 0)"},
		{"self.storage > '0'", "isQuantity(self.storage) && quantity(self.storage).isGreaterThan(quantity('0'))"},
		{"has(self.seenTimestamp) && self.seenTimestamp > '2024-01-01T09:00:00Z'", "has(self.seenTimestamp) && (timestamp(self.seenTimestamp) > timestamp('2024-01-01T09:00:00Z'))"},
		{"has(self.clusterIP) && self.clusterIP > '10.0.0.1'", ""},
		{"has(self.podCIDR) && self.podCIDR >= '10.0.0.0/8'", ""},
		{"has(self.sizes) && self.sizes.all(s, s <= '10Gi')", "has(self.sizes) && self.sizes.all(s, (isQuantity(s) && quantity(s).compareTo(quantity('10Gi')) <= 0))"},
		{"has(self.resources) && self.resources['cpu'] < '2k'", "has(self.resources) && (isQuantity(self.resources['cpu']) && quantity(self.resources['cpu']).isLessThan(quantity('2k')))"},
		{"self.size >= oldSelf.size", "isQuantity(self.size) && isQuantity(oldSelf.size) && quantity(self.size).compareTo(quantity(oldSelf.size)) >= 0"},
		{"self.size >= '1Gi' && self.limit < '9Gi'", "(isQuantity(self.size) && quantity(self.size).compareTo(quantity('1Gi')) >= 0) && (isQuantity(self.limit) && quantity(self.limit).isLessThan(quantity('9Gi')))"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, c.rule, "text-order", c.fix)
		})
	}
	for _, rule := range []string{
		"self.name < 'm'", "self.name < self.other", "self.other < ''", "self.size < 'small'", "size(self.size) < 9",
		"has(self.period) && self.period < duration('5s')", "has(self.started) && self.started < timestamp('2024-01-01T09:00:00Z')",
		"has(self.tls) && self.tls >= '1.2'", "has(self.twoDigits) && self.twoDigits < '20'", "self.num < 5", "has(self.port) && self.port == 'http'",
		"has(self.lastTime) && self.lastTime > '09:30'", "has(self.lastTime) && self.lastTime >= oldSelf.name",
		"self.other.matches('^[0-9]{2}$') && self.other < '60'", "quantity(self.size).isLessThan(quantity('1Gi'))",
		"self.name + 'x' < '10Gi'",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, rule, "", "")
		})
	}
}

func TestTextEquality(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, fix string }{
		{"self.size == '1Gi'", "isQuantity(self.size) && quantity(self.size).compareTo(quantity('1Gi')) == 0"},
		{"self.size != '1Gi'", "!isQuantity(self.size) || quantity(self.size).compareTo(quantity('1Gi')) != 0"},
		{"self.size in ['1Gi', '2Gi']", `isQuantity(self.size) && (quantity(self.size).compareTo(quantity("1Gi")) == 0 || quantity(self.size).compareTo(quantity("2Gi")) == 0)`},
		{"self.timeout != '0s'", "duration(self.timeout) != duration('0s')"},
		{"self.timeout in ['1m', '1h']", `duration(self.timeout) in [duration("1m"), duration("1h")]`},
		{"self.size != self.limit", "!(isQuantity(self.size) && isQuantity(self.limit)) || quantity(self.size).compareTo(quantity(self.limit)) != 0"},
		{"has(self.steps) && self.steps == '1m'", "has(self.steps) && (duration(self.steps) == duration('1m'))"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, c.rule, "text-equality", c.fix)
		})
	}
	for _, rule := range []string{
		"self.size == oldSelf.size", "self.size != ''", "self.size in ['1Gi', 'auto']", "self.minVersion == '1.20'", "self.name == '1'",
		"self.name == self.other", "has(self.size) == has(self.limit)", "has(self.steps) && self.steps == '30s'", "self.size == '1'", "self.list.all(x, self.list.exists(y, x.name != y.name))",
		"has(self.sizes) && self.sizes.all(x, self.sizes.exists(y, x != y))",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, rule, "", "")
		})
	}
}

func TestConstantPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, fix string }{
		{"size(self.name) >= 0 && self.name != 'x'", "self.name != 'x'"},
		{"self.name != 'x' && self.name.size() > -1", "self.name != 'x'"},
		{"self.name == 'x' || self.num > 9", "self.name == 'x'"},
		{"self.name == self.name && self.num < 5", "self.num < 5"},
		{"self.num > 9 ? self.name == 'x' : self.name == 'y'", ""},
		{"self.mode == 'Cluter' || self.num < 3", "self.mode == 'Cluster' || self.num < 3"},
		{"self.num < 3 || self.mode == 'Other' && self.num > 5", ""},
		{"self.list.all(x, size(x.name) <= 9 && x.id > 3)", "self.list.all(x, x.id > 3)"},
		{"self.name == 'a' && self.name == 'b'", ""},
		{"self.name != 'a' || self.name != 'b'", ""},
		{"!(self.name == 'a') || !(self.name == 'b')", ""},
		{"self.num > 5 && self.name != 'x' && self.num < 3", ""},
		{"self.num < 5 || self.num > 3", ""},
		{"self.num == 5 && self.num > 7", ""},
		{"self.count == 0 || self.name == 'x'", "self.name == 'x'"},
		{"self.list.all(x, !self.list.exists(y, y.name == x.name))", ""},
		{"self.texts.all(x, self.texts.exists(y, x == y))", ""},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, c.rule, "constant-part", c.fix)
		})
	}
	for _, rule := range []string{
		"has(self.name) && self.name != 'x'", "self.name != '' && self.name != 'x'", "size(self.name) > 0 && self.name != 'x'",
		"self.name == 'a' || self.name == 'b'", "self.name != 'a' && self.name != 'b'", "self.num > 3 && self.num < 5", "self.num < 3 || self.num > 5",
		"!has(self.count) || self.count == 0 || self.name == 'x'", "self.num != 3 || self.num > 5", "self.texts[0] == 'a' && self.texts[1] == 'b'", "oldSelf.num > 9 || self.num < 4",
		"self.mode == 'Other' || self.num < 3", "self.num < 3 && self.mode != 'Other'", "has(self.num) == has(self.count) || self.name == 'x'", "has(self.e) == (self.name == 'x')", "(has(self.count) == true) == (self.name == 'x')",
		"self.list.exists(x, x.name == 'a' && x.id == 3) && self.list.exists(x, x.name == 'b')", "0 < size(self.name) && self.name != 'x'",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, rule, "", "")
		})
	}
}

func TestUniqueList(t *testing.T) {
	t.Parallel()
	for rule, want := range map[string]string{
		"self.list.all(x, self.list.exists_one(y, x.name == y.name))":                                   "[name]",
		"self.list.all(x, self.list.exists_one(y, y.name == x.name && x.id == y.id))":                   "[name, id]",
		"self.list.all(x, self.list.exists_one(y, y.kind == x.kind))":                                   "[kind]",
		"self.list.all(x, self.list.filter(y, y.name == x.name).size() == 1)":                           "[name]",
		"!self.list.exists(x, size(self.list.filter(y, y.name == x.name)) > 1)":                         "[name]",
		"!has(self.list) || self.list.all(x, self.list.exists_one(y, x.name == y.name))":                "[name]",
		"has(self.list) ? self.list.all(x, self.list.exists_one(y, x.name == y.name)) : true":           "[name]",
		"self.list.all(i, x, self.list.all(j, y, i == j || x.name != y.name))":                          "[name]",
		"self.list.all(i, x, self.list.all(j, y, i <= j || !(x.name == y.name)))":                       "[name]",
		"self.texts.all(x, self.texts.exists_one(y, x == y))":                                           "set",
		"self.texts.all(i, x, self.texts.all(j, y, i == j || x != y))":                                  "set",
		"self.list.all(x, self.list.exists_one(y, has(x.opt) && has(y.opt) && x.opt == y.opt))":         "",
		"self.list.all(x, self.list.exists_one(y, x.opt == y.opt))":                                     "",
		"self.list.all(x, self.list.exists_one(y, x == y))":                                             "",
		"self.list.all(x, self.list.exists_one(y, x.name == y.name || x.id == y.id))":                   "",
		"has(self.mapped) && self.mapped.all(x, self.mapped.exists_one(y, x.id == y.id))":               "",
		"!has(self.mapped) || self.mapped.all(x, self.mapped.exists_one(y, x.id == y.id))":              "",
		"!has(self.atomic) || self.atomic.all(x, self.atomic.exists_one(y, x == y))":                    "",
		"self.texts.all(x, self.list.exists_one(y, x == y.name))":                                       "",
		"self.list.all(i, x, self.list.all(j, y, i == j || x.name != y.name || x.id != y.id || j > 7))": "",
		"self.list.all(i, x, self.list.all(j, y, i == j || !(x.name != y.name)))":                       "",
		"self.list.all(x, self.list.filter(y, y.name == x.name).size() == 2)":                           "",
		"self.list.all(x, self.list.exists_one(y, x.name == y.name) && x.id > 3)":                       "",
		"self.list.filter(x, x.id > 3).all(x, self.list.exists_one(y, x.name == y.name))":               "",
	} {
		list := lintsOf(t, rule, Config{})
		switch {
		case want == "" && len(list) > 0, want != "" && (len(list) != 1 || list[0].Name != "unique-list" || !strings.Contains(list[0].Message, want)):
			t.Errorf("%s: want %q: %+v", rule, want, list)
		}
	}
}

func TestQuadraticRule(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ rule, fix string }{
		{"self.texts.all(x, self.list.exists(y, y.name == 'a') || x != 'b')", "self.list.exists(y, y.name == 'a') || self.texts.all(x, x != 'b')"},
		{"self.num < 3 && self.texts.all(x, x != 'b' || self.list.exists(y, y.name == 'a'))", "self.num < 3 && (self.list.exists(y, y.name == 'a') || self.texts.all(x, x != 'b'))"},
		{"self.texts.exists(x, x == 'b' && self.list.all(y, y.id > 3))", "self.list.all(y, y.id > 3) && self.texts.exists(x, x == 'b')"},
		{"self.list.all(x, self.list.all(y, x.name == y.name))", "self.list.all(x, x.name == self.list[0].name)"},
		{"self.list.all(x, self.list.all(y, x.name == y.name && y.id == x.id))", "self.list.all(x, x.name == self.list[0].name && x.id == self.list[0].id)"},
		{"self.texts.all(x, self.texts.all(y, x == y))", "self.texts.all(x, x == self.texts[0])"},
		{"self.list.all(x, self.texts.exists(y, y == x.name))", "self.list.all(x, (x.name in self.texts))"},
		{"self.list.all(x, self.texts.all(y, x.name != y))", "self.list.all(x, !(x.name in self.texts))"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, c.rule, "quadratic-rule", c.fix)
			list := lintsOf(t, c.rule, Config{})
			if len(list) != 1 || !list[0].Equivalent {
				t.Fatalf("%+v", list)
			}
			if before, after := estimate(t, c.rule), estimate(t, list[0].Fix); after*4 > before*3 {
				t.Errorf("the estimate is %d before and %d after", before, after)
			}
		})
	}
	for _, rule := range []string{
		"self.texts.all(x, self.list.exists(y, y.name == x) || x != 'b')", "has(self.sizes) && self.sizes.all(x, x != 'b' && self.num < 3)",
		"self.list.all(x, self.list.all(y, x.opt == y.opt))", "self.list.all(x, self.list.all(y, x.d == y.d))",
		"self.list.all(x, self.texts.exists(y, y == x.opt))", "self.texts.exists(y, y == 'a')",
		"self.sizes.all(x, x != 'b' || self.list.exists(y, y.name == 'a'))", "self.list.all(x, self.texts.exists(y, y == x.name && y != 'a'))",
	} {
		t.Run(rule, func(t *testing.T) {
			t.Parallel()
			checkLint(t, rule, "", "")
		})
	}
}

func estimate(t *testing.T, rule string) uint64 {
	t.Helper()
	r, err := VetCRD(context.Background(), unitCRD(lintSchema(t, rule)), Config{})
	if err != nil || !r.Accepted {
		t.Fatal(err, r.Causes)
	}
	return r.Versions[0].Rules[0].EstimatedTotal
}

func TestFixesOfOldVersions(t *testing.T) {
	t.Parallel()
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		version := types.Version{Minor: minor}.String()
		for rule, since := range map[string]int{"self.size < '10Gi'": functions[notation.Quantity].since, "self.minVersion < '1.10'": functions[notation.Version].since, "self.timeout < '10s'": types.Oldest} {
			for _, cfg := range []Config{{KubeVersion: version}, {KubeVersions: []string{version}, AdviseAll: true}} {
				list := lintsOf(t, rule, cfg)
				if len(list) != 1 || (list[0].Fix != "") != (minor >= since) {
					t.Errorf("%s in %+v: %+v", rule, cfg, list)
				}
			}
		}
	}
}

func TestHostileLints(t *testing.T) {
	t.Parallel()
	many := func(term, operator string, n int) string {
		return strings.Join(slices.Repeat([]string{term}, n), operator)
	}
	for _, rule := range []string{
		many("self.size < '10Gi'", " || ", 500), many("self.num != 3", " && ", 500), many("!(self.name == 'x')", " && ", 500),
		many("self.list.all(x, self.list.exists(y, x == y))", " && ", 20), many("self.other.matches('[0-9]{900}') && self.other < '5'", " || ", 300),
		"self.size in ['" + many("1Gi", "','", 500) + "']", strings.Repeat("self.texts.all(x, x != 'a' || (", 10) + "true" + strings.Repeat("))", 10),
		many("self.size < '"+strings.Repeat("9", 5000)+"'", " || ", 3), "self.size == '" + strings.Repeat("1", 60) + "Gi'", "self.size != '1e999999999'",
	} {
		s := lintSchema(t, rule)
		r, err := VetCRD(context.Background(), unitCRD(s), Config{})
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range r.Lints {
			if len(l.Examples) > 2*maxComparisons || len(l.Message) > 3000 {
				t.Errorf("%.80s: %d examples, a message of %d bytes", rule, len(l.Examples), len(l.Message))
			}
		}
	}
	in := &inspection{lintState: &lintState{patterns: map[string]*allowedTexts{}}}
	for i := range 2 * maxPatterns {
		in.pattern(strings.Repeat("a", i) + "{900}")
	}
	compiled := 0
	for _, p := range in.patterns {
		if p.pattern != nil {
			compiled++
		}
	}
	if len(in.patterns) != maxPatterns || compiled == 0 {
		t.Errorf("%d patterns, %d compiled", len(in.patterns), compiled)
	}
}
