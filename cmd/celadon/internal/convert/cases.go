package convert

import (
	"bytes"
	"fmt"
	"os"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/internal/text/filename"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
	"github.com/celadon-cel/celadon/x/roundtrip"
	"github.com/celadon-cel/celadon/x/ruletest"
)

// writeCases writes a suite for each version in which a finding's trip starts. It does not overwrite
// existing files.
func writeCases(s command.Streams, o *TestOptions, r *Report) error {
	for _, c := range r.CRDs {
		byVersion := map[string][]*roundtrip.Finding{}
		for _, f := range c.Findings {
			byVersion[f.From] = append(byVersion[f.From], f)
		}
		for _, v := range c.crd.Spec.Versions {
			if len(byVersion[v.Name]) == 0 {
				continue
			}
			if err := o.write(s, c, v.Name, byVersion[v.Name]); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *TestOptions) write(s command.Streams, c *CRD, version string, findings []*roundtrip.Finding) error {
	if err := outfile.MkdirAll(o.CasesOut, 0o755); err != nil {
		return err
	}
	path, err := filename.Join(o.CasesOut, c.Name+"-"+version+".convert.testsuite.yaml")
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return fmt.Errorf("%s: the suite exists: remove it, or choose another folder with --cases-out", path)
	}
	data, err := suite(c, version, findings, o.Seed)
	if err != nil {
		return err
	}
	if err := outfile.Write(path, data); err != nil {
		return err
	}
	untrusted.Fprintf(s.Stderr, "%s: %s\n", path, phrase.Count(len(findings), "case"))
	return nil
}

// suite returns a test suite with the example object of each finding. Its cases expect the objects to
// come back unchanged.
func suite(c *CRD, version string, findings []*roundtrip.Finding, seed uint64) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Written by celadon convert test --seed %d: objects that a round trip through another version changes.\n", seed)
	head := []struct {
		key string
		v   any
	}{{"kind", ruletest.Kind}, {"apiVersion", ruletest.APIVersion}, {"name", "conversion of " + c.Name + " " + version}, {"crd", c.Name}, {"version", version}}
	for _, h := range head {
		if err := writeField(&b, "", h.key, h.v); err != nil {
			return nil, err
		}
	}
	b.WriteString("tests:\n")
	for i, f := range findings {
		fmt.Fprintf(&b, "# %s\n", untrusted.Line(f.Text))
		name := fmt.Sprintf("%d: %s via %s", i+1, f.Kind, f.To)
		if f.Path != "" {
			name += ": " + f.Path
		}
		var one bytes.Buffer
		err := writeField(&one, "  ", "name", name)
		if err == nil {
			err = writeField(&one, "  ", "object", f.Object)
		}
		if err == nil {
			err = writeField(&one, "  ", "convert", f.To)
		}
		if err == nil && f.Change != nil {
			err = writeField(&one, "  ", "convertPatch", f.Change.Patch)
		}
		if err == nil {
			err = writeField(&one, "  ", "expect", "valid")
		}
		if err != nil {
			return nil, err
		}
		b.WriteString("- ")
		b.Write(one.Bytes()[2:])
	}
	return b.Bytes(), nil
}

func writeField(b *bytes.Buffer, indent, key string, v any) error {
	data, err := untrusted.YAML(map[string]any{key: v})
	for line := range strings.Lines(string(data)) {
		b.WriteString(indent + line)
	}
	return err
}
