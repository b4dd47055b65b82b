package vet

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/cost"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

// The estimates are compared with the estimates of each version's library.
func TestVersionCosts(t *testing.T) {
	t.Parallel()
	folder, crds := os.Getenv("CELADON_VERSIONS"), os.Getenv("CELADON_CORPUS")
	if folder == "" || crds == "" {
		t.Skip("CELADON_VERSIONS and CELADON_CORPUS name no folders: nothing to compare")
	}
	files, err := filepath.Glob(filepath.Join(folder, "costs", "corpus-*.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		minor := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "corpus-"), ".tsv")
		t.Run(minor, func(t *testing.T) {
			t.Parallel()
			compareCosts(t, minor, file, crds)
		})
	}
}

func compareCosts(t *testing.T, minor, file, folder string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	reports := map[string]*Report{}
	compared := 0
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		if !level.Long() && i%10 != 0 {
			continue
		}
		row := strings.Split(line, "\t")
		name := row[0] + " " + row[1]
		r := reports[name]
		if r == nil {
			r = vetAt(t, filepath.Join(folder, row[0]), row[1], minor)
			reports[name] = r
		}
		compared++
		if minor == "1.29" && slices.ContainsFunc(r.Needs, func(n Need) bool { return strings.Contains(n.Part, "optionalOldSelf") }) {
			continue // its servers drop the field, its library does not
		}
		if minor == "1.28" && len(r.Strict) > 0 && strings.Contains(r.Strict[0].Message, "optionalOldSelf") {
			continue // an unknown field, which its library does not see
		}
		if got, want := costRow(r, row[2]), strings.Join(row[3:6], " "); got != want && !(row[3] == "compile" && strings.HasPrefix(got, "compile")) {
			t.Errorf("%s %s: got %s, want %s (%s)", name, row[2], got, want, strings.Join(row[6:], " "))
		}
	}
	t.Logf("%d versions of CRDs compared", compared)
}

// costRow returns the verdict on the rules of a version, the sum of their estimates, and the number of rules over
// their limit.
func costRow(r *Report, version string) string {
	for _, v := range r.Versions {
		if v.Name != version {
			continue
		}
		verdict, over := "ok", 0
		var sum uint64
		for _, rule := range v.Rules {
			if rule.Broken {
				verdict = "compile"
			}
			if rule.EstimatedTotal > rule.Limit || rule.MessageExpressionCost > rule.Limit {
				over++
			}
			sum = cost.Add(sum, cost.Add(rule.EstimatedTotal, rule.MessageExpressionCost))
		}
		if verdict == "ok" && (over > 0 || v.EstimatedCost > v.Limit) {
			verdict = "cost"
		}
		return fmt.Sprintf("%s %d %d", verdict, v.EstimatedCost, over)
	}
	return "no rules"
}

func vetAt(t *testing.T, path, name, minor string) *Report {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	docs := utilyaml.NewYAMLReader(bufio.NewReader(f))
	for {
		doc, err := docs.Read()
		if err == io.EOF {
			t.Fatalf("%s: no CRD %s", path, name)
		}
		if err != nil {
			t.Fatal(err)
		}
		var head struct{ Metadata struct{ Name string } }
		if yaml.Unmarshal(doc, &head) != nil || head.Metadata.Name != name {
			continue
		}
		data, err := yaml.YAMLToJSON(doc)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Vet(context.Background(), data, Config{KubeVersion: minor})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
}
