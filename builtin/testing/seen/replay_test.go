package seen

import (
	"os"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

// TestReplay compares predictions with the recorded responses of a real kube-apiserver. To record
// them:
//
//	make -C conformance e2e e2e-record
func TestReplay(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("../../../internal/testing/exchange/testdata/recorded.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	scenes, err := exchange.Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, scene := range scenes {
		t.Run(scene.Name, func(t *testing.T) {
			t.Parallel()
			seen, err := In(t.Context(), scene.Documents)
			if err != nil {
				t.Fatal(err)
			}
			p, err := exchange.NewPredictor(scene, seen)
			if err != nil {
				t.Fatal(err)
			}
			for i := range scene.Exchanges {
				e := &scene.Exchanges[i]
				got, err := p.Predict(t.Context(), &e.Request)
				if err != nil {
					t.Fatalf("request %d: %v", i, err)
				}
				if got.Undecided != "" {
					t.Errorf("request %d: %s", i, got.Undecided)
				} else if diff := exchange.Difference(&e.Request, e.Answer, got); diff != "" {
					t.Errorf("request %d: %s %s %s (-server +celadon)\n%s", i, e.Request.Operation, e.Request.Resource, e.Request.Name, diff)
				}
			}
		})
	}
}
