package kube

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/builtin/testing/seen"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

var (
	update    = flag.Bool("update", false, "record the answers of the API server")
	scenarios = flag.Int("scenarios", 200, "the number of generated scenes")
	firstSeed = flag.Uint64("seed", 1, "the seed of the first generated scene")
)

// recordedFile holds the recorded answers. Tests without a server replay them.
const recordedFile = "../../internal/testing/exchange/testdata/recorded.json.gz"

func policyPlane(t *testing.T, more ...exchange.Object) *stage {
	t.Helper()
	return newStage(start(t), append(documents(t, "testdata/policies/setup.yaml"), more...))
}

func (s *stage) compare(t *testing.T, scene *exchange.Scene) (differences, undecided int) {
	t.Helper()
	sees, err := seen.In(t.Context(), scene.Documents)
	if err != nil {
		t.Fatal(err)
	}
	p, err := exchange.NewPredictor(scene, sees)
	if err != nil {
		t.Fatal(err)
	}
	for _, invalid := range p.Invalid {
		if invalid.Path == "spec.policyName" {
			continue // the server accepts bindings of missing policies
		}
		differences++
		t.Errorf("%s: the server accepts what celadon rejects: %v", scene.Name, invalid)
	}
	for i := range scene.Exchanges {
		e := &scene.Exchanges[i]
		got, err := p.Predict(t.Context(), &e.Request)
		switch {
		case err != nil:
			t.Errorf("%s, request %d: %v", scene.Name, i, err)
		case got.Undecided != "":
			undecided++
			t.Logf("%s, request %d: %s", scene.Name, i, got.Undecided)
		default:
			if diff := exchange.Difference(&e.Request, e.Answer, got); diff != "" {
				differences++
				t.Errorf("%s, request %d: %s %s %s/%s (-server +celadon):\n%s", scene.Name, i, e.Request.Operation, e.Request.Resource, e.Request.Namespace, e.Request.Name, diff)
			}
		}
	}
	return differences, undecided
}

// in returns s with another test to report to. Only one of them may be used at a time.
func (s *stage) in(t *testing.T) *stage {
	s.t = t
	return s
}

func TestPolicies(t *testing.T) {
	s := policyPlane(t)
	requests, checked, undecided := 0, 0, 0
	scenes := s.ownScenes()
	for _, scene := range scenes {
		t.Run(scene.Name, func(t *testing.T) {
			s := s.in(t)
			for what, why := range s.run(scene) {
				t.Errorf("the server rejects %s: %s", what, why)
			}
			s.compare(t, scene)
			requests += len(scene.Exchanges)
			n, m := s.compareCheck(t, scene)
			checked, undecided = checked+n, undecided+m
		})
	}
	s.in(t)
	t.Logf("own policies: %d scenes, %d requests; with celadon check: %d requests, and %d undecided", len(scenes), requests, checked, undecided)
	if !*update {
		return
	}
	for _, scene := range generatedScenes(t)[:recordedScenes] {
		for i, doc := range scene.Documents {
			if doc["kind"] == "ValidatingAdmissionPolicy" {
				scene.Documents[i] = repaired(t, doc)
			}
		}
		s.run(scene)
		scenes = append(scenes, scene)
	}
	record(t, scenes)
}

const recordedScenes = 60

func record(t *testing.T, scenes []*exchange.Scene) {
	t.Helper()
	data, err := exchange.Encode(scenes)
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > maxRecorded {
		t.Fatalf("%d bytes are too many to record", len(data))
	}
	if err := os.WriteFile(recordedFile, data, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Logf("recorded: %d scenes, %d bytes", len(scenes), len(data))
}

const maxRecorded = 300_000

func TestGeneratedPolicies(t *testing.T) {
	compareGenerated(t, policyPlane(t), generatedScenes(t))
}

func TestGeneratedMutations(t *testing.T) {
	crd, err := exec.Command(binary("scenarios"), "-crd").Output()
	if err != nil {
		t.Fatal(err)
	}
	compareGenerated(t, policyPlane(t, object(string(crd))), generatedScenes(t, "-mutating"))
}

func compareGenerated(t *testing.T, s *stage, scenes []*exchange.Scene) {
	t.Helper()
	var count struct{ scenes, policies, rejected, requests, denied, undecided, differences int }
	for _, scene := range scenes {
		t.Run(scene.Name, func(t *testing.T) {
			if count.differences > 20 {
				t.Skip("too many differences")
			}
			s := s.in(t)
			for i, doc := range scene.Documents {
				if kind := doc["kind"]; kind != "ValidatingAdmissionPolicy" && kind != "MutatingAdmissionPolicy" {
					continue
				}
				count.policies++
				if !s.acceptsAlike(doc) {
					count.differences++
				}
				scene.Documents[i] = repaired(t, doc)
			}
			rejected := s.run(scene)
			for what, why := range rejected {
				if !strings.Contains(why, "must contain at least one item") {
					count.differences++
					t.Errorf("the server rejects %s: %s", what, why)
				}
			}
			differences, undecided := s.compare(t, scene)
			count.scenes++
			count.rejected += len(rejected)
			count.requests += len(scene.Exchanges)
			count.undecided += undecided
			count.differences += differences
			for i := range scene.Exchanges {
				if scene.Exchanges[i].Answer.Code != exchange.Accepted {
					count.denied++
				}
			}
		})
	}
	t.Logf("generated policies: %+v", count)
}

func generatedScenes(t *testing.T, args ...string) (scenes []*exchange.Scene) {
	t.Helper()
	out, err := exec.Command(binary("scenarios"), append(args, "-n", fmt.Sprint(*scenarios), "-seed", fmt.Sprint(*firstSeed))...).Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(out) {
		scene := &exchange.Scene{}
		if err := json.Unmarshal(line, scene); err != nil {
			t.Fatal(err)
		}
		if err := scene.FixNumbers(); err != nil {
			t.Fatal(err)
		}
		scenes = append(scenes, scene)
	}
	return scenes
}

func TestRejectedPolicies(t *testing.T) {
	s := policyPlane(t)
	for _, doc := range documents(t, "testdata/policies/rejected.yaml") {
		t.Run(str(doc, "kind")+"/"+str(doc, "metadata", "name"), func(t *testing.T) {
			s.in(t).acceptsAlike(doc)
		})
	}
}

func (s *stage) acceptsAlike(doc exchange.Object) bool {
	s.t.Helper()
	collection, _ := s.paths(doc)
	a := s.do(http.MethodPost, collection+"?dryRun=All&fieldValidation=Strict", encoded(doc))
	_, err := policy.Compile([]exchange.Object{doc}, policy.Config{New: true})
	if (a.Code == http.StatusCreated || a.Code == http.StatusConflict) != (err == nil) {
		s.t.Errorf("%s: the server answers %d %s, celadon: %v", encoded(doc), a.Code, a.message(), err)
		return false
	}
	return true
}

// repaired returns a policy without the expressions that do not compile, so that the server accepts it.
// Messages and annotations of the wrong type are converted to strings.
func repaired(t *testing.T, doc exchange.Object) exchange.Object {
	t.Helper()
	doc = object(encoded(doc))
	at := regexp.MustCompile(`^spec\.(\w+)\[(\d+)\]\.(\w+)`)
	for range 100 {
		var invalid *policy.CompileErrors
		if _, err := policy.Compile([]exchange.Object{doc}, policy.Config{New: true}); !errors.As(err, &invalid) {
			return doc
		}
		e := invalid.Errors[0]
		part := at.FindStringSubmatch(e.Path)
		if part == nil {
			return doc
		}
		spec := doc["spec"].(exchange.Object)
		items := spec[part[1]].([]any)
		i, err := strconv.Atoi(part[2])
		if err != nil {
			t.Fatal(err)
		}
		item := items[i].(exchange.Object)
		switch {
		case part[3] != "expression" && strings.HasPrefix(e.Detail, "must evaluate to"):
			item[part[3]] = fmt.Sprintf("string(%s)", item[part[3]])
		case part[3] == "messageExpression":
			delete(item, part[3])
		default:
			spec[part[1]] = slices.Delete(items, i, i+1)
		}
	}
	return doc
}
