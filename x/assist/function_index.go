package assist

import (
	_ "embed"
	"iter"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/celadon-cel/celadon/internal/text/phrase"
)

// A FunctionEntry describes a function, a macro, or an operator. All its strings are single lines.
type FunctionEntry struct {
	Name string
	// Groups holds the names of the groups that the function belongs to, the most important first.
	Groups []string
	// Summary describes the function in a few words, and Description in a few sentences.
	Summary, Description string
	Examples             []Example
}

// An Example is an expression with its value in CEL syntax and its actual cost in CEL cost units, both
// in the newest Kubernetes version.
type Example struct {
	Expr, Value string
	Cost        uint64
}

// String returns the example as an expression with a comment.
func (e Example) String() string {
	return e.Expr + "  // " + e.Value + ", cost " + phrase.Number(e.Cost)
}

// A FunctionGroup is a group of functions.
type FunctionGroup struct{ Name, Title string }

// FunctionGroups returns the groups in the order in which they are listed.
func FunctionGroups() []FunctionGroup {
	return []FunctionGroup{
		{"strings", "Strings"}, {"regex", "Regular expressions"}, {"lists", "Lists"}, {"maps", "Maps"},
		{"sets", "Lists as sets"}, {"macros", "Macros"}, {"math", "Math"}, {"conversion", "Conversions"},
		{"time", "Timestamps and durations"}, {"quantity", "Quantities"}, {"semver", "Semantic versions"},
		{"ip", "IP addresses"}, {"cidr", "Networks"}, {"url", "URLs"}, {"format", "Formats of names and values"},
		{"optionals", "Optionals"}, {"operators", "Operators"},
	}
}

// FunctionIndex returns the entries of all functions, macros, and operators of the newest Kubernetes
// version.
func FunctionIndex() []FunctionEntry { return slices.Clone(functionIndex()) }

// FindFunction returns the entry of a function, macro, or operator.
func FindFunction(name string) (FunctionEntry, bool) {
	all := functionIndex()
	i := slices.IndexFunc(all, func(e FunctionEntry) bool { return e.Name == name })
	if i < 0 {
		return FunctionEntry{}, false
	}
	return all[i], true
}

//go:embed functions.txt
var functionTexts string

var functionIndex = sync.OnceValue(func() []FunctionEntry { return parseFunctions(functionTexts) })

func parseFunctions(text string) (all []FunctionEntry) {
	for lines := range entries(text) {
		name, groups := cutLast(lines[0], ": ")
		e := FunctionEntry{Name: name, Groups: strings.Split(groups, ", "), Summary: lines[1], Description: lines[2]}
		for _, line := range lines[3:] {
			if src, ok := strings.CutPrefix(line, "> "); ok {
				e.Examples = append(e.Examples, Example{Expr: src})
			} else if result, ok := strings.CutPrefix(line, "= "); ok && len(e.Examples) > 0 {
				last := &e.Examples[len(e.Examples)-1]
				value, units := cutLast(result, ", cost ")
				last.Value = value
				last.Cost, _ = strconv.ParseUint(units, 10, 64)
			}
		}
		all = append(all, e)
	}
	return all
}

// entries returns the lines of each entry of an index: at least three, in a paragraph that is not a comment.
func entries(text string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		for part := range strings.SplitSeq(text, "\n\n") {
			lines := strings.Split(strings.TrimSpace(part), "\n")
			if len(lines) >= 3 && !strings.HasPrefix(lines[0], "# ") && !yield(lines) {
				return
			}
		}
	}
}

func cutLast(text, separator string) (before, after string) {
	i := strings.LastIndex(text, separator)
	if i < 0 {
		return text, ""
	}
	return text[:i], text[i+len(separator):]
}
