package ruletest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/yaml/decode"
)

type corpusCase struct {
	CRD             string         `json:"crd"`
	AlsoCRDs        []string       `json:"alsoCrds"`
	Version         string         `json:"version"`
	Subresource     string         `json:"subresource"`
	FieldValidation string         `json:"fieldValidation"`
	Expect          string         `json:"expect"`
	Object          map[string]any `json:"object"`
	OldObject       map[string]any `json:"oldObject"`

	id     string
	answer *corpusAnswer
}

type corpusAnswer struct {
	File    string `json:"file"`
	Index   int    `json:"index"`
	Verdict string `json:"verdict"`
	Causes  []struct {
		Reason  string `json:"reason"`
		Field   string `json:"field"`
		Message string `json:"message"`
	} `json:"causes"`
	Persisted map[string]any `json:"persisted"`
}

func readCorpusCases(t testing.TB, folder string) (all []*corpusCase) {
	t.Helper()
	answers := map[string]*corpusAnswer{}
	files, _ := filepath.Glob(filepath.Join(folder, "answers", "*.jsonl"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(data) {
			a := &corpusAnswer{}
			if err := json.Unmarshal(line, a); err != nil {
				t.Fatal(err)
			}
			answers[fmt.Sprintf("%s#%d", a.File, a.Index)] = a
		}
	}
	files, _ = filepath.Glob(filepath.Join(folder, "cases", "*", "*.yaml"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(folder, file)
		docs := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
		for i := 0; ; i++ {
			doc, err := docs.Read()
			if errors.Is(err, io.EOF) {
				break
			}
			c := &corpusCase{id: fmt.Sprintf("%s#%d", rel, i)}
			var v any
			if err == nil {
				v, _, err = decode.Decode(doc)
			}
			if err == nil {
				doc, _ = json.Marshal(v)
				err = json.Unmarshal(doc, c)
			}
			if err != nil {
				t.Fatal(file, err)
			}
			c.answer = answers[c.id]
			all = append(all, c)
		}
	}
	return all
}

func (c *corpusCase) test() map[string]any {
	meta, _ := c.Object["metadata"].(map[string]any)
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		delete(meta, name)
	}
	one := map[string]any{"name": c.id, "object": c.Object, "fieldValidation": "Warn"}
	if c.FieldValidation != "" {
		one["fieldValidation"] = c.FieldValidation
	}
	if c.OldObject != nil {
		one["old"] = c.OldObject
	}
	if c.Subresource != "" {
		one["subresource"] = c.Subresource
	}
	switch a := c.answer; {
	case a == nil || a.Verdict == "valid" && a.Persisted == nil:
		one["expect"] = "valid"
	case a.Verdict == "valid":
		one["expect"] = map[string]any{"valid": true, "object": a.Persisted}
	default:
		var causes []any
		for _, cause := range a.Causes {
			message := cause.Message
			if strings.Contains(message, "selfType") || strings.HasPrefix(message, "~") {
				message = "~^" + clock.ReplaceAllString(regexp.QuoteMeta(message), `selfType[0-9]*`) + "$"
			}
			causes = append(causes, map[string]any{"field": cause.Field, "reason": cause.Reason, "message": message})
		}
		one["expect"] = map[string]any{"causes": causes}
	}
	return one
}

var clock = regexp.MustCompile(`selfType\d+`)

type corpusSuite struct {
	crds  []string
	tests []any
	cases []*corpusCase
}

// A case with variant CRDs occurs twice, because only the verdict is known for variants.
func corpusSuites(t testing.TB, folder string) (all []*corpusSuite) {
	t.Helper()
	byKey := map[string]*corpusSuite{}
	for _, c := range readCorpusCases(t, folder) {
		file, _, _ := strings.Cut(c.id, "#")
		also := slices.DeleteFunc(slices.Clone(c.AlsoCRDs), func(crd string) bool { return crd == c.CRD })
		for i, crds := range [][]string{{c.CRD}, also} {
			if len(crds) == 0 {
				continue
			}
			key := file + strings.Join(crds, " ")
			if byKey[key] == nil {
				byKey[key] = &corpusSuite{crds: crds}
				all = append(all, byKey[key])
			}
			s := byKey[key]
			one := c.test()
			if i > 0 {
				one["expect"] = "valid"
				if c.Expect == "invalid" {
					one["expect"] = map[string]any{"causes": []any{map[string]any{"message": "anything"}}}
				}
			}
			s.tests, s.cases = append(s.tests, one), append(s.cases, c)
		}
	}
	return all
}

func (s *corpusSuite) text(t testing.TB) []byte {
	data, err := json.Marshal(map[string]any{"kind": Kind, "apiVersion": APIVersion, "name": s.cases[0].id, "tests": s.tests})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestCorpusAnswers(t *testing.T) {
	for _, folder := range corpus.Folders(t) {
		crds := map[string]*CRD{}
		r := New(Config{})
		agree, wrong := 0, 0
		for _, s := range corpusSuites(t, folder) {
			suite := Parse(s.cases[0].id, 1, s.text(t))
			for _, name := range s.crds {
				if crds[name] == nil {
					crds[name] = &CRD{File: name, Definition: corpus.ReadCRD(t, filepath.Join(folder, name))}
				}
				report := r.Run(t.Context(), suite, []*CRD{crds[name]}, nil)
				if len(report.Errors) > 0 {
					t.Fatalf("%s: %v", suite.File, report.Errors[0])
				}
				for i, c := range report.Cases {
					ok := c.Outcome == Passed
					if name != s.cases[i].CRD { // a variant
						ok = c.Got != nil && c.Got.Verdict == s.cases[i].Expect
					}
					if ok {
						agree++
					} else if wrong++; wrong < 10 {
						t.Errorf("%s: %s: %.2000s", name, c.Name, c.Message)
					}
				}
			}
		}
		t.Logf("%s: %d agree, %d do not", filepath.Base(folder), agree, wrong)
	}
}
