package service_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/playground/service"
)

const bare = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.example.com}
spec:
  group: example.com
  names: {kind: A, plural: as}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`

// badCRDs returns texts that are not a valid CRD with rules, each with the line of its first problem,
// or 0 if it has none.
func badCRDs(t *testing.T) map[string]struct {
	text string
	line int
} {
	crontab := read(t, "crontab/crd.yaml")
	return map[string]struct {
		text string
		line int
	}{
		"no rules":          {bare, 0},
		"no schema":         {strings.Replace(bare, "    schema: {openAPIV3Schema: {type: object}}\n", "", 1), 0},
		"a misspelt key":    {strings.Replace(bare, "openAPIV3Schema", "openAPIv3Schema", 1), 12},
		"a misspelt rule":   {strings.Replace(crontab, "- rule:", "- rle:", 1), strings.Count(crontab[:strings.Index(crontab, "- rule:")], "\n") + 1},
		"a misspelt kind":   {strings.Replace(bare, "\nkind:", "\nknd:", 1), 1},
		"empty":             {"", 1},
		"a comment":         {"# later\n", 1},
		"broken":            {strings.Replace(bare, "scope:", "scope", 1), 7},
		"broken below":      {"# a comment\n---\n" + strings.Replace(bare, "scope:", "scope", 1), 9},
		"JSON":              {"{\n\"kind\": 1\n\"b\": 2}", 3},
		"a list":            {"[1]\n", 1},
		"null":              {"null\n", 1},
		"another kind":      {"apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", 2},
		"another version":   {strings.Replace(bare, "k8s.io/v1", "k8s.io/v2", 1), 1},
		"a template":        {"a: {{ b }}\n", 1},
		"nothing in it":     {"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a}\n", 0},
		"a List of nothing": {"apiVersion: v1\nkind: List\nitems: []\n", 1},
		"a broken rule":     {strings.Replace(crontab, "self.replicas", "self.replica", 1), 0},
		"twice":             {bare + "---\n" + bare, 0},
		"a duplicate key":   {strings.Replace(bare, "  scope: Namespaced\n", "  scope: Namespaced\n  scope: Namespaced\n", 1), 8},
	}
}

func TestProblemsHaveLines(t *testing.T) {
	t.Parallel()
	for name, test := range badCRDs(t) {
		var got struct {
			Problems []struct {
				Message string
				Line    int
			}
		}
		remarshal(t, ask(t, service.Request{Do: "vet", CRD: test.text}), &got)
		switch {
		case test.line == 0 && len(got.Problems) == 0:
		case test.line == 0 || len(got.Problems) == 0 || got.Problems[0].Line != test.line || got.Problems[0].Message == "":
			t.Errorf("%s: got %+v, want line %d", name, got.Problems, test.line)
		}
	}
}

// TestNoNullLists sends most kinds of requests about valid and invalid texts, and checks that a path with a list
// in one response is never null in another. The page can therefore read lists without checking for null.
func TestNoNullLists(t *testing.T) {
	t.Parallel()
	texts := map[string]string{"good": read(t, "crontab/crd.yaml"), "costly": read(t, "costly/crd.yaml"), "unguarded": read(t, "unguarded/crd.yaml"), "columns": read(t, "shirts/v1beta1.yaml")}
	for name, bad := range badCRDs(t) {
		texts[name] = bad.text
	}
	objects := map[string]string{"no object": "", "refused": rejected, "broken": "a: [\n", "other": "apiVersion: v1\nkind: Pod\n", "of bare": "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\n", "several": rejected + "---\n" + rejected}
	lists, nulls := map[string]bool{}, map[string]string{}
	record := func(of string, value any) {
		eachValue("", value, func(path string, v any) {
			switch v.(type) {
			case []any:
				lists[path] = true
			case nil:
				nulls[path] = of
			}
		})
	}
	for name, crd := range texts {
		r := service.New()
		for of, object := range objects {
			for _, old := range []string{"", object} {
				record("check "+name+", "+of, answered(t, r, service.Request{Do: "check", CRD: crd, Object: object, Old: old}))
				record("share "+name+", "+of, answered(t, r, service.Request{Do: "share", CRD: crd, Object: object, Old: old}))
				record("trace "+name+", "+of, answered(t, r, service.Request{Do: "trace", CRD: crd, Object: object, Old: old}))
			}
		}
		for _, do := range []string{"vet", "fix", "about", "versions"} {
			record(do+" "+name, answered(t, r, service.Request{Do: do, CRD: crd}))
		}
		for _, want := range []string{"refused", "accepted", "error"} {
			record("find "+name, answered(t, r, service.Request{Do: "find", CRD: crd, Of: "crontabs.stable.example.com", Version: "v1", Path: "spec", Want: want, Steps: 500}))
		}
		for at := 0; at < len(crd); at += 37 {
			for _, do := range []string{"complete", "hover", "mends"} {
				record(do+" "+name, answered(t, r, service.Request{Do: do, CRD: crd, At: at}))
			}
		}
	}
	for path := range maps.Keys(lists) {
		if of, null := nulls[path]; null && path != "mends" { // mends is null if there is no expression
			t.Errorf("%s is a list in some answers, and null in that to %s", path, of)
		}
	}
	if len(lists) < 20 {
		t.Errorf("only %d lists were seen", len(lists))
	}
}

// answered returns the value of a response below the name of the request, so that paths of different
// requests differ.
func answered(t *testing.T, r *service.Service, req service.Request) any {
	t.Helper()
	text, err := json.Marshal(req)
	if err != nil {
		t.Fatal(err)
	}
	var reply struct {
		Value any
		Error string
	}
	if err := json.Unmarshal(r.Answer(t.Context(), text), &reply); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(reply.Error, "a bug") {
		t.Errorf("%s: %s", req.Do, reply.Error)
	}
	if reply.Error != "" {
		return map[string]any{}
	}
	return map[string]any{req.Do: reply.Value}
}

func eachValue(path string, v any, visit func(string, any)) {
	visit(strings.TrimPrefix(path, "."), v)
	switch v := v.(type) {
	case map[string]any:
		for key, value := range v {
			eachValue(fmt.Sprint(path, ".", key), value, visit)
		}
	case []any:
		for _, item := range v {
			eachValue(path+"[]", item, visit)
		}
	}
}
