package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/config"
	"github.com/celadon-cel/celadon/types"
)

// shortName is a CRD with a string format that older Kubernetes versions ignore.
const shortName = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: hosts.example.com}
spec:
  group: example.com
  names: {kind: Host, plural: hosts, singular: host, listKind: HostList}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              name: {type: string, format: k8s-short-name}
`

const notShort = `apiVersion: example.com/v1
kind: Host
metadata: {name: a}
spec: {name: Not Short}
`

const failingSuite = `kind: RuleTest
apiVersion: celadon/v1
name: hosts
crd: crd.yaml
tests:
- name: not short
  object: {apiVersion: example.com/v1, kind: Host, metadata: {name: a}, spec: {name: Not Short}}
  expect: valid
`

// hostileSettings lists, for each key that a file in the tree may set, values that could weaken a
// check. A key without an entry fails TestAttackConfig until its author has considered a hostile tree.
var hostileSettings = map[string][]string{
	"objects":        {"good", "[good, good/a.yaml]", "[]"}, // paths on the command line go before them
	"crds":           {"lax", "[]"},
	"suites":         {"good", "[]"},
	"crd":            {"lax", "[lax]", "[]"},
	"kube-version":   olderVersions(),
	"validate":       {"strict", "warn", "ignore", "'false'"},
	"ignore-field":   {"sops", "spec", "[sops, spec.name]"},
	"strict-kinds":   {"false", "true"},
	"strict":         {"false", "true"},
	"quiet":          {"true"},
	"verbose":        {"false", "true"},
	"summary":        {"true"},
	"explain":        {"true"},
	"all":            {"false", "true"},
	"find":           {"false", "true"},
	"exact-messages": {"false", "true"},
	"cover":          {"false", "true"},
	"cover-min":      {"0", "-1"},
	"output":         {"text", "json", "jsonl", "wide", "yaml", "junit", "sarif", "github", "markdown"},
}

func olderVersions() (all []string) {
	for _, minor := range []int{types.Oldest, 30, types.Newest - 1, types.Newest, types.Newest + 1} {
		all = append(all, fmt.Sprintf("'1.%d'", minor))
	}
	return append(all, "1.30", "''", "['1.30', '1.37']", "['1.30']")
}

var failing = map[string][]string{
	"check": {"--crd", "crd.yaml", "--strict-kinds", "bad"},
	"vet":   {"refused.yaml"},
	"test":  {"--cover-min", "100", "suite.yaml"},
	"diff":  {"--strict", "lax/crd.yaml", "crd.yaml"},
	"eval":  {"--crd", "crd.yaml", "--exit-status", "isIP('x')"},
}

func TestAttackConfig(t *testing.T) {
	t.Parallel()
	keys := configKeys()
	for name, args := range failing {
		for key, class := range keys[name] {
			if class != config.FromTree && class != config.Stricter {
				continue
			}
			if hostileSettings[key] == nil {
				t.Errorf("%s.%s: a file in the tree may set it: add the values that could weaken the check", name, key)
			}
			t.Run(name+"."+key, func(t *testing.T) {
				t.Parallel()
				dir := tree(t, map[string]string{
					".git/HEAD": "", "crd.yaml": shortName, "lax/crd.yaml": strings.Replace(shortName, ", format: k8s-short-name", "", 1),
					"bad/a.yaml": notShort, "good/a.yaml": strings.Replace(notShort, "Not Short", "short", 1),
					"suite.yaml": failingSuite, "good/suite.yaml": strings.Replace(failingSuite, "Not Short", "short", 1),
					"refused.yaml": strings.Replace(shortName, "scope: Namespaced", "scope: Nowhere", 1),
				})
				for _, value := range append([]string{""}, hostileSettings[key]...) {
					text := "" // without the key
					if value != "" {
						text = name + ": {" + key + ": " + value + "}\n"
					}
					plant(t, dir, map[string]string{config.Name: text})
					if out, code := in(t, dir, slices.Concat([]string{"celadon", name}, args)...); code != command.Findings && (value == "" || code != command.Usage) {
						t.Errorf("%s.%s: %s: exit code %d: %s", name, key, value, code, out)
					}
				}
			})
		}
	}
	for name := range map[string]bool{"find": true, "repl": true, "convert-test": true} { // the exit code is not a verdict, or the command needs a program
		for key, class := range keys[name] {
			if (class == config.FromTree || class == config.Stricter) && hostileSettings[key] == nil {
				t.Errorf("%s.%s: a file in the tree may set it: is that safe?", name, key)
			}
		}
	}
}

// TestAttackKubeVersion checks an object that is valid for Kubernetes 1.30 but not for the default. Only the
// user may select that version.
func TestAttackKubeVersion(t *testing.T) {
	t.Parallel()
	dir := tree(t, map[string]string{"host.yaml": shortName, "file.yaml": "check: {kube-version: '1.30'}\n", config.Name: "check: {kube-version: '1.30'}\n"})
	commit(t, dir)
	plant(t, dir, map[string]string{"bad/a.yaml": notShort}) // new, so that --base does not excuse it
	for name, test := range map[string]struct {
		args []string
		code int
		note bool
	}{
		"found":        {nil, command.Findings, true},
		"of the base":  {[]string{"--base", "HEAD"}, command.Findings, true},
		"given":        {[]string{"--kube-version", "1.30"}, command.OK, false},
		"given newest": {[]string{"--kube-version", types.Version{Minor: types.Newest}.String()}, command.Findings, false},
		"named":        {[]string{"--config", "file.yaml"}, command.OK, false},
		"none":         {[]string{"--no-config"}, command.Findings, false},
	} {
		out, code := in(t, filepath.Join(dir), slices.Concat([]string{"celadon", "check", "--crd", "host.yaml", "bad"}, test.args)...)
		note := strings.Contains(out, ".celadon.yaml") && strings.Contains(out, "check.kube-version: 1.30 is ignored: it is not the default, 1.37, and could accept more: pass --kube-version 1.30, or name the file with --config")
		if code != test.code || note != test.note {
			t.Errorf("%s: exit code %d, want %d; a note: %t, want %t: %s", name, code, test.code, note, test.note, out)
		}
	}
}
