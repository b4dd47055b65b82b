package vet

import (
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/celadon-cel/celadon/types"
)

// Public projects had to change these rules because some Kubernetes versions reject them. The schemas have only the
// parts that the estimate depends on.
func TestPublicCases(t *testing.T) {
	t.Parallel()
	all := []string{"1.28", "1.29", "1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36", "1.37", "1.38"}
	for _, tt := range []struct {
		name, properties string
		accepted         []string
	}{
		// agentgateway/agentgateway#1820: since 1.30, quantity() reads its whole argument, and before
		// 1.34, the maxLength of an int-or-string does not count.
		{
			"agentgateway", `limits: {type: object, maxProperties: 16, additionalProperties: {x-kubernetes-int-or-string: true, maxLength: 16,
              x-kubernetes-validations: [{rule: "type(self) == int ? true : quantity(self).isGreaterThan(quantity('0'))"}]}}`,
			[]string{"1.29", "1.34", "1.35", "1.36", "1.37", "1.38"},
		},
		// konflux-ci/konflux-ci#8957, with OpenShift's Infrastructure: 1.37 assumes that the path of a
		// URL can have any length.
		{
			"Infrastructure", `url: {type: string, x-kubernetes-validations: [{rule: "isURL(self) && matches(url(self).getEscapedPath(), '^/[a-z]*$')"}]}`,
			append(slices.Clone(all[:9]), "1.38"),
		},
		// kubernetes-sigs/controller-tools#1473: a list without maxItems, compared item by item.
		{
			"JobSpec", `resourceClaims: {type: array, items: {type: object, properties: {name: {type: string}}}, x-kubernetes-validations: [{rule: "self.all(x, self.exists_one(y, x.name == y.name))"}]}`,
			nil,
		},
		{
			"JobSpec with bounds", `resourceClaims: {type: array, maxItems: 4, items: {type: object, properties: {name: {type: string, maxLength: 63}}}, x-kubernetes-validations: [{rule: "self.all(x, self.exists_one(y, x.name == y.name))"}]}`,
			all,
		},
		// OVN-Kubernetes, UserDefinedNetwork: since 1.32, networks are equal at a cost of 1.
		{
			"UserDefinedNetwork", `subnets: {type: array, maxItems: 10, items: {type: string, maxLength: 43}, x-kubernetes-validations: [{rule: "self.all(s, isCIDR(s) && cidr(s) == cidr(s).masked())"}]}`,
			all[4:],
		},
		// argoproj/argo-workflows, Workflow: since 1.29, has() is free.
		{
			"Workflow", `artifacts: {type: array, items: {type: object, properties: {a: {type: object}, b: {type: object}, c: {type: object}, d: {type: object}},
              x-kubernetes-validations: [{rule: "(has(self.a) ? 1 : 0) + (has(self.b) ? 1 : 0) + (has(self.c) ? 1 : 0) + (has(self.d) ? 1 : 0) <= 1"}]}}`,
			all[1:],
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			crd, err := yaml.YAMLToJSON([]byte(publicCaseCRD + tt.properties))
			if err != nil {
				t.Fatal(err)
			}
			var accepted []string
			for _, v := range types.Versions() {
				r, err := Vet(t.Context(), crd, Config{KubeVersion: v.String(), VerdictOnly: true})
				if err != nil {
					t.Fatal(err)
				}
				if r.Accepted {
					accepted = append(accepted, v.String())
				}
			}
			if !slices.Equal(accepted, tt.accepted) {
				t.Errorf("accepted by %v, want %v", accepted, tt.accepted)
			}
			r, err := Vet(t.Context(), crd, Config{KubeVersions: all})
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range r.KubeVersions {
				if v.Accepted != slices.Contains(tt.accepted, v.Version) {
					t.Errorf("in a report of all versions, %s: accepted %t", v.Version, v.Accepted)
				}
			}
		})
	}
}

const publicCaseCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing, singular: thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              `
