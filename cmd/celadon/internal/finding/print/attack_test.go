package print

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/findingtest"
	"github.com/celadon-cel/celadon/internal/testing/hostile"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

func objectsOf(text string) (objects []*finding.Object) {
	add := func(verdict string, change func(*finding.Object)) {
		o := &finding.Object{}
		hostile.Fill(o, text)
		o.Verdict, o.Operation, o.Subresource = verdict, "create", ""
		*o.Upgrade = finding.Upgrade{Before: finding.Valid, Now: finding.Invalid, Unchanged: finding.Invalid, Ratcheted: true, Changes: o.Upgrade.Changes}
		o.Persisted = map[string]any{text: text, "list": []any{text}}
		o.Row.Cells = []any{strings.NewReplacer("\n", " ", "\r", " ", "\f", " ").Replace(text), text}
		o.Diff = []byte(" " + strings.ReplaceAll(text, "\n", "\n+") + "\n")
		change(o)
		objects = append(objects, o)
	}
	for _, verdict := range []string{finding.Valid, finding.Invalid, finding.Skipped, finding.Unreadable, finding.Undecided} {
		add(verdict, func(*finding.Object) {})
		add(verdict, func(o *finding.Object) { o.Upgrade = nil })
		add(verdict, func(o *finding.Object) { o.Line, o.Name, o.Limit = 0, "", nil })
	}
	add(finding.Invalid, func(o *finding.Object) { o.Causes = []finding.Cause{} })
	add(finding.Invalid, func(o *finding.Object) { o.Causes, o.Strict = []finding.Cause{}, nil })
	add(finding.Invalid, func(o *finding.Object) {
		other := o.Causes[0]
		other.Line, other.Rule = 0, "a\n  ::b\t##[error]"
		o.Causes = append(o.Causes, other)
	})
	return objects
}

func hostileReport(t *testing.T, format, text string, o Options) []byte {
	t.Helper()
	var b bytes.Buffer
	p, err := New(format, &b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objectsOf(text) {
		if err := p.Object(o); err != nil {
			t.Fatal(err)
		}
	}
	s := &finding.Summary{}
	hostile.Fill(s, text)
	if err := p.End(s); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestAttackPrinters(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "wide", "yaml", "json", "jsonl", "junit", "sarif", "github", "gitlab", "markdown"} {
		for _, o := range []Options{{}, {Verbose: true, StrictKinds: true}, {Quiet: true}} {
			for _, text := range []string{hostile.Text, hostile.Broken} {
				what := fmt.Sprintf("%s %+v", format, o)
				out := hostileReport(t, format, text, o)
				hostile.Harmless(t, what, out)
				// Strings that are not UTF-8 are base64 in YAML.
				if !bytes.Contains(out, []byte("PWNED")) && !bytes.Contains(out, []byte("!!binary")) {
					t.Errorf("%s does not show the text", what)
				}
				switch format {
				case "junit":
					findingtest.JUnit(t, out)
					if bytes.ContainsRune(out, utf8.RuneError) {
						t.Errorf("%s: a string is missing", what)
					}
				case "sarif":
					findingtest.SARIF(t, out)
				case "markdown":
					harmlessMarkdown(t, what, string(out))
				}
			}
		}
	}
}

// harmlessMarkdown checks that each line is a heading, a count, a code block, or a finding whose text is in code spans, and
// that four reports fit into a comment of GitHub.
func harmlessMarkdown(t *testing.T, what, text string) {
	t.Helper()
	lines := regexp.MustCompile("^(|###? [a-z ]+|- and [0-9]+ more|\\*\\*interrupted: [a-z ]+\\*\\*|    .*|- \\*\\*(error|warning)\\*\\* (`+).*`: `.*`)$")
	for line := range strings.Lines(text) {
		if !lines.MatchString(strings.TrimSuffix(line, "\n")) {
			t.Errorf("%s: %q", what, line)
		}
	}
	if len(text) > 15_000 {
		t.Errorf("%s: %d bytes", what, len(text))
	}
}

func TestAttackMarkdown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{hostile.Text, strings.Repeat("`x", 5000), strings.Repeat("\U000e0041", 5000), "```\n</details>\n# x\n" + strings.Repeat("\n", 5000)} {
		harmlessMarkdown(t, "", string(hostileReport(t, "markdown", strings.Repeat(text, 3), Options{})))
	}
}

func TestAttackExact(t *testing.T) {
	t.Parallel()
	want := objectsOf(hostile.Text)
	var whole struct{ Objects []*finding.Object }
	if err := json.Unmarshal(hostileReport(t, "json", hostile.Text, Options{}), &whole); err != nil {
		t.Fatal(err)
	}
	var lines []*finding.Object
	for line := range bytes.Lines(hostileReport(t, "jsonl", hostile.Text, Options{})) {
		var one struct{ Object *finding.Object }
		if err := json.Unmarshal(line, &one); err != nil {
			t.Fatal(err)
		}
		if one.Object != nil {
			lines = append(lines, one.Object)
		}
	}
	unprinted := cmp.Options{
		cmpopts.IgnoreFields(finding.Object{}, "Bug", "Strict", "Rules", "Explained", "Limit", "Diff", "Row", "Resource", "Key", "At", "Unevaluated"),
		cmpopts.IgnoreFields(finding.Cause{}, "Ref", "Excerpt"),
		cmpopts.IgnoreFields(policyrequest.Explanation{}, "Offset"),
	}
	for format, got := range map[string][]*finding.Object{"json": whole.Objects, "jsonl": lines} {
		if diff := cmp.Diff(want, got, unprinted); diff != "" {
			t.Errorf("%s: -want +got:\n%s", format, diff)
		}
	}

	log := readSARIF(t, hostileReport(t, "sarif", hostile.Text, Options{}))
	cause := want[3].Causes[0]
	message := cause.Field + ": " + cause.Message
	if !slices.ContainsFunc(log.Runs[0].Results, func(r sarifResult) bool { return strings.Contains(r.Message.Text, message) }) {
		t.Errorf("no result of SARIF holds the message %q", message)
	}
}
