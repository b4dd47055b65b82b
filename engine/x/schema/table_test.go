package schema

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

var keywords = strings.Split(strings.TrimSpace(`
{}
{"type":"string"}
{"type":"integer"}
{"type":"number"}
{"type":"boolean"}
{"type":"object"}
{"type":"array"}
{"type":"null"}
{"type":"string","nullable":true}
{"x-kubernetes-int-or-string":true}
{"x-kubernetes-int-or-string":true,"pattern":"^[0-9]+%$"}
{"x-kubernetes-int-or-string":true,"anyOf":[{"type":"integer"},{"type":"string"}],"maximum":5}
{"x-kubernetes-preserve-unknown-fields":true}
{"type":"string","maxLength":2}
{"type":"string","minLength":2}
{"type":"string","maxLength":2,"minLength":4,"pattern":"^x"}
{"type":"string","pattern":"^a+$"}
{"type":"string","pattern":"("}
{"pattern":"^a","maxLength":3}
{"type":"string","format":"date-time"}
{"type":"string","format":"byte"}
{"type":"string","format":"ipv4"}
{"type":"string","format":"cidr"}
{"type":"string","format":"password"}
{"type":"string","format":"unheard-of"}
{"format":"ipv6"}
{"format":"int32"}
{"type":"boolean","format":"ipv4"}
{"x-kubernetes-int-or-string":true,"format":"ipv4"}
{"type":"integer","format":"int32"}
{"type":"integer","format":"int64"}
{"type":"number","format":"float"}
{"type":"number","format":"double"}
{"type":"number","format":"int32"}
{"type":"integer","minimum":1,"maximum":3}
{"type":"integer","minimum":1.5}
{"type":"integer","maximum":1e300}
{"type":"number","maximum":1e300}
{"type":"number","minimum":1,"exclusiveMinimum":true,"maximum":3,"exclusiveMaximum":true}
{"minimum":1.5,"maximum":2.5}
{"type":"integer","multipleOf":2}
{"type":"integer","multipleOf":0.5}
{"type":"number","multipleOf":0.1}
{"multipleOf":0.5}
{"type":"number","multipleOf":0}
{"type":"number","multipleOf":-2}
{"enum":["a","A",1,1.5,true,null,{"x":1},[1]]}
{"type":"string","enum":["a","b"]}
{"type":"integer","enum":[65,2]}
{"type":"string","nullable":true,"enum":["a",null]}
{"enum":[false,9007199254740993]}
{"type":"array","minItems":1,"maxItems":2}
{"type":"array","uniqueItems":true}
{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}
{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["x"],"items":{"type":"object","properties":{"x":{"type":"string"},"a":{"type":"integer"}}}}
{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["x","a"],"items":{"type":"object","properties":{"x":{},"a":{}}}}
{"type":"array","x-kubernetes-list-type":"map","items":{"type":"object"}}
{"type":"object","minProperties":1,"maxProperties":1}
{"type":"object","required":["x","a","x"]}
{"type":"object","properties":{"x":{"type":"string","default":"d"},"a":{"type":"integer"}}}
{"type":"object","properties":{"x":{"type":"object","default":{"y":null},"properties":{"y":{"type":"string","default":"z"}}}}}
{"type":"object","properties":{"x":{}},"additionalProperties":false}
{"type":"object","additionalProperties":true}
{"type":"object","additionalProperties":{"type":"string","default":"d"}}
{"type":"object","properties":{"":{"type":"string"},"a":{"type":"object","properties":{"":{"type":"string"}}}}}
{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}
{"type":"object","x-kubernetes-preserve-unknown-fields":true,"properties":{"x":{"type":"object"}}}
{"type":"object","properties":{"status":{"type":"object","properties":{"kind":{"type":"string","maxLength":1},"x":{"type":"string","maxLength":1}}}}}
{"type":"object","properties":{"IMPORTANT!x":{"type":"string"}},"anyOf":[{"properties":{"IMPORTANT!x":{"type":"string"},"y":{"type":"string"}}},{"required":["z"]}]}
`), "\n")

// %[1]s and %[2]s are other schemas.
var around = strings.Split(strings.TrimSpace(`
%[1]s
{"type":"object","properties":{"x":%[1]s,"a":%[2]s},"required":["a"]}
{"type":"object","additionalProperties":%[1]s}
{"type":"object","properties":{"kind":%[1]s,"apiVersion":%[2]s,"status":%[1]s}}
{"type":"array","items":%[1]s}
{"allOf":[%[1]s,%[2]s]}
{"anyOf":[%[1]s,%[2]s]}
{"oneOf":[%[1]s,%[2]s]}
{"not":%[1]s}
{"anyOf":[{"allOf":[%[1]s,{"not":%[2]s}]},{"oneOf":[%[2]s,%[1]s,%[1]s]}]}
{"type":"object","properties":{"x":%[1]s},"anyOf":[{"properties":{"x":%[2]s}},{"required":["y"],"properties":{"x":%[2]s}}]}
{"type":"object","properties":{"x":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["x"],"items":{"type":"object","properties":{"x":{"type":"string"},"a":%[1]s}}}}}
`), "\n")

var values = strings.Split(strings.TrimSpace(`
null
true
false
""
"a"
"aaa"
"é日本"
"A"
"50%"
"1.2.3.4"
"::1"
"10.0.0.0/8"
"2024-01-02T03:04:05Z"
"2024-01-02T03:04:05.5+01:00"
"2024-13-02T03:04:05Z"
"YWI="
0
1
2
3
65
-7
4294967296
9007199254740993
9223372036854775807
-9223372036854775808
1.5
2.0
-0.0
1.0000000001
0.30000000000000004
1e18
1e19
3.5e38
[]
[1]
["a","a"]
[1,1.0,"a",null,null]
[{"x":"a","a":1},{"x":"a","a":2},{"x":"b"},{}]
[{"x":1,"a":1},{"x":1.0,"a":1},{"x":true,"a":1},null,{}]
[{"x":"a"},3]
[["a"],["a"]]
{}
{"x":null}
{"x":"a"}
{"x":"aaa","a":1}
{"x":1,"a":"b","y":null}
{"x":{"x":[{"y":2}]},"z":{"q":null}}
{"x":["b",1]}
{"x":[{"x":"k","a":1.5},{"x":"l","a":"m"}]}
{"":1,"a":{"":2}}
{"IMPORTANT!x":1,"y":2}
{"status":{"kind":"long","x":"long"},"kind":"long","apiVersion":7,"metadata":{"name":1}}
{"status":null,"kind":null}
{"apiVersion":"v1","kind":"Pod","metadata":{"name":"Bad_Name","oops":1,"creationTimestamp":null}}
{"x":{"apiVersion":"v1","kind":"","metadata":{"labels":{"a":1}}}}
`), "\n")

func TestKeywords(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes long")
	}
	total := 0
	for i, keyword := range keywords {
		other := keywords[(i*7+11)%len(keywords)]
		for _, form := range around {
			schema := form
			if strings.Contains(form, "%[2]s") {
				schema = fmt.Sprintf(form, keyword, other)
			} else if strings.Contains(form, "%[1]s") {
				schema = fmt.Sprintf(form, keyword)
			}
			s := parseSubject(t, schema)
			for j, value := range values {
				v := parse(t, value)
				check(t, s, schema, v, parse(t, value)) // unchanged
				if testing.Short() || (i+j)%4 > 0 {     // each keyword changes some values, each value some keyword
					continue
				}
				check(t, s, schema, v, parse(t, values[(j+i+1)%len(values)]))
				check(t, s, schema, map[string]any{"x": v, "a": int64(i)}, map[string]any{"a": "old", "x": parse(t, value)})
			}
			total += *s.compared
			if t.Failed() {
				return
			}
		}
	}
	t.Logf("%d comparisons", total)
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	var numbers []any
	for _, f := range []float64{0, 1, 2147483647, 2147483648, -2147483648, -2147483649, 1 << 53, 1<<53 + 2, -(1 << 53), 1 << 62, 1 << 63, -(1 << 63), math.MaxFloat32, 3.4028235677973366e38, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324} {
		numbers = append(numbers, f, math.Nextafter(f, math.Inf(1)), math.Nextafter(f, math.Inf(-1)), -f)
		if math.Abs(f) < 1<<63 {
			numbers = append(numbers, int64(f), int64(f)+1, int64(f)-1)
		}
	}
	numbers = append(numbers, int64(math.MaxInt64), int64(math.MinInt64), math.Copysign(0, -1))
	for _, keyword := range keywords {
		s := parseSubject(t, keyword)
		for _, n := range numbers {
			if d := s.value(n, nil); d != "" {
				t.Errorf("schema %s\nvalue %T %v\n%s", keyword, n, n, d)
			}
		}
	}
	for _, enum := range []string{`[1,2.5,"\u0001"]`, `[9223372036854775807]`, `[9007199254740993, -1]`, `["\ufffd"]`} {
		s := parseSubject(t, `{"enum":`+enum+`}`)
		for _, n := range numbers {
			if d := s.value(n, nil); d != "" && n == n {
				t.Errorf("enum %s\nvalue %T %v\n%s", enum, n, n, d)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	formats := strings.Fields(`bsonobjectid uri email hostname ipv4 ipv6 cidr mac uuid uuid3 uuid4 uuid5 isbn isbn10 isbn13
		creditcard ssn hexcolor rgbcolor byte password date duration datetime date-time k8s-short-name k8s-long-name k8sshort-name float64`)
	texts := []string{"", "a", "A.b", "a-b.c", strings.Repeat("a", 63) + ".b", strings.Repeat("a", 64) + ".b", strings.Repeat("a.", 127) + "aa",
		strings.Repeat("a.", 128) + "a", "-a", "a..b", ".", "a.", "é.com", "http://x.y/z?q", "/x", "x", "a@b", "A <a@b.c>", "1.2.3.4", "01.2.3.4", "1.2.3.256", "::", "::ffff:1.2.3.4", "fe80::1%eth0", "::1/64",
		"1.2.3.4/33", "1.2.3.4/24", "1.2.3.4/024", "010.0.0.0/8", "fe80::%a/64", "00:11:22:33:44:55", "123e4567-e89b-12d3-a456-426614174000", "123e4567e89b42d3a456426614174000", "0321751043", "978-0321751041",
		"4111 1111 1111 1111", "123-45-6789", "#fff", "rgb(1,2,3)", "YQ==", "YQ=", "5s", "5 weeks", "1h30m", "x5", "2024-02-29", "2023-02-29", "2024-02-29T23:59:59Z",
		"2024-02-29t23:59:59z", "2024-02-29T24:00:00Z", "2024-02-29T23:60:59Z", "2024-02-29T23:59:60Z", "2024-02-29T23:59:59.Z", "2024-02-29T23:59:59.1Z", "2024-02-29T23:59:59x1Z", "2024-02-29T23:59:59.1x1Z",
		"2024-02-29T23:59:59", "2024-02-29T23:59:59+01:00", "2023-02-29T23:59:59Z", "2024-02-29T23:59:59.123456789Z", "20240229T235959Z", "507f1f77bcf86cd799439011"}
	for _, format := range formats {
		for _, schema := range []string{`{"type":"string","format":"` + format + `"}`, `{"format":"` + format + `","maxLength":20}`} {
			s := parseSubject(t, schema)
			for _, text := range texts {
				check(t, s, schema, text, nil)
			}
		}
	}
}

func TestSettled(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		want         bool
	}{
		{"no default", `{"type": "object", "properties": {"a": {"type": "string"}}}`, true},
		{"complete default", `{"type": "object", "properties": {"a": {"type": "object", "default": {"b": "x"}, "properties": {"b": {"type": "string"}}}}}`, true},
		{"default completed by others", `{"type": "object", "properties": {"a": {"type": "object", "default": {}, "properties": {"b": {"type": "string", "default": "x"}}}}}`, true},
		{"null that would be dropped", `{"type": "object", "properties": {"a": {"type": "object", "default": {"b": null}, "properties": {"b": {"type": "string"}}}}}`, false},
		{"null that would be replaced", `{"type": "object", "properties": {"a": {"type": "array", "default": [null], "items": {"type": "string", "default": "x"}}}}`, true},
		{"embedded resource", `{"type": "object", "properties": {"a": {"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}}}`, false},
	} {
		if got := parseSubject(t, c.schema).ours.Settled(); got != c.want {
			t.Errorf("%s: settled %v, want %v", c.name, got, c.want)
		}
	}
}
