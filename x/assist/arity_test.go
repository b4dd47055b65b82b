package assist_test

import (
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

func TestArities(t *testing.T) {
	names := strings.Fields("contains containsCIDR containsIP startsWith endsWith matches size find findAll split join replace trim " +
		"substring indexOf lastIndexOf lowerAscii charAt format all exists exists_one map filter transformList isSorted sum min max " +
		"includes in has cidr ip url quantity duration timestamp semver int double string bool dyn type getHours asInteger " +
		"isGreaterThan isLessThan compareTo add sub equals toLowerCase length len isEmpty between any some count optMap orValue value hasValue unknown")
	receivers := []string{"", "self.name", "self.users", "self.labels", "1", "1.5", "true", "null", "[]", "cidr('10.0.0.0/8')",
		"ip('10.0.0.1')", "quantity('1')", "duration('1s')", "url('http://a')", "optional.none()", "b'a'"}
	arguments := []string{"", "'a'", "1", "x, x", "['a']", "'a', 'b', 'c'"}
	t.Parallel()
	in := placeIn(t, "testdata/database.yaml", "spec")
	in.Part = assist.Rule
	for _, receiver := range receivers {
		for _, name := range names {
			for _, arguments := range arguments {
				call := name + "(" + arguments + ")"
				if receiver != "" {
					call = receiver + "." + call
				}
				for _, p := range in.Problems(call) { // must not panic
					p.Fixed(call)
				}
			}
		}
	}
}
