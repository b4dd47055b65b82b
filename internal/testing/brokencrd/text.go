package brokencrd

import (
	"bytes"
	"math/rand/v2"
)

// Text makes a random typo in the JSON of a CRD, in which at least one typo must be possible, and
// returns the name of the typo. The result depends only on crd and seed.
func Text(crd []byte, seed uint64) (out []byte, slip string) {
	r := rand.New(rand.NewPCG(seed, 21))
	for {
		s := slips[r.IntN(len(slips))]
		offsets := indexes(crd, []byte(s.from))
		if len(offsets) == 0 {
			continue
		}
		at := offsets[r.IntN(len(offsets))]
		out = append(out, crd[:at]...)
		out = append(out, s.to...)
		return append(out, crd[at+len(s.from):]...), s.name
	}
}

var slips = []struct{ name, from, to string }{
	{"rules misspelt", `"x-kubernetes-validations":`, `"x-kubernetes-validation":`},
	{"rule misspelt", `"rule":`, `"rules":`},
	{"rule twice", `"rule":`, `"rule":"true","rule":`},
	{"rule is a number", `"rule":"`, `"rule":1,"message":"`},
	{"unknown field", `"type":"string"`, `"type":"string","nope":{}`},
	{"type twice", `"type":"object"`, `"type":"object","type":"array"`},
	{"bound is a text", `"type":"string"`, `"type":"string","maxLength":"8"`},
	{"bound is broken", `"type":"string"`, `"type":"string","maxLength":8.5`},
	{"bound is whole", `"type":"string"`, `"type":"string","maxLength":8.0`},
	{"bound is null", `"type":"string"`, `"type":"string","maxLength":null`},
	{"flag is a text", `"served":true`, `"served":"yes"`},
	{"other case", `"properties":`, `"Properties":`},
	{"rules are an object", `"x-kubernetes-validations":[`, `"x-kubernetes-validations":{},"x-kubernetes-embedded-resource":[`},
	{"old version", `"apiextensions.k8s.io/v1"`, `"apiextensions.k8s.io/v1beta1"`},
	{"other version", `"apiextensions.k8s.io/v1"`, `"apiextensions.k8s.io/v7"`},
	{"other group", `"apiextensions.k8s.io/v1"`, `"example.com/v1"`},
	{"other kind", `"kind":"CustomResourceDefinition"`, `"kind":"CustomResourceDefinitions"`},
	{"no kind", `"kind":"CustomResourceDefinition"`, `"kind":""`},
	{"cut off", `"versions":`, `"versions"`},
	{"name is a number", `"metadata":{`, `"metadata":{"name":1,"annotations":`},
	{"metadata misspelt", `"metadata":{`, `"metadata":{"label":{},`},
}

// indexes returns at most a thousand positions.
func indexes(data, text []byte) (offsets []int) {
	for at := 0; len(offsets) < 1000; {
		i := bytes.Index(data[at:], text)
		if i < 0 {
			break
		}
		offsets = append(offsets, at+i)
		at += i + len(text)
	}
	return offsets
}
