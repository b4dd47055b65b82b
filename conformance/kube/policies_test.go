package kube

import (
	"flag"
	"net/http"
	"testing"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

var update = flag.Bool("update", false, "record the answers of the API server")

// recordedFile holds the recorded answers. Tests without a server replay them.
const recordedFile = "../../internal/testing/exchange/testdata/recorded.json.gz"

// policyPlane returns a plane with the objects of testdata/policies/setup.yaml.
func policyPlane(t *testing.T, more ...exchange.Object) *stage {
	t.Helper()
	return newStage(start(t), append(documents(t, "testdata/policies/setup.yaml"), more...))
}

// compare predicts the answers to the requests of a scene and reports differences. It returns the
// number of differences.
func (s *stage) compare(t *testing.T, scene *exchange.Scene) (differences, undecided int) {
	t.Helper()
	p, err := exchange.NewPredictor(scene)
	if err != nil {
		t.Fatal(err)
	}
	for _, invalid := range p.Invalid {
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

// TestPolicies compares the policies in testdata/policies with a real API server.
func TestPolicies(t *testing.T) {
	s := policyPlane(t)
	for _, scene := range s.ownScenes() {
		t.Run(scene.Name, func(t *testing.T) {
			s := s.in(t)
			for what, why := range s.run(scene) {
				t.Errorf("the server rejects %s: %s", what, why)
			}
			s.compare(t, scene)
		})
	}
}

// TestRejectedPolicies checks that celadon reports errors in the documents that the server rejects.
func TestRejectedPolicies(t *testing.T) {
	s := policyPlane(t)
	for _, doc := range documents(t, "testdata/policies/rejected.yaml") {
		t.Run(str(doc, "kind")+"/"+str(doc, "metadata", "name"), func(t *testing.T) {
			collection, _ := s.in(t).paths(doc)
			a := s.do(http.MethodPost, collection+"?dryRun=All", encoded(doc))
			_, err := policy.Compile([]exchange.Object{doc}, policy.Config{New: true})
			if (a.Code == http.StatusCreated) != (err == nil) {
				t.Errorf("the server answers %d %s, celadon: %v", a.Code, a.message(), err)
			}
		})
	}
}
