package input

import (
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	kyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// TestSpaces compares with kubectl's decoder, which skips null documents.
func TestSpaces(t *testing.T) {
	t.Parallel()
	spaces := []string{"", " ", "\t", "\n", "\r\n", " \n\t\n", "\v", "\f", "\u00a0", "\u2003", "\t\n\n", "   \n", "# comment\n", "\t# comment\n", "  # comment\n"}
	for _, space := range spaces {
		texts := []string{"%", "%a: 1\n", "%\na: 1\n", "a: 1\n---\n%", "a: 1\n---\n%\na: 2\n", "%\n---\na: 1\n", "a: 1\n%", "a: 1\n%\nb: 2\n"}
		if strings.Trim(space, " \t\r\n") == "" { // the white space of JSON
			texts = append(texts, "%{\"a\": 1}", "{\"a\": 1}%", "{\"a\": 1}%{\"a\": 2}\n")
		}
		for _, text := range texts {
			text = strings.ReplaceAll(text, "%", space)
			objects, broken := kubectl(text)
			got, failed := 0, false
			SplitText("f", []byte(text), func(c Chunk) bool {
				return c.Each(func(d *Document) bool {
					if d.Err != nil {
						failed = true
						return false
					}
					got++
					return true
				})
			})
			if failed != broken || !failed && got != objects {
				t.Errorf("%q: %d objects, an error: %v; kubectl: %d objects, an error: %v", text, got, failed, objects, broken)
			}
		}
	}
}

func kubectl(text string) (objects int, failed bool) {
	decoder := kyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var raw runtime.RawExtension
		err := decoder.Decode(&raw)
		switch json := strings.TrimSpace(string(raw.Raw)); {
		case errors.Is(err, io.EOF):
			return objects, false
		case err != nil:
			return objects, true
		case json == "" || json == "null":
		case json[0] != '{':
			return objects, true
		default:
			objects++
		}
	}
}
