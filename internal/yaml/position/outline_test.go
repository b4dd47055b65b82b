package position

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/internal/testing/corpus"
	"github.com/celadon-cel/celadon/internal/testing/level"
)

func TestOutline(t *testing.T) {
	t.Parallel()
	for name, c := range scalarCases {
		d, err := Parse([]byte(c.text))
		if err != nil || slices.Contains([]string{"a complex key", "plain, lines in brackets"}, name) {
			continue
		}
		if diff := difference(d.Root, outlined(c.text), "", c.text); diff != "" {
			t.Errorf("%s: %q: %s", name, c.text, diff)
		}
	}
}

func TestOutlineCorpus(t *testing.T) {
	t.Parallel()
	read, same := 0, 0
	for i, file := range corpus.CRDFiles(t) {
		if i%10 > 0 && !level.Long() {
			continue
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range strings.SplitAfter(string(data), "\n---\n") {
			d, err := Parse([]byte(text))
			if err != nil {
				continue
			}
			read++
			if diff := difference(d.Root, outlined(text), "", text); diff != "" {
				t.Errorf("%s: %s", file, diff)
				continue
			}
			same++
		}
	}
	t.Logf("%d of %d documents are read as the parser reads them", same, read)
}

func difference(want, got *Node, path, text string) string {
	if want.Kind != got.Kind || want.Style != got.Style || want.Value != got.Value || want.Tag != got.Tag && want.Begin == want.Start ||
		want.Start != got.Start || want.Known && want.End != got.End || want.Begin != got.Begin || len(want.Items) != len(got.Items) {
		return fmt.Sprintf("%s: want %+v, got %+v", path, head(want), head(got))
	}
	for i := range want.Items {
		if i < len(want.Keys) {
			if d := difference(want.Keys[i], got.Keys[i], path+"<"+want.Keys[i].Value+">", text); d != "" {
				return d
			}
			path := path + "." + want.Keys[i].Value
			if d := difference(want.Items[i], got.Items[i], path, text); d != "" {
				return d
			}
			continue
		}
		if d := difference(want.Items[i], got.Items[i], fmt.Sprintf("%s[%d]", path, i), text); d != "" {
			return d
		}
	}
	return ""
}

func head(n *Node) Node {
	m := *n
	m.Keys, m.Items, m.target, m.index = nil, nil, nil, nil
	if len(m.Value) > 100 {
		m.Value = m.Value[:100]
	}
	return m
}
