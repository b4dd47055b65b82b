package assist

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/cel/lex"
	"github.com/celadon-cel/celadon/types"
)

// argumentEdits returns edits for a has() whose argument is not a field.
func (m *fixer) argumentEdits() (all [][]Edit) {
	for i := range m.tokens {
		if m.at(i) != "has" || m.at(i+1) != "(" || m.at(i-1) == "." {
			continue
		}
		end := m.closing(i + 1)
		if end < i+3 {
			continue
		}
		whole, last := m.tokenSpan(i, end), end-1
		switch {
		case end == i+3 && m.tokens[i+2].Kind == lex.String: // has('self.name') or has('name')
			name := strings.Trim(m.at(i+2), `'"`)
			all = append(all, replace(m.tokenSpan(i+2, i+2), name), replace(m.tokenSpan(i+2, i+2), types.Self+"."+name))
		case m.at(last) == "]":
			open := m.opened(last)
			if open <= i+2 || open+2 != last {
				continue
			}
			of, index := m.part(i+2, open-1), m.at(open+1)
			if m.tokens[open+1].Kind == lex.String {
				all = append(all, replace(whole, index+" in "+of), replace(whole, "has("+of+"."+strings.Trim(index, `'"`)+")"))
			} else {
				all = append(all, replace(whole, "size("+of+") > "+index))
			}
		}
	}
	return all
}
