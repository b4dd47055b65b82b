package assist

import (
	"strings"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/types"
)

// CompleteFieldPath is like CompleteAt for the fieldPath of a rule: a path of fields below the
// context's path, such as ".spec.name" or ".labels['a.b']".
func (p *Context) CompleteFieldPath(src string, at int) Completion {
	before := []rune(src)
	before = before[:max(0, min(at, len(before)))]
	text := string(before)
	cut := strings.LastIndexAny(text, ".[")
	if quoted := strings.LastIndex(text, "['"); quoted >= 0 && !strings.Contains(text[quoted:], "']") {
		cut = quoted
	}
	if cut < 0 {
		return Completion{Candidates: []Candidate{{Text: ".", Class: ClassOperator}}}
	}
	steps, err := engine.ParsePath(text[:cut])
	d := p.Node.Decl
	for _, step := range steps {
		if d == nil {
			break
		}
		if f := d.Fields[step.Name]; f != nil && !step.Item && !step.Any {
			d = f.Decl
		} else if d.Kind == types.Map && !step.Item && !step.Any {
			d = d.Elem
		} else {
			d = nil
		}
	}
	c := Completion{Start: len([]rune(text[:cut]))}
	if err != nil || d == nil || d.Kind != types.Object {
		return Completion{Start: len(before)}
	}
	for _, name := range d.FieldNames() {
		step := engine.FormatPath([]engine.Step{{Name: name}})
		if step[0] != '[' {
			step = "." + step
		}
		c.Candidates = append(c.Candidates, Candidate{Text: step, Hint: d.Fields[name].Decl.String(), Class: ClassField})
	}
	return c.Only(text[cut:])
}
