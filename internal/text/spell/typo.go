package spell

import (
	"strings"

	"github.com/celadon-cel/celadon/internal/regexp/lazy"
)

var parts = lazy.New(`[A-Z]+[a-z]*|[a-z]+|[0-9]+`)

// minTypo is the minimum length of a word that IsTypo treats as misspelled. In shorter words, a change of one
// letter often results in another valid word.
const minTypo = 4

// IsTypo reports whether word is almost certainly a misspelling of name.
// They differ only in case and separators, or in one letter of one of their words, but not in its first letter.
func IsTypo(word, name string) bool {
	if IsSame(word, name) {
		return true
	}
	x, y, differ := parts.FindAllString(word, -1), parts.FindAllString(name, -1), 0
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		a, b := strings.ToLower(x[i]), strings.ToLower(y[i])
		if a == b {
			continue
		}
		differ++
		if min(len(a), len(b)) < minTypo || a[0] != b[0] || distance(a, b) > 1 || i < len(x)-1 && (a == b+"s" || b == a+"s") {
			return false
		}
	}
	return differ == 1
}

// contraries holds words that differ in few letters and mean the opposite.
var contraries = map[string]string{"min": "max", "minimum": "maximum", "include": "exclude", "includes": "excludes", "included": "excluded"}

// IsContrary reports whether two names differ in a number, or in words of opposite meaning.
func IsContrary(a, b string) bool {
	x, y := parts.FindAllString(a, -1), parts.FindAllString(b, -1)
	if len(x) != len(y) {
		return false
	}
	for i := range x {
		one, other := strings.ToLower(x[i]), strings.ToLower(y[i])
		if one != other && (contraries[one] == other || contraries[other] == one || one[0] <= '9' && other[0] <= '9') {
			return true
		}
	}
	return false
}

// IsSame reports whether two names differ at most in their style, such as camel case.
func IsSame(a, b string) bool { return plain(a) == plain(b) }

func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}
