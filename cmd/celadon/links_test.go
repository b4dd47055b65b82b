package main

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource"
	"github.com/celadon-cel/celadon/x/ruletest"
)

func TestCheckLinks(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "./internal/check").Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	for _, name := range []string{"x/analysis/search", "x/analysis/prove", "x/ruletest", "x/roundtrip"} {
		if slices.Contains(linked, "github.com/celadon-cel/celadon/"+name) {
			t.Errorf("check links %s", name)
		}
	}
	if resource.Suite != ruletest.Kind {
		t.Errorf("resource.Suite is %s: want %s", resource.Suite, ruletest.Kind)
	}
}
