package lazy

import "testing"

func TestRegexp(t *testing.T) {
	t.Parallel()
	r := New(`^a(b+)`)
	if !r.MatchString("abb") || r.FindString("abbc") != "abb" || r.FindStringSubmatch("abb")[1] != "bb" || r.ReplaceAllString("abc", "$1") != "bc" {
		t.Error("does not match like regexp")
	}
	defer func() {
		if recover() == nil {
			t.Error("an invalid pattern was not noticed")
		}
	}()
	New("(")
}
