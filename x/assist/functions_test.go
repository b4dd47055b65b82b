package assist

import "testing"

// TestExamples checks that every function has an example and that those in examplesOf compile.
func TestExamples(t *testing.T) {
	var k Functions
	env := k.known(nil, "")
	for _, name := range k.Names(nil, "") {
		f := k.Of(name, nil, "")
		if f == nil || len(f.Forms) == 0 || len(f.Examples) == 0 {
			t.Errorf("%s: no example: %+v", name, f)
		}
		for _, example := range examplesOf[name] {
			if _, issues := env.Compile(example); issues.Err() != nil {
				t.Errorf("%s: %s: %v", name, example, issues.Err())
			}
		}
	}
	for name := range examplesOf {
		if k.Of(name, nil, "") == nil {
			t.Errorf("an example of %s, which does not exist", name)
		}
	}
}
