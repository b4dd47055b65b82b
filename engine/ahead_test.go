package engine_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/engine"
)

func TestCompileOnTwoProcessors(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{type: object, properties: {n: {type: integer}, u: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: "true"}]}}, x-kubernetes-validations: [`)
	for i := range 60 {
		fmt.Fprintf(&b, `{rule: "self.n != %d", messageExpression: "'not ' + string(%d)"}, `, i, i)
		if i%7 == 0 {
			fmt.Fprintf(&b, `{rule: "self.x%d"}, {rule: "self.n +"}, {rule: "self.n"}, {rule: "true", messageExpression: "%d"}, `, i, i)
		}
	}
	fmt.Fprintf(&b, `{rule: "%s true"}]}`, strings.Repeat("self.n == 1 && ", 2000)) // too complex to be checked
	s := structural(t, b.String())
	compile := func(processors int) (string, string) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		rules, err := engine.CompileRules(s, engine.Config{})
		var broken *engine.CompileErrors
		if !errors.As(err, &broken) {
			t.Fatalf("got %v, want broken rules", err)
		}
		var all []string
		for _, e := range broken.Errors {
			all = append(all, fmt.Sprintf("%d %s %s", e.Index, e.Part, e.Detail))
		}
		errs, left := rules.Validate(t.Context(), nil, map[string]any{"n": int64(5)}, nil, 1<<40)
		return strings.Join(all, "\n"), fmt.Sprint(errs, left)
	}
	oneErrs, oneVerdict := compile(1)
	twoErrs, twoVerdict := compile(2)
	if oneErrs != twoErrs || oneVerdict != twoVerdict {
		t.Errorf("one processor: %s\n%.2000s\ntwo: %s\n%.2000s", oneVerdict, oneErrs, twoVerdict, twoErrs)
	}
	if n := strings.Count(oneErrs, "\n") + 1; n < 30 {
		t.Errorf("%d errors, want more: %s", n, oneErrs)
	}
}
