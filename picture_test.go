package celadon_test

import (
	"encoding/xml"
	"fmt"
	"html"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
)

// In a stage, text is below the title, and exit is at the right of the title.
type stage struct{ title, text, exit string }

var writePath = []stage{
	{"Decode", "JSON or YAML becomes a value. Unknown and duplicate fields are errors if the request is strict, as kubectl's are.", "400"},
	{"Prune", "Fields that the schema does not have are removed.", ""},
	{"Default", "Absent fields get the defaults of the schema.", ""},
	{"Mutating policies and webhooks", "They can change the object. Defaults are applied again.", "denied"},
	{"Prepare", "With a status subresource, a create drops status, and an update keeps the old status.", ""},
	{"Schema and metadata", "Types, required fields, bounds, enums, formats, names, and labels.", "422"},
	{"List types", "No duplicates in lists of type set and map.", "422"},
	{"CEL rules", "On an update, oldSelf is the stored object. No rule runs after an error of type, required, enum, maxLength, maxItems, or maxProperties.", "422"},
	{"Validating policies and webhooks", "They see the object after all changes.", "denied"},
	{"Convert", "Into the storage version, by a webhook if the CRD has one.", ""},
	{"etcd", "The object is stored.", ""},
}

var floorTexts = map[string]string{
	"docs":        "the documentation that the help shows",
	"internal":    "CEL front end, YAML with positions, text, fixtures",
	"types":       "schema to CEL types, escaping, versions",
	"cost":        "limits, budgets, cardinality",
	"engine":      "compile a CRD, decide writes, policies, vet",
	"x":           "proofs, fixes, test suites, traces, reference pages",
	"celadontest": "helpers for go test",
	"repl":        "the shell as a library",
	"cmd":         "the command: files, clusters, reports, editors",
	"examples":    "programs that embed Celadon",
}

// -update rewrites the pictures.
func TestPictures(t *testing.T) {
	t.Parallel()
	var layers []stage
	for _, name := range slices.Backward(floors) {
		if floorTexts[name] == "" {
			t.Errorf("%s has no description in floorTexts", name)
		}
		layers = append(layers, stage{title: name, text: floorTexts[name]})
	}
	for name, got := range map[string]string{
		"docs/write-path.svg": picture("The path of a write", "The stages through which the API server passes a custom resource, from the request to etcd, with the status code of a rejection.", writePath),
		"docs/layers.svg":     picture("The layers of Celadon", "The top-level folders, from the highest layer to the lowest. A package imports only packages of its own layer and of lower layers.", layers),
		"docs/cost.svg":       costChart(t),
	} {
		if *update {
			if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s differs from its description (-update rewrites it)", name)
		}
		dec := xml.NewDecoder(strings.NewReader(got))
		for err == nil {
			_, err = dec.Token()
		}
		if err != io.EOF {
			t.Errorf("%s: %v", name, err)
		}
	}
}

const (
	pictureWidth = 400
	textColumns  = 48 // of a line of text, in characters
	lineHeight   = 17
	boxGap       = 18
)

// The picture is narrow enough for a telephone.
func picture(title, description string, stages []stage) string {
	var b strings.Builder
	y := boxGap / 2
	for i, s := range stages {
		lines := wrapText(s.text)
		height := 30 + lineHeight*len(lines)
		fmt.Fprintf(&b, "<rect class=\"box\" x=\"8\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\"/>\n", y, pictureWidth-16, height)
		fmt.Fprintf(&b, "<text class=\"title\" x=\"20\" y=\"%d\">%s</text>\n", y+20, html.EscapeString(s.title))
		if s.exit != "" {
			fmt.Fprintf(&b, "<text class=\"exit\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s &#8599;</text>\n", pictureWidth-20, y+20, html.EscapeString(s.exit))
		}
		for n, line := range lines {
			fmt.Fprintf(&b, "<text x=\"20\" y=\"%d\">%s</text>\n", y+20+lineHeight*(n+1), html.EscapeString(line))
		}
		y += height
		if i < len(stages)-1 {
			fmt.Fprintf(&b, "<path d=\"M%d %dv%dm-4 -5l4 5 4 -5\"/>\n", pictureWidth/2, y+1, boxGap-2)
		}
		y += boxGap
	}
	return svg(title, description, y-boxGap/2, b.String())
}

func svg(title, description string, height int, content string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" aria-labelledby="title desc">
<title id="title">%s</title>
<desc id="desc">%s</desc>
<style>
.back { fill: #ffffff } .box { fill: #f1f5f3; stroke: #5b7f73 } path { fill: none; stroke: #5b7f73 }
text { fill: #2f3b37; font: 13px system-ui, -apple-system, "Segoe UI", Roboto, sans-serif }
.title { fill: #12211c; font-weight: 600; font-size: 13.5px } .exit { fill: #a4262c; font-weight: 600 }
.good { fill: #2e8b6f } .bad { fill: #c4453f }
@media (prefers-color-scheme: dark) {
.back { fill: #1b1f24 } .box { fill: #252b31; stroke: #7fae9f } path { stroke: #7fae9f }
text { fill: #c9d3cf } .title { fill: #ffffff } .exit { fill: #ff8f88 }
}
</style>
<rect class="back" width="%d" height="%d" rx="8"/>
%s</svg>
`, pictureWidth, height, pictureWidth, html.EscapeString(title), html.EscapeString(description), pictureWidth, height, content)
}

func wrapText(text string) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		if line != "" && len(line)+1+len(word) > textColumns {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}
