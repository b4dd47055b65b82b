package trace

import (
	"errors"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/x/trace/record"
)

func TestWhyTellsOfBugs(t *testing.T) {
	t.Parallel()
	e := cronTab(t)
	res, err := e.Validate(t.Context(), engine.Request{Raw: []byte(`{"apiVersion":"stable.example.com/v1","kind":"CronTab","metadata":{"name":"n","namespace":"ns"},
		"spec":{"schedule":"0 3 * * *","image":"a:1","replicas":3,"maxReplicas":2}}`)})
	if err != nil || len(res.Causes) == 0 {
		t.Fatal(res, err)
	}
	good := res.Causes[0]
	broken := good
	broken.Rule = &engine.RuleRef{Version: "v1", Path: "spec", Index: 99, Rule: "true"}
	x := NewExplainer(e)
	x.programs[*broken.Rule] = compiled{program: &record.Program{}} // has no plan
	whys, err := x.Why(t.Context(), res.Prepared, []engine.Cause{broken, good, broken, good})
	var bug *engine.InternalError
	if !errors.As(err, &bug) || bug.Rule == nil || *bug.Rule != *broken.Rule || strings.Count(err.Error(), "spec: x-kubernetes-validations[99]") != 2 {
		t.Errorf("got %v", err)
	}
	if len(whys) != 4 || whys[0] != nil || len(whys[1]) == 0 || whys[2] != nil || len(whys[3]) == 0 {
		t.Errorf("got %v", whys)
	}
}
