package brokencrd

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// An Update replaces Old by New, a CRD of the same name. The API server might reject either of them
// as a new CRD.
type Update struct {
	Old, New *apiextensionsv1.CustomResourceDefinition
	// Changes holds the names of the changes to both CRDs, then "to", then the names of the changes
	// to New.
	Changes []string
}

// UpdateOf makes an update from crd. The result depends only on crd and seed. Some updates have rules in
// both CRDs that far exceed the cost limit: the API server accepts such rules as long as their schema
// is unchanged.
func UpdateOf(crd *apiextensionsv1.CustomResourceDefinition, seed uint64) *Update {
	m := &maker{Rand: rand.New(rand.NewPCG(seed, 38)), crd: crd.DeepCopy()}
	u := &Update{}
	if m.IntN(8) > 0 {
		m.describe()
	}
	before, after, broken := shared, changed, true
	if m.IntN(2) == 0 { // only the cost of a rule can be invalid
		before, after, broken = before[:mildShared], after[:mildChanged], false
	}
	m.make(u, m.IntN(4), before, broken)
	m.crd.Name = crd.Name
	u.Old = m.crd.DeepCopy()
	u.Old.Namespace, u.Old.Generation = "", 0 // the API server sets them when it stores a CRD
	u.Changes = append(u.Changes, "to")
	m.make(u, m.IntN(3), after, broken)
	m.crd.Name = crd.Name
	u.New = m.crd
	return u
}

// If broken is set, some changes come from changes instead of list, and can break any CRD.
func (m *maker) make(u *Update, n int, list []change, broken bool) {
	for done, tries := 0, 0; done < n && tries < 50; tries++ {
		c := list[m.IntN(len(list))]
		if broken && m.IntN(6) == 0 {
			c = changes[m.IntN(len(changes))]
		}
		if c.apply(m) {
			u.Changes = append(u.Changes, c.name)
			done++
		}
	}
}

// shared holds changes to both CRDs.
var shared = []change{
	{"too expensive", (*maker).tooExpensive},
	{"one schema for all versions", (*maker).oneSchema},
	{"far too expensive", (*maker).expensive},
	{"far too expensive", (*maker).expensive},
	{"rule with all fields", (*maker).fullRule},
	{"rule with all fields", (*maker).fullRule},
	{"description in a junctor", (*maker).describeJunctor},
	{"another version", (*maker).anotherVersion},
	{"metadata", (*maker).spoilMetadata},
}

// mildShared and mildChanged are the number of changes at the beginning of shared and changed that
// keep a CRD valid except for cost.
const (
	mildShared  = 2
	mildChanged = 4
)

// changed holds changes to New only.
var changed = []change{
	{"description", (*maker).changeDescription},
	{"description", (*maker).changeDescription},
	{"description", (*maker).changeDescription},
	{"no descriptions", func(m *maker) bool {
		EachSchema(m.crd, func(s *schemaProps) { s.Description = "" })
		return true
	}},
	{"description in a junctor", (*maker).describeJunctor},
	{"rule with all fields", (*maker).fullRule},
	{"far too expensive", (*maker).expensive},
	{"metadata", (*maker).spoilMetadata},
	{"metadata", (*maker).spoilMetadata},
	{"another version", (*maker).anotherVersion},
}

func (m *maker) describe() {
	EachSchema(m.crd, func(s *schemaProps) {
		if m.IntN(4) > 0 {
			s.Description = m.description()
		}
	})
}

func (m *maker) description() string {
	return pick(m, "A field.", "two\nlines", " ", "description", `"quoted" and \ and é ☃`, strings.Repeat("long ", 60))
}

func (m *maker) changeDescription() bool {
	return m.change(anyNode, func(s *schemaProps) {
		if s.Description != "" && m.IntN(2) == 0 {
			s.Description = ""
		} else {
			s.Description += pick(m, "changed", " ", "\n")
		}
	})
}

func (m *maker) describeJunctor() bool {
	return m.change(anyNode, func(s *schemaProps) {
		sub := schemaProps{Description: m.description()}
		switch m.IntN(4) {
		case 0:
			s.AllOf = append(s.AllOf, sub)
		case 1:
			s.AnyOf = append(s.AnyOf, sub)
		case 2:
			s.OneOf = append(s.OneOf, sub)
		case 3:
			s.Not = &sub
		}
	})
}

func (m *maker) fullRule() bool {
	return m.change(anyNode, func(s *schemaProps) {
		rule := aRule{Rule: pick(m, "true", "self == self", "oldSelf == self", "oldSelf.hasValue() || self == self", "oldSelf.orValue(self) == self", "self != oldSelf.value()")}
		if m.IntN(2) == 0 {
			rule.Message = pick(m, "no", "a\nb", " ", strings.Repeat("x", 2049))
		}
		if m.IntN(2) == 0 {
			rule.MessageExpression = pick(m, "'a'", "'it is ' + string(self)", "string(oldSelf)", "string(size(self))", "1", "'a' +", "' '", "self.map(x, string(x)).join(',')", "oldSelf.hasValue() ? 'a' : 'b'")
		}
		if m.IntN(2) == 0 {
			rule.Reason = ptr(apiextensionsv1.FieldValueErrorReason(pick(m, "FieldValueInvalid", "FieldValueForbidden", "FieldValueRequired", "FieldValueDuplicate", "Nope")))
		}
		if m.IntN(2) == 0 {
			rule.FieldPath = m.fieldPath(s)
		}
		rule.OptionalOldSelf = pick(m, nil, ptr(true), ptr(true), ptr(false))
		s.XValidations = append(slices.Clip(s.XValidations), rule)
	})
}

func (m *maker) fieldPath(s *schemaProps) string {
	names := slices.Sorted(maps.Keys(s.Properties))
	if len(names) == 0 || m.IntN(4) == 0 {
		return pick(m, ".nope", "['nope']", "nope", ".", "a\nb", " ", ".metadata.name", ".items[0]")
	}
	name := names[m.IntN(len(names))]
	path := pick(m, "."+name, "['"+name+"']")
	below := s.Properties[name]
	if names := slices.Sorted(maps.Keys(below.Properties)); len(names) > 0 && m.IntN(2) == 0 {
		path += "." + names[m.IntN(len(names))]
	}
	return path
}

func (m *maker) tooExpensive() bool {
	return m.change(object, func(s *schemaProps) {
		s.Properties["expensive"] = schemaProps{
			Type: "array", MaxItems: ptr(int64(2680)), Description: pick(m, "", m.description()),
			Items:        &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "string", MaxLength: ptr(int64(5))}},
			XValidations: []aRule{{Rule: "self.all(x, self.exists_one(y, x == y))"}},
		}
	})
}

// The rule usually exceeds the limit per rule and, in some cases, the limit per CRD, which is ten times as
// high.
func (m *maker) expensive() bool {
	return m.change(object, func(s *schemaProps) {
		s.Properties[pick(m, "expensive", "costly")] = schemaProps{
			Type: "array", Description: pick(m, "", m.description()), MaxItems: pick(m, ptr(int64(2000)), ptr(int64(2680)), ptr(int64(2680)), ptr(int64(3500)), nil),
			Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &schemaProps{Type: "string", MaxLength: ptr(int64(5)), Description: pick(m, "", m.description())}},
			XValidations: []aRule{{
				Rule:              pick(m, "self.all(x, self.exists_one(y, x == y))", "self.all(x, self.exists_one(y, x == y))", "self == oldSelf || self.all(x, self.exists_one(y, x == y))", "self.all(x, x.matches('^a+$'))", "true"),
				MessageExpression: pick(m, "", "self.join(', ')", "self.map(x, self.map(y, x + y).join('')).join(', ')"),
				Reason:            pick(m, nil, ptr(apiextensionsv1.FieldValueForbidden)),
			}},
		}
	})
}

// oneSchema reports whether there are several versions. The API server moves a schema that all versions
// share out of them before it validates the CRD.
func (m *maker) oneSchema() bool {
	schema := m.schema()
	for i := range m.crd.Spec.Versions {
		m.crd.Spec.Versions[i].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: schema.DeepCopy()}
	}
	return len(m.crd.Spec.Versions) > 1
}

func (m *maker) anotherVersion() bool {
	versions := m.crd.Spec.Versions
	if len(versions) == 0 || len(versions) > 3 {
		return false
	}
	v := *versions[m.IntN(len(versions))].DeepCopy()
	v.Name, v.Storage = pick(m, "v7", "v8", "v9"), false
	if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil && m.IntN(2) == 0 {
		v.Schema.OpenAPIV3Schema.Description += "."
	}
	m.crd.Spec.Versions = append(versions, v)
	return true
}

func (m *maker) spoilMetadata() bool {
	meta := &m.crd.ObjectMeta
	meta.Labels, meta.Annotations = maps.Clone(meta.Labels), maps.Clone(meta.Annotations)
	switch m.IntN(7) {
	case 0:
		metav1.SetMetaDataLabel(meta, pick(m, "-bad", "a/b/c", "good", "", "Ü"), pick(m, "x", "not valid", strings.Repeat("x", 64)))
	case 1:
		metav1.SetMetaDataAnnotation(meta, pick(m, "-bad", "a/b/c", "good", "UPPER.example.com/x", ""), pick(m, "x", " "))
	case 2:
		metav1.SetMetaDataAnnotation(meta, "large", strings.Repeat("x", 300<<10))
	case 3:
		meta.Finalizers = append(meta.Finalizers, pick(m, "example.com/f", "/", "", "a b", "x//y"))
	case 4:
		meta.Finalizers = append(meta.Finalizers, metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents)
	case 5:
		for range 1 + m.IntN(2) {
			meta.OwnerReferences = append(meta.OwnerReferences, metav1.OwnerReference{
				APIVersion: pick(m, "v1", "", "a/b/c"), Kind: pick(m, "Pod", "", "Event"), Name: pick(m, "p", ""), UID: pick(m, types.UID("u"), ""), Controller: pick(m, nil, ptr(true)),
			})
		}
	case 6:
		switch m.IntN(5) {
		case 0:
			meta.GenerateName = pick(m, "x-", "a/b", "..", "%")
		case 1:
			meta.Namespace = "elsewhere"
		case 2:
			meta.Generation = int64(m.IntN(5) - 2)
		case 3:
			meta.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "m", Operation: pick(m, "Update", metav1.ManagedFieldsOperationType("Nope")), APIVersion: "a/b/c", FieldsType: pick(m, "FieldsV1", "x")}}
		case 4:
			meta.CreationTimestamp = metav1.NewTime(time.Unix(1, 0))
		}
	}
	return true
}
