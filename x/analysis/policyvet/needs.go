package policyvet

// Needs returns a function that reports whether Vet uses the schema of a custom resource to analyze the
// documents, so that the schemas of other CRDs need not be decoded.
func Needs(documents []map[string]any) func(plural, kind string) bool {
	names := map[string]bool{}
	add := func(rules []rule) {
		for _, r := range rules {
			for _, item := range r.Resources {
				resource, _ := split(item)
				names[resource] = true
			}
		}
	}
	kinds := map[string]bool{}
	for _, doc := range documents {
		var policy policyDocument
		var webhooks webhookConfiguration
		switch {
		case isPolicy(doc) && decode(doc, &policy) == nil:
			add(policy.Spec.MatchConstraints.ResourceRules)
			if k := policy.Spec.ParamKind; k != nil {
				kinds[k.Kind] = true
			}
		case !isPolicy(doc) && decode(doc, &webhooks) == nil:
			for _, w := range webhooks.Webhooks {
				add(w.Rules)
			}
		}
	}
	return func(plural, kind string) bool { return names[plural] || kinds[kind] }
}
