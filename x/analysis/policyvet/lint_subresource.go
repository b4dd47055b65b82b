package policyvet

import (
	"cmp"
	"fmt"
	"strings"
)

// subresourceObjects reports reads of the metadata of object, if a policy matches only connections, such as pods/exec: their
// objects, such as PodExecOptions, have none.
func (l *linter) subresourceObjects(s *subject, add reporter) {
	kind := l.connected(s.match.ResourceRules)
	if kind == "" {
		return
	}
	seen := map[*expression]bool{}
	for _, r := range s.reads {
		if r.test || seen[r.of] || !strings.HasPrefix(r.path, "object.metadata") {
			continue
		}
		seen[r.of] = true
		add(subresourceObject, r.of.at(r.at), fmt.Sprintf("object is a %s, which has no metadata, so the expression fails for each request: "+
			"use request.name and request.namespace", kind))
	}
}

// connected returns the kind of the objects of the connections that rules name, or "" if rules match other requests as well.
func (l *linter) connected(rules []rule) (kind string) {
	for i := range rules {
		for _, item := range rules[i].Resources {
			resource, sub := split(item)
			found := false
			for _, k := range l.schemas.byResource[resource] {
				of := k.subresourceKinds[sub]
				if found = has(rules[i].APIGroups, k.Group) && strings.HasSuffix(of, "Options"); found {
					kind = cmp.Or(kind, of)
					break
				}
			}
			if !found {
				return ""
			}
		}
	}
	return kind
}
