package regexcost

import (
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
)

func TestNew(t *testing.T) {
	t.Parallel()
	for src, large := range map[string]bool{
		"":                                false,
		"^[a-z]+$":                        false,
		"a{1000}":                         false,
		"(a{100}){10}b{0,500}":            false,
		strings.Repeat("a{1000}", 51):     true,
		"((a{10}){10}){10}":               false,
		strings.Repeat(`\pL`, 1000):       false,
		strings.Repeat("ab*", 1000) + "c": false,
	} {
		p, err := New(src)
		if err != nil || p.TooLarge() != large {
			t.Errorf("%.40s: too large %t, %v", src, p.TooLarge(), err)
		}
	}
	for _, src := range []string{"(", "a{2,1}", "a{1001}", "((a{100}){100}){100}", "[z-a]", `\8`, "a**"} {
		_, err := New(src)
		_, want := regexp.Compile(src)
		if err == nil || err.Error() != want.Error() {
			t.Errorf("%s: got %v, want %v", src, err, want)
		}
	}
}

func TestPerByte(t *testing.T) {
	t.Parallel()
	cost := func(src string) int {
		p, err := New(src)
		if err != nil {
			t.Fatal(err)
		}
		return p.PerByte()
	}
	if chain, all := cost("^[a-z]{0,253}$"), cost("^(x?){0,500}(y?x?){0,400}Z"); chain > 100 || all < 10_000 {
		t.Errorf("a chain takes %d, states that all live %d", chain, all)
	}
	if name := cost("^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$"); name > 400 {
		t.Errorf("a name takes %d", name)
	}
}

func TestRescans(t *testing.T) {
	t.Parallel()
	for src, want := range map[string]bool{
		"[a-z]+": false, "a": false, "a{2,5}b?": false, "x[0-9]*": false, "(a+)": false, `\d+`: false,
		"a.*b": true, "a.*b|a": true, "(ab)*": true, "(a*)*": true,
	} {
		if p, err := New(src); err != nil || p.Rescans() != want {
			t.Errorf("%s: got %t, %v", src, p.Rescans(), err)
		}
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	for _, src := range []string{"a{500}", "(ab{3}){7}c", "[a-f]{2,40}", "(a|b|c){20}", "(?i)abc{9}", "(x?){0,500}(y?x?){0,400}Z"} {
		n, err := States(src)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := syntax.Parse(src, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		prog, err := syntax.Compile(tree.Simplify())
		if err != nil {
			t.Fatal(err)
		}
		if made := float64(len(prog.Inst)); made > 3*n+10 {
			t.Errorf("%s: %v are reckoned, %v are made", src, n, made)
		}
	}
}
