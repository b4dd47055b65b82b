package assist_test

import (
	"testing"

	"github.com/celadon-cel/celadon/x/assist"
)

// TestMistakes checks that mistakes of newcomers get a hint and that the first fix makes the expression
// that they want.
func TestMistakes(t *testing.T) {
	hints := 0
	for _, m := range mistakes {
		p := placeIn(t, "testdata/database.yaml", m.path)
		p.Part = assist.Rule
		problems := p.Problems(m.src)
		if len(problems) == 0 {
			t.Errorf("%s: no problem", m.src)
			continue
		}
		problem, got := problems[0], ""
		if len(problem.Fixes) > 0 {
			got = assist.Apply(m.src, problem.Fixes[0].Edits)
		}
		if got != m.want {
			t.Errorf("%s\n\tfixed %q\n\twant  %q\n\t%s\n\t%s %q", m.src, got, m.want, problem.Message, problem.Words, problem.Names)
			continue
		}
		if problem.Words == "" && len(problem.Names) == 0 {
			t.Errorf("%s: no hint: %s", m.src, problem.Message)
			continue
		}
		hints++
	}
	t.Logf("%d of %d mistakes have a hint and the fix", hints, len(mistakes))
}

// A mistake is an expression at a path, and what it becomes by its first fix.
type mistake struct{ path, src, want string }

var mistakes = []mistake{
	// Literals of Kubernetes.
	{"", "self.spec.storage.size > 10Gi", `quantity(self.spec.storage.size).isGreaterThan(quantity("10Gi"))`},
	{"", "self.spec.storage.size <= 10Gi", `quantity(self.spec.storage.size).compareTo(quantity("10Gi")) <= 0`},
	{"", "quantity(self.spec.storage.size) > 10Gi", `quantity(self.spec.storage.size).isGreaterThan(quantity("10Gi"))`},
	{"", "10Gi <= self.spec.storage.size", `quantity("10Gi").compareTo(quantity(self.spec.storage.size)) <= 0`},
	{"", "self.spec.storage.size == 500m", `quantity(self.spec.storage.size).compareTo(quantity("500m")) == 0`},
	{"", "self.spec.grace > 5m", `self.spec.grace > duration("5m")`},
	{"", "self.spec.grace < 1h30m", `self.spec.grace < duration("1h30m")`},
	{"", "self.spec.timeout > 5m", `duration(self.spec.timeout) > duration("5m")`},
	{"", "self.spec.timeout >= 30s", `duration(self.spec.timeout) >= duration("30s")`},
	{"", "self.spec.started > 2026-01-02", `self.spec.started > timestamp("2026-01-02T00:00:00Z")`},
	{"", "self.spec.version >= 1.2.3", `semver(self.spec.version).compareTo(semver("1.2.3")) >= 0`},
	{"", "self.spec.address == 10.0.0.1", `self.spec.address == "10.0.0.1"`},
	{"", "self.spec.subnet == 10.0.0.0/8", `self.spec.subnet == "10.0.0.0/8"`},
	{"", "self.spec.replicas <= 1_000", "self.spec.replicas <= 1000"},
	// Types with methods for order and arithmetic.
	{"", "quantity(self.spec.storage.size) > quantity(self.spec.storage.max)", "quantity(self.spec.storage.size).isGreaterThan(quantity(self.spec.storage.max))"},
	{"", "quantity(self.spec.storage.size) >= quantity('1Gi')", "quantity(self.spec.storage.size).compareTo(quantity('1Gi')) >= 0"},
	{"", "semver(self.spec.version) < semver('2.0.0')", "semver(self.spec.version).isLessThan(semver('2.0.0'))"},
	{"", "semver(self.spec.version) > '2.0.0'", "semver(self.spec.version).isGreaterThan(semver('2.0.0'))"},
	{"", "semver(self.spec.version) >= semver(oldSelf.spec.version)", "semver(self.spec.version).compareTo(semver(oldSelf.spec.version)) >= 0"},
	{"", "quantity(self.spec.storage.size) > '1Gi'", "quantity(self.spec.storage.size).isGreaterThan(quantity('1Gi'))"},
	{"", "quantity(self.spec.storage.size) > self.spec.storage.max", "quantity(self.spec.storage.size).isGreaterThan(quantity(self.spec.storage.max))"},
	{"", "quantity(self.spec.storage.size) + quantity(self.spec.storage.max) == quantity('3Gi')", "quantity(self.spec.storage.size).add(quantity(self.spec.storage.max)) == quantity('3Gi')"},
	{"", "quantity(self.spec.storage.size) - quantity('1Gi') == quantity('3Gi')", "quantity(self.spec.storage.size).sub(quantity('1Gi')) == quantity('3Gi')"},
	{"", "quantity(self.spec.storage.size) > 1000", "quantity(self.spec.storage.size).isGreaterThan(quantity('1000'))"},
	{"", "self.spec.grace > '5m'", "self.spec.grace > duration('5m')"},
	{"", "duration(self.spec.timeout) > 300", "duration(self.spec.timeout) > duration('300s')"},
	{"", "self.spec.started < '2026-01-02T00:00:00Z'", "self.spec.started < timestamp('2026-01-02T00:00:00Z')"},
	{"", "self.spec.started > self.spec.window", "self.spec.started > timestamp(self.spec.window)"},
	{"", "cidr(self.spec.subnet).contains(self.spec.address)", "cidr(self.spec.subnet).containsIP(self.spec.address)"},
	{"", "cidr(self.spec.subnet).containsIP(10.0.0.1)", `cidr(self.spec.subnet).containsIP("10.0.0.1")`},
	{"", "self.spec.storage.size > 1Gi && self.spec.storage.max < 5Gi", `quantity(self.spec.storage.size).isGreaterThan(quantity("1Gi")) && quantity(self.spec.storage.max).isLessThan(quantity("5Gi"))`},
	{"", "quantity(self.spec.storage.size).isGreaterThan('1Gi')", "quantity(self.spec.storage.size).isGreaterThan(quantity('1Gi'))"},
	{"", "quantity(5).isGreaterThan(quantity(self.spec.storage.size))", "quantity('5').isGreaterThan(quantity(self.spec.storage.size))"},
	{"", "url(self.spec.url).host == 'a'", "url(self.spec.url).getHost() == 'a'"},
	{"", "cidr(self.spec.subnet).containsIP(self.spec.replicas)", "cidr(self.spec.subnet).containsIP(string(self.spec.replicas))"},
	// Regular expressions.
	{"", `self.spec.engine.matches('^\S+$')`, `self.spec.engine.matches(r'^\S+$')`},
	{"", `self.spec.engine.matches("^\d+$")`, `self.spec.engine.matches(r"^\d+$")`},
	{"", `self.spec.engine.matches('^a\.b$') && self.spec.version.matches('\d')`, `self.spec.engine.matches(r'^a\.b$') && self.spec.version.matches(r'\d')`},
	{"", `self.spec.engine.matches(/^[a-z]+$/)`, `self.spec.engine.matches('^[a-z]+$')`},
	{"", `self.spec.engine.matches('(?<=a)b')`, ""},
	{"", `self.spec.engine.matches('[a-z')`, ""},
	{"", `self.spec.engine.matches('a**')`, ""},
	// Enums and quotes.
	{"", "self.spec.engine == postgres", "self.spec.engine == 'postgres'"},
	{"", "self.spec.engine in [postgres, mysql]", "self.spec.engine in ['postgres', 'mysql']"},
	{"", "self.spec.engine != mariadb || self.spec.replicas == 1", "self.spec.engine != 'mariadb' || self.spec.replicas == 1"},
	{"", "self.spec.paused == 'true'", "self.spec.paused == true"},
	{"", "self.spec.paused == True", "self.spec.paused == true"},
	{"", "self.spec.engine == `postgres`", "self.spec.engine == 'postgres'"},
	{"", "self.spec.engine == ‘postgres’", "self.spec.engine == 'postgres'"},
	// Metadata.
	{"", "self.metadata.namespace == 'a'", ""},
	{"", "self.metadata.labels.size() > 0", ""},
	{"", "'a' in self.metadata.annotations", ""},
	{"spec", "self.metadata.name == 'a'", ""},
	{"", "self.replicas > 1", "self.spec.replicas > 1"},
	{"", "self.size > '1Gi'", "self.spec.storage.size > '1Gi'"},
	{"", "self.spec.phase != ''", "self.status.phase != ''"},
	{"spec", "self.spec.replicas > 1", "self.replicas > 1"},
	{"spec.storage", "self.spec.replicas > 1", ""},
	// Optionals.
	{"", "self.spec.?ratio > 1.0", "self.spec.?ratio.orValue(0.0) > 1.0"},
	{"", "self.spec.?url == 'a'", "self.spec.?url.orValue('') == 'a'"},
	{"", "self.spec.?paused", "self.spec.?paused.orValue(false)"},
	{"", "self.spec.?names.size() > 0", "self.spec.?names.orValue([]).size() > 0"},
	{"", "'a' in self.spec.?names", "'a' in self.spec.?names.orValue([])"},
	{"", "self.spec?.url == 'a'", "self.spec.?url.orValue('') == 'a'"},
	{"", "self.spec.url ?? 'a' == 'a'", "self.spec.?url.orValue('a') == 'a'"},
	// Methods of other languages.
	{"", "self.spec.users.length > 0", "self.spec.users.size() > 0"},
	{"", "self.spec.users.length() > 0", "self.spec.users.size() > 0"},
	{"", "len(self.spec.users) > 0", "size(self.spec.users) > 0"},
	{"", "self.spec.names.contains('a')", "'a' in self.spec.names"},
	{"", "self.spec.names.unique()", "self.spec.names.all(x, self.spec.names.exists_one(y, y == x))"},
	{"", "self.spec.users.map(u, u.name).unique()", "self.spec.users.all(x, self.spec.users.exists_one(y, y.name == x.name))"},
	{"", "self.spec.names.isUnique()", "self.spec.names.all(x, self.spec.names.exists_one(y, y == x))"},
	{"", "self.spec.engine.toLowerCase() == 'a'", "self.spec.engine.lowerAscii() == 'a'"},
	{"", "self.spec.users.every(u, u.name != '')", "self.spec.users.all(u, u.name != '')"},
	{"", "self.spec.users.any(u => u.name != '')", "self.spec.users.exists(u, u.name != '')"},
	{"", "self.spec.users.all(u.name != '')", "self.spec.users.all(u, u.name != '')"},
	{"", "self.spec.labels.containsKey('a')", "'a' in self.spec.labels"},
	{"", "self.spec.labels.has('a')", "'a' in self.spec.labels"},
	{"", "self.spec.engine.isEmpty()", "self.spec.engine.size() == 0"},
	{"", "self.spec.version.hasPrefix('v')", "self.spec.version.startsWith('v')"},
	{"", "self.spec.users.name.all(n, n != '')", "self.spec.users.map(e, e.name).all(n, n != '')"},
	// Conditionals and operators of other languages.
	{"", "if self.spec.paused then self.spec.replicas == 1 else true", "self.spec.paused ? self.spec.replicas == 1 : true"},
	{"", "if self.spec.paused then self.spec.replicas == 1", "!self.spec.paused || self.spec.replicas == 1"},
	{"", "if (self.spec.paused) { self.spec.replicas == 1 } else { true }", "(self.spec.paused) ? self.spec.replicas == 1 : true"},
	{"", "self.spec.replicas == 1 if self.spec.paused else true", "self.spec.paused ? self.spec.replicas == 1 : true"},
	{"", "self.spec.paused implies self.spec.replicas == 1", "!self.spec.paused || self.spec.replicas == 1"},
	{"", "self.spec.paused => self.spec.replicas == 1", "!self.spec.paused || self.spec.replicas == 1"},
	{"", "self.spec.paused -> self.spec.replicas == 1", "!self.spec.paused || self.spec.replicas == 1"},
	{"", "self.spec.paused and self.spec.replicas = 1", "self.spec.paused && self.spec.replicas == 1"},
	{"", "not self.spec.paused", "!self.spec.paused"},
	{"", "self.spec.engine not in ['mysql']", "!(self.spec.engine in ['mysql'])"},
	{"", "1 <= self.spec.replicas <= 5", "1 <= self.spec.replicas && self.spec.replicas <= 5"},
	{"", "self.spec.replicas in 1..5", "1 <= self.spec.replicas && self.spec.replicas <= 5"},
	{"", "self.spec.replicas in range(1, 5)", "1 <= self.spec.replicas && self.spec.replicas < 5"},
	{"", "self.spec.replicas between 1 and 5", "1 <= self.spec.replicas && self.spec.replicas <= 5"},
	{"", "self.spec.engine is null", "!has(self.spec.engine)"},
	{"", "self.spec.url == null", "!has(self.spec.url)"},
	{"", "self.spec.url == nil", "!has(self.spec.url)"},
	{"", "self.spec.url != None", "has(self.spec.url)"},
	{"", "print(self.spec.engine)", "self.spec.engine != ''"},
	{"", "return self.spec.replicas > 1", "self.spec.replicas > 1"},
	{"", "self.spec.replicas > 1;", "self.spec.replicas > 1"},
	{"", "this.spec.replicas > 1", "self.spec.replicas > 1"},
	{"", "object.spec.replicas > 1", "self.spec.replicas > 1"},
	{"", "spec.replicas > 1", "self.spec.replicas > 1"},
	{"", "$.spec.replicas > 1", "self.spec.replicas > 1"},
	{"", ".spec.replicas > 1", "self.spec.replicas > 1"},
	{"", "{{ self.spec.replicas > 1 }}", "self.spec.replicas > 1"},
	{"", "${self.spec.engine == 'a'}", "self.spec.engine == 'a'"},
	// Numbers.
	{"", "self.spec.replicas % 2 = 1", "self.spec.replicas % 2 == 1"},
	{"", "self.spec.replicas / 2.0 > 1.5", "double(self.spec.replicas) / 2.0 > 1.5"},
	{"", "self.spec.ratio * 2 > 1.0", "self.spec.ratio * 2.0 > 1.0"},
	{"", "size(self.spec.users) == 2u", "size(self.spec.users) == 2"},
	{"", "self.spec.replicas > '3'", "self.spec.replicas > 3"},
	{"", "size(self.spec.users) < self.spec.storage.size", "size(self.spec.users) < int(self.spec.storage.size)"},
	{"", "self.spec.users < 5", "size(self.spec.users) < 5"},
	{"", "self.spec.replicas + 'a' == '3a'", "string(self.spec.replicas) + 'a' == '3a'"},
	{"", "sum(self.spec.users.map(u, 1)) < 5", "self.spec.users.map(u, 1).sum() < 5"},
	{"", "max(self.spec.replicas, 3) > 3", "[self.spec.replicas, 3].max() > 3"},
	// has() and indexes.
	{"", "has(self.spec.users[0])", "size(self.spec.users) > 0"},
	{"", "has(self.spec.labels['a'])", "'a' in self.spec.labels"},
	{"", "has('self.spec.url')", "has(self.spec.url)"},
	{"", "self.has(spec.url)", "has(self.spec.url)"},
	{"", "exists(self.spec.url)", "has(self.spec.url)"},
	{"", "has(self.spec.engine == 'a')", "self.spec.engine == 'a'"},
	{"", "self.spec['engine'] == 'a'", "self.spec.engine == 'a'"},
	// Transition rules and times.
	{"", "oldself.spec.engine == self.spec.engine", "oldSelf.spec.engine == self.spec.engine"},
	{"", "old.spec.engine == self.spec.engine", "oldSelf.spec.engine == self.spec.engine"},
	{"", "oldObject.spec.engine == self.spec.engine", "oldSelf.spec.engine == self.spec.engine"},
	{"", "self.spec.started < now()", ""},
	{"", "request.userInfo.username == 'a'", ""},
	{"", "self.spec.replcas > 1", "self.spec.replicas > 1"},
	{"", "self.spec.Engine == 'a'", "self.spec.engine == 'a'"},
	{"", "self.spec.users[0].nme == 'a'", "self.spec.users[0].name == 'a'"},
	{"", "size(self.spec.users", "size(self.spec.users) != 0"},
	{"", "self.spec.engine.startsWith('a) && true", "self.spec.engine.startsWith('a') && true"},
	{"", "self.spec.engine == 'it's'", `self.spec.engine == "it's"`},
}
