package decode

import (
	"errors"
	"strings"
	"testing"
)

func TestUnquoted(t *testing.T) {
	t.Parallel()
	for rule, quoted := range map[string]string{
		`!has(self.a) || self.a == 'x'`:        `"!has(self.a) || self.a == 'x'"`,
		`!has(self.a) || self.a == "x"`:        `'!has(self.a) || self.a == "x"'`,
		`!has(self.a) || self.a in ["x", 'y']`: `'!has(self.a) || self.a in ["x", ''y'']'`,
		`*self.a == 1`:                         `"*self.a == 1"`,
		`&self.a == 1`:                         `"&self.a == 1"`,
		`[self.a] == ['a']`:                    `"[self.a] == ['a']"`,
		`{'a': 1} == self.a`:                   `"{'a': 1} == self.a"`,
		`"a" + self.a == "ab"`:                 `'"a" + self.a == "ab"'`,
		`'a' in self`:                          `"'a' in self"`,
		`self.a == 'x: y'`:                     `"self.a == 'x: y'"`,
		"`a` == self":                          "\"`a` == self\"",
		`has(self.a) ? self.a : self.b`:        `"has(self.a) ? self.a : self.b"`,
	} {
		for _, key := range []string{"rule", "messageExpression", "expression"} {
			text := "a: 1\nrules:\n- " + key + ": " + rule + "\n  message: m\n- rule: |\n    !has(self.b)\n- rule: '!has(self.b)'\n"
			_, _, err := Decode([]byte(text))
			var of *UnquotedError
			if !errors.As(err, &of) || of.Quoted != key+": "+quoted || of.Reason == "" {
				t.Errorf("%s: got %v, want %s", rule, err, quoted)
				continue
			}
			v, _, err := Decode([]byte(strings.Replace(text, rule, quoted, 1)))
			if err != nil || v.(map[string]any)["rules"].([]any)[0].(map[string]any)[key] != rule {
				t.Errorf("%s: %v, %v", rule, v, err)
			}
		}
	}
	for line, want := range map[string]string{
		`  - rule: !self.a`: `rule: "!self.a"`, `rule: self.a.matches('^ #')`: `rule: "self.a.matches('^ #')"`, `rule: self.a`: "", `rule: "!self.a"`: "", `rule: |`: "", `message: !a`: "",
	} {
		if _, quoted, reason := Misread(line); reason != "" && quoted != want || reason == "" && want != "" {
			t.Errorf("%s: got %s (%s), want %s", line, quoted, reason, want)
		}
	}
	for _, text := range []string{"rule: !has(a) || b\n\tc: {", "a: !has(a) || b\n", "rule: 'it''s'\nb: [", "rule: |2 # why\n    !a\nb: ["} {
		var of *UnquotedError
		if _, _, err := Decode([]byte(text)); err == nil || errors.As(err, &of) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
