package policyvet

import (
	"fmt"
	"slices"
	"strings"
)

// A lifetime holds the first minors that serve a version, warn about it, and no longer serve it, or 0. They come from
// k8s.io/api/admissionregistration v0.38.0-beta.0, which no longer ends v1alpha1 of mutating policies, as 1.37 announced.
type lifetime struct{ introduced, deprecated, removed int }

// lifetimes maps kinds without the suffix Binding to their versions.
var lifetimes = map[string]map[string]lifetime{
	policyKind:                       {"v1alpha1": {26, 29, 32}, "v1beta1": {28, 31, 34}, "v1": {30, 0, 0}},
	mutatingKind:                     {"v1alpha1": {32, 35, 0}, "v1beta1": {34, 37, 40}, "v1": {36, 0, 0}},
	"ValidatingWebhookConfiguration": {"v1beta1": {9, 16, 22}, "v1": {16, 0, 0}},
	"MutatingWebhookConfiguration":   {"v1beta1": {9, 16, 22}, "v1": {16, 0, 0}},
}

// unserved returns why servers of Kubernetes 1.minor do not serve a document, if isError is set, or why they warn
// about it. problem is "" if they accept it.
func unserved(document map[string]any, minor int) (problem string, isError bool) {
	apiVersion, kind := fmt.Sprint(document["apiVersion"]), fmt.Sprint(document["kind"])
	_, version, _ := strings.Cut(apiVersion, "/")
	versions, use := lifetimes[strings.TrimSuffix(kind, bindingSuffix)], "v1"
	if versions[use].introduced > minor {
		use = "v1beta1"
	}
	switch of := versions[version]; {
	case minor < of.introduced && !strings.HasPrefix(kind, mutatingKind): // engine/policy reports these
		return fmt.Sprintf("%s %s is served since Kubernetes 1.%d", apiVersion, kind, of.introduced), true
	case of.removed > 0 && minor >= of.removed:
		return fmt.Sprintf("%s %s is not served since Kubernetes 1.%d: use %s/%s", apiVersion, kind, of.removed, apiGroup, use), true
	case of.deprecated > 0 && minor >= of.deprecated:
		until := ""
		if of.removed > 0 {
			until = fmt.Sprintf(", and not served since 1.%d", of.removed)
		}
		return fmt.Sprintf("%s %s is deprecated since Kubernetes 1.%d%s: use %s/%s", apiVersion, kind, of.deprecated, until, apiGroup, use), false
	}
	return "", false
}

func (l *linter) removedVersions(path string, rules []rule, add reporter) {
	if l.server == nil {
		return
	}
	for i := range rules {
		if problem := l.removedVersion(&rules[i]); problem != "" {
			add(removedVersion, Lint{Path: fmt.Sprintf("%s[%d].apiVersions", path, i)}, problem)
		}
	}
}

func (l *linter) removedVersion(r *rule) (problem string) {
	for _, item := range r.Resources {
		resource, _ := split(item)
		kinds := l.schemas.byResource[resource]
		for _, group := range r.APIGroups {
			i := slices.IndexFunc(kinds, func(k *kind) bool { return k.Group == group && k.builtIn })
			if i < 0 {
				return ""
			}
			for _, version := range r.APIVersions {
				gvk := kinds[i].GroupVersionKind
				gvk.Version = version
				absence := l.server.Absent(gvk, l.version.Minor)
				if version == all || absence == nil {
					return ""
				}
				problem = fmt.Sprintf("Kubernetes %s does not serve %s of %s, so this matches nothing%s", l.version, resource, gvk.GroupVersion(), absence.Hint)
			}
		}
	}
	return problem
}

// sets reports whether the server sets a default at path in an object that has only the fields above it.
func (l *linter) sets(k *kind, path string) bool {
	if l.server == nil || !k.builtIn {
		return false
	}
	object, steps := map[string]any{}, strings.Split(path, ".")[1:]
	at := object
	for _, step := range steps[:len(steps)-1] {
		name := strings.TrimRight(step, "[]")
		next := map[string]any{}
		var value any = next
		for range strings.Count(step, "[]") {
			value = []any{value}
		}
		at[fieldName(name)], at = value, next
	}
	l.server.SetDefaults(k.GroupVersionKind, object)
	return holds(object, steps)
}

// holds reports whether a value has a field, also in the first items of lists.
func holds(value any, steps []string) bool {
	if list, ok := value.([]any); ok {
		return len(list) > 0 && holds(list[0], steps)
	}
	if len(steps) == 0 {
		return value != nil
	}
	fields, _ := value.(map[string]any)
	return holds(fields[fieldName(strings.TrimRight(steps[0], "[]"))], steps[1:])
}
