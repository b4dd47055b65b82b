package assist

import "testing"

func TestTitles(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{`self.startsWith("a" || "b")`, `self.startsWith("a") || self.startsWith("b")`, `write ("a") || self.startsWith("b") for ("a" || "b")`},
		{`self.endsWith("a")`, `self.startsWith("a") || self.endsWith("a")`, `insert self.startsWith("a") ||`},
		{`self.ends == 'a'`, `self.endsWith("a") || self.ends == 'a'`, `insert self.endsWith("a") ||`},
		{`self.a = 1`, `self.a == 1`, `write == for =`},
		{`self.replcas`, `self.replicas`, `write replicas for replcas`},
		{`self.x == abc`, `self.x == 'abc'`, `write 'abc' for abc`},
		{`self.x == 'abc'`, `self.x == 'axc'`, `write 'axc' for 'abc'`},
		{`size(self)) > 1`, `size(self) > 1`, `write size(self) for size(self))`},
		{`size(self > 1`, `size(self) > 1`, `write (self) > 1 for (self > 1`},
	} {
		edits := difference([]rune(c.from), []rune(c.to))
		if got := titleOf([]rune(c.from), []Edit{widened([]rune(c.from), edits[0])}); got != c.want {
			t.Errorf("%s: got %q, want %q", c.from, got, c.want)
		}
	}
}
