package repl

import (
	"strings"
	"testing"
)

// TestExamples holds that every function has one, and that ours compile.
func TestExamples(t *testing.T) {
	s, err := NewSession(Config{})
	if err != nil {
		t.Fatal(err)
	}
	env := s.functionEnv()
	for _, name := range functionNames(env) {
		reply := s.Do(t.Context(), ":funcs "+name)
		if reply.Failed || !strings.Contains(reply.Text, "e.g. ") {
			t.Errorf("%s: no example:\n%s", name, reply.Text)
		}
		for _, example := range examplesOf[name] {
			if _, issues := env.Compile(example); issues.Err() != nil {
				t.Errorf("%s: %s: %v", name, example, issues.Err())
			}
		}
	}
	for name := range examplesOf {
		if s.Do(t.Context(), ":funcs "+name).Failed {
			t.Errorf("an example of %s, which does not exist", name)
		}
	}
}
