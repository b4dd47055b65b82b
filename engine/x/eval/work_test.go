package eval

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"

	"github.com/celadon-cel/celadon/engine/x/celenv"
	"github.com/celadon-cel/celadon/types"
)

// constants lists overloads whose work does not depend on the size of their arguments.
const constants = `
	add_double add_duration_duration add_duration_timestamp add_int64 add_timestamp_duration add_uint64
	divide_double divide_int64 divide_uint64 modulo_int64 modulo_uint64 multiply_double multiply_int64 multiply_uint64
	negate_double negate_int64 subtract_double subtract_duration_duration subtract_int64
	subtract_timestamp_duration subtract_timestamp_timestamp subtract_uint64
	greater_bool greater_double greater_double_int64 greater_double_uint64 greater_duration greater_int64
	greater_int64_double greater_int64_uint64 greater_timestamp greater_uint64 greater_uint64_double greater_uint64_int64
	greater_equals_bool greater_equals_double greater_equals_double_int64 greater_equals_double_uint64
	greater_equals_duration greater_equals_int64 greater_equals_int64_double greater_equals_int64_uint64
	greater_equals_timestamp greater_equals_uint64 greater_equals_uint64_double greater_equals_uint64_int64
	less_bool less_double less_double_int64 less_double_uint64 less_duration less_int64 less_int64_double
	less_int64_uint64 less_timestamp less_uint64 less_uint64_double less_uint64_int64
	less_equals_bool less_equals_double less_equals_double_int64 less_equals_double_uint64 less_equals_duration
	less_equals_int64 less_equals_int64_double less_equals_int64_uint64 less_equals_timestamp less_equals_uint64
	less_equals_uint64_double less_equals_uint64_int64
	logical_and logical_not logical_or conditional __not_strictly_false__ not_strictly_false
	bool_to_bool bool_to_string bytes_to_bytes double_to_double double_to_int64 double_to_string double_to_uint64
	duration_to_duration duration_to_hours duration_to_int64 duration_to_milliseconds duration_to_minutes
	duration_to_seconds duration_to_string int64_to_double int64_to_int64 int64_to_string int64_to_timestamp
	int64_to_uint64 string_to_string uint64_to_double uint64_to_int64 uint64_to_string uint64_to_uint64 to_dyn type
	timestamp_to_day_of_month timestamp_to_day_of_month_1_based timestamp_to_day_of_week timestamp_to_day_of_year
	timestamp_to_hours timestamp_to_int64 timestamp_to_milliseconds timestamp_to_minutes timestamp_to_month
	timestamp_to_seconds timestamp_to_string timestamp_to_timestamp timestamp_to_year
	bytes_size size_bytes list_size size_list map_size size_map list_first list_last
	optional_none optional_of optional_ofNonZeroValue optional_value optional_hasValue optional_or_optional
	optional_orValue_value optional_unwrap optional_unwrapOpt select_optional_field
	index_list list_optindex_optional_int optional_list_index_int optional_list_optindex_optional_int
	ip_family ip_is_canonical ip_is_global_unicast ip_is_link_local_multicast ip_is_link_local_unicast ip_is_loopback
	ip_is_unspecified ip_to_string cidr_contains_cidr cidr_contains_ip_ip cidr_ip cidr_masked cidr_prefix_length
	cidr_to_string semver_major semver_minor semver_patch
	url_get_host url_get_hostname url_get_port url_get_scheme
	format-named format.byte format.date format.datetime format.dns1035Label format.dns1035LabelPrefix
	format.dns1123Label format.dns1123LabelPrefix format.dns1123Subdomain format.dns1123SubdomainPrefix
	format.labelValue format.qualifiedName format.uri format.uuid
	authorizer_fieldselector authorizer_group authorizer_labelselector authorizer_path authorizer_serviceaccount
	decision_allowed decision_error decision_errored decision_reason groupcheck_resource pathcheck_check
	resourcecheck_check resourcecheck_name resourcecheck_namespace resourcecheck_subresource`

func TestDemandsAreComplete(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	known, inTable := map[string]bool{}, map[string]bool{}
	for _, overload := range slices.AppendSeq(strings.Fields(constants), maps.Keys(demands)) {
		if inTable[overload] {
			t.Errorf("%s is in the table of work and in constants", overload)
		}
		inTable[overload] = true
	}
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		v := types.Version{Minor: minor}
		for _, envs := range []*celenv.Env{celenv.StoredRules(v), celenv.NewRules(v), celenv.StoredRules(v).WithPatchTypes()} {
			env, err := envs.For(decl, false)
			if err != nil {
				t.Fatal(err)
			}
			for name, fn := range env.Functions() {
				for _, o := range fn.OverloadDecls() {
					known[o.ID()] = true
					if !inTable[o.ID()] {
						t.Errorf("1.%d: overload %s of %s is missing in the table of work: add its work", minor, o.ID(), name)
					}
				}
			}
		}
	}
	for overload := range inTable {
		if !known[overload] && !strings.HasPrefix(overload, "list_google.protobuf.") && !strings.HasPrefix(overload, "list_") {
			t.Errorf("the table of work has %s, which is not an overload", overload)
		}
	}
	if len(known) < 340 {
		t.Errorf("only %d overloads", len(known))
	}
}

func overworked(t *testing.T, env *cel.Env, decl *types.Decl, src string, self map[string]any, limit uint64) (over bool, out Outcome, work uint64) {
	t.Helper()
	s, err := newSubject(env, decl, src)
	if err != nil {
		t.Fatalf("%s: %v", src, err)
	}
	s.ours.limit = noLimit
	a := Bind(decl, self)
	a.LimitWork(limit)
	out = s.ours.Eval(context.Background(), a)
	var overwork *OverworkError
	return errors.As(out.Err, &overwork), out, a.Work()
}

func TestOverworkOfVersions(t *testing.T) {
	t.Parallel()
	text := read(t, "testdata/schema.yaml")
	for minor := types.Oldest; minor <= types.Newest; minor++ {
		decl := declareFor(t, text, minor)
		env := environmentFor(t, decl, minor)
		for _, src := range []string{"lists.range(1099511627776).size() > 0", "lists.range(9223372036854775807) == [] || true", "[1].map(i, lists.range(200000000)).size() > 0"} {
			if s, err := newSubject(env, decl, src); s == nil {
				if minor >= 34 {
					t.Errorf("1.%d: %s: %v", minor, src, err)
				}
				continue
			}
			over, out, _ := overworked(t, env, decl, src, nil, MaxWork)
			if bounded := minor >= 37; over == bounded {
				t.Errorf("1.%d: %s: %+v", minor, src, out)
			}
		}
	}
}

// TestOverwork checks that calls with too much memory or time are not made, and that the evaluation
// ends even if the surrounding expression absorbs errors.
func TestOverwork(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	self := map[string]any{"s": strings.Repeat("a", 100_000)}
	// shared has a list with one item that occurs 2^40 times.
	shared := "[dyn('b')]" + strings.Repeat(".map(a, dyn([a, a]))", 40)
	for src, within := range map[string]bool{
		"self.s.replace('', self.s).size() > 0":                                     false,
		"self.s.replace('', self.s, 3).size() > 0":                                  true,
		"self.s.replace('', self.s, -1).size() > 0":                                 false,
		"dyn(self.s).replace('', dyn(self.s)).size() > 0":                           false,
		"self.s.replace('a', 'bb').size() > 0":                                      true,
		"self.s.replace('a', '').size() == 0":                                       true,
		"self.s.replace('', self.s) == '' || true":                                  false,
		"lists.range(2000).map(i, self.s).join().size() > 0":                        false,
		"lists.range(100).map(i, self.s).join().size() > 0":                         true,
		"lists.range(2000).map(i, 'a').join(self.s).size() > 0":                     false,
		"[lists.range(1000)].flatten().size() > 0":                                  true,
		"lists.range(10000).map(i, lists.range(1000)).flatten().size() > 0":         false,
		"[[[1]], [[2]]].flatten(2) == [1, 2]":                                       true,
		"self.s.indexOf('aaa') == 0":                                                true,
		"self.s.indexOf(self.s) == 0":                                               false,
		"self.s.lastIndexOf(self.s, 3) == 0":                                        false,
		"isQuantity('1e2000000000')":                                                false,
		"sign(quantity('1E-2000000000')) == 1":                                      false,
		"sign(quantity('1e99')) == 1 && !isQuantity('1ee')":                         true,
		"isQuantity(self.s.replace('a', '9'))":                                      true,
		"lists.range(60).all(i, isQuantity(self.s.replace('a', '9')))":              false,
		"lists.range(1000000).size() == 1000000 || lists.range(1000001).size() > 0": true,
		"[1, 2, 3].map(i, lists.range(1000000)) == []":                              false,
		"lists.range(1000001).size() > 0 || true":                                   true,
		"[1, 2].map(i, dyn([self.s.replace('', self.s)])).size() > 0":               false,
		// Within the cost limit, but with too much work.
		"'%s'.format([lists.range(1000).map(x, self.s)]).size() > 0":                                                                                  false,
		"'" + strings.Repeat("%s", 500) + "'.format(lists.range(500).map(x, self.s)).size() > 0":                                                      false,
		"'%.1000000f%.1000000f%.99999999f'.format([1.0, 2.0, 3.0]).size() > 0":                                                                        true,
		"'" + strings.Repeat("%.1000000f", 100) + "'.format(lists.range(100).map(x, 1.0)).size() > 0":                                                 false,
		"lists.range(50000).exists(i, self.s.charAt(i) == 'b')":                                                                                       false,
		"lists.range(50000).all(i, self.s.size() > i)":                                                                                                false,
		"lists.range(50000).all(i, dyn(self.s).size() > i)":                                                                                           false,
		"lists.range(50000).exists(i, timestamp('2024-02-03T04:05:06Z').getHours('No/Where') == 99)":                                                  false,
		"lists.range(100).all(i, timestamp('2024-02-03T04:05:06Z').getHours('+01:00') == 5)":                                                          true,
		"lists.range(50000).exists(i, isQuantity('1e-99999') && i < 0)":                                                                               false,
		"lists.range(50000).exists(i, timestamp(self.s) == timestamp(self.s))":                                                                        false,
		"lists.range(50000).exists(i, int(self.s) == i)":                                                                                              false,
		"lists.range(600).all(i, self.s.replace('a', 'bbb').size() > 0)":                                                                              false,
		"lists.range(100000).all(i, self.s.contains(''))":                                                                                             false,
		"lists.range(100000).all(i, self.s != 'a text of some length')":                                                                               true,
		"lists.range(100000).exists(i, {'a': 1}[self.s] == i)":                                                                                        false,
		"lists.range(100000).exists(i, self.s in {'a': 1})":                                                                                           false,
		"lists.range(100000).exists(i, {self.s: 1}.size() == -1)":                                                                                     false,
		"lists.range(50000).exists(i, url('http://a/?' + self.s).getQuery() == {})":                                                                   false,
		"lists.range(1000).exists(i, format.dns1123Label().validate(self.s) == optional.none())":                                                      false,
		"lists.range(1000).all(i, isSemver('1.2.3-' + self.s))":                                                                                       false,
		"lists.range(100000).exists(i, (lists.range(1000) + [i]).size() == i)":                                                                        false,
		"lists.range(100000).exists(i, lists.range(1000).reverse().size() == i)":                                                                      false,
		"[[1]]" + strings.Repeat(".map(x, x + x)", 30) + "[0].size() > 5":                                                                             false,
		shared + ".exists(a, a == [dyn(a)[0], dyn(a)[1]])":                                                                                            false,
		shared + ".exists(a, '%s'.format([a]) == '')":                                                                                                 false,
		shared + ".exists(a, a in [a, a])":                                                                                                            false,
		shared + ".exists(a, [a].distinct().size() > 0)":                                                                                              false,
		shared + ".exists(a, {'a': a} == {'a': [a]})":                                                                                                 false,
		shared + ".exists(a, [[a]].size() == 1)":                                                                                                      true,
		"self.s.matches('" + strings.Repeat("a{1000}", 3000) + "')":                                                                                   false,
		"self.s.matches('" + strings.Repeat("a{1000}", 3000) + "'.trim())":                                                                            false,
		"self.s.matches('(x?){0,500}(y?x?){0,400}Z')":                                                                                                 false,
		"self.s.find('(x?){0,500}(y?x?){0,400}Z') == ''":                                                                                              false,
		"!self.s.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')":                                                                                     true,
		"self.s.matches('^[a-z]+$')":                                                                                                                  true,
		"lists.range(2000).all(i, 'host-name.example.com'.matches('^[a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,251}[a-z0-9])?)*$'))": true,
		"self.s.findAll('a+').size() == 1":                                                                                                            true,
		"self.s.findAll('a.*b|a').size() == 1":                                                                                                        false,
		"google.protobuf.BoolValue{value: true} && self.s.replace('', self.s) == ''":                                                                  false,
	} {
		limit := uint64(MaxWork)
		if !within {
			limit /= 8 // all of these exceed it by far; counting up to the full limit would take long
		}
		over, out, work := overworked(t, env, decl, src, self, limit)
		switch {
		case over == within:
			t.Errorf("%.200s: got %s (work %d), want an end %t", src, show(out), work, !within)
		case within && out.False():
			t.Errorf("%.200s: got %s", src, show(out))
		case over && work != limit:
			t.Errorf("%.200s: work %d", src, work)
		}
	}
}

func TestWorkIsCounted(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	for _, src := range []string{
		"self.s.matches('^[a-z]+$')", "dyn(self) == dyn(self)", "self.strings == self.strings", "self.s.split('a').size() == 3",
		"dyn(self).all(k, k != 'x')", "'%s'.format([dyn(self)]) != ''", "self.strings.all(x, x in self.strings)",
	} {
		s, err := newSubject(env, decl, src)
		if err != nil {
			t.Fatalf("%s: %v", src, err)
		}
		for _, self := range values(t, "testdata/values.yaml") {
			a := Bind(decl, self)
			first := s.ours.Eval(context.Background(), a)
			work := a.Work()
			for range 5 {
				a := Bind(decl, self)
				if out := s.ours.Eval(context.Background(), a); a.Work() != work || show(out) != show(first) {
					t.Fatalf("%s: %d, %s; then %d, %s", src, work, show(first), a.Work(), show(out))
				}
			}
			if work < 2 || first.Err != nil {
				continue
			}
			for _, less := range []uint64{work - 1, work / 2} {
				a := Bind(decl, self)
				a.LimitWork(less)
				var overwork *OverworkError
				if out := s.ours.Eval(context.Background(), a); !errors.As(out.Err, &overwork) || a.Work() != max(less, 1) {
					t.Errorf("%s: limit %d of %d: got %s, work %d", src, less, work, show(out), a.Work())
				}
			}
			a = Bind(decl, self)
			a.LimitWork(work)
			if out := s.ours.Eval(context.Background(), a); show(out) != show(first) {
				t.Errorf("%s: limit %d: got %s", src, work, show(out))
			}
			// Evaluations with a shared limit may each use half of the remaining work.
			a = Bind(decl, self)
			a.ShareWork(4 * work)
			for i, ends := range []bool{false, false, false, true} {
				var overwork *OverworkError
				if out := s.ours.Eval(context.Background(), a); errors.As(out.Err, &overwork) != ends {
					t.Errorf("%s: turn %d of a share of %d: got %s, work %d", src, i, 4*work, show(out), a.Work())
				}
			}
		}
	}
}

// TestWorkIsCancelled checks that a done context ends an evaluation with few steps of much work
// each.
func TestWorkIsCancelled(t *testing.T) {
	t.Parallel()
	decl := declare(t, read(t, "testdata/schema.yaml"))
	env := environment(t, decl, false)
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("out of patience"))
	self := map[string]any{"s": strings.Repeat("a", 1<<20)}
	for _, src := range []string{"self.s.matches('^(a|b|c)*d')", "'%s'.format([self.s]) == ''", "self.s.size() > 0 && self.s.replace('a', 'b').charAt(3) == 'b'"} {
		s, err := newSubject(env, decl, src)
		if err != nil {
			t.Fatal(err)
		}
		s.ours.limit = noLimit
		out := s.ours.Eval(ctx, Bind(decl, self))
		if out.Err == nil || fmt.Sprint(out.Err) != "operation interrupted: out of patience" {
			t.Errorf("%s: got %s", src, show(out))
		}
	}
}

// TestListsAreFlat checks the type of CEL's concatenated list, in which finding an item takes time
// proportional to the number of concatenations.
func TestListsAreFlat(t *testing.T) {
	t.Parallel()
	if lazyList == nil || lazyList.String() != "*types.concatList" {
		t.Errorf("CEL makes a %v of two lists", lazyList)
	}
	list := flat(twoLists())
	if list.Equal(celtypes.NewDynamicList(celtypes.DefaultTypeAdapter, []int64{1, 1})) != celtypes.True || flat(list) != list {
		t.Errorf("got %v", list)
	}
}
