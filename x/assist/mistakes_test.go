package assist_test

import (
	"os"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

func TestMistakes(t *testing.T) {
	hints, fixes := 0, 0
	mistakes := readMistakes(t)
	for _, m := range mistakes {
		p := placeIn(t, "testdata/database.yaml", m.path)
		p.Part = assist.Rule
		problems := p.Problems(m.src)
		if len(problems) == 0 {
			t.Errorf("%s: no problem", m.src)
			continue
		}
		problem := problems[0]
		got := problem.Fixed(m.src)
		if got != m.want {
			t.Errorf("%s\n\tfixed %q\n\twant  %q\n\t%s\n\t%s %q", m.src, got, m.want, problem.Message, problem.Words, problem.Names)
			continue
		}
		if problem.Words == "" && len(problem.Names) == 0 {
			t.Errorf("%s: no hint: %s", m.src, problem.Message)
			continue
		}
		hints++
		if got != "" {
			fixes++
		}
	}
	t.Logf("of %d mistakes, %d have a hint and %d a fix", len(mistakes), hints, fixes)
	if fixes*100 < len(mistakes)*90 {
		t.Error("want fixes for 90 %")
	}
}

type mistake struct{ path, src, want string }

func readMistakes(t *testing.T) (all []mistake) {
	t.Helper()
	data, err := os.ReadFile("testdata/mistakes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		columns := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(columns) == 3 {
			all = append(all, mistake{columns[0], columns[1], columns[2]})
		}
	}
	return all
}
