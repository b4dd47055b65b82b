package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const rbacGroup = "rbac.authorization.k8s.io"

type rbac struct {
	roles    map[roleKey]*role
	bindings []roleBinding
}

// A roleKey has no namespace for a ClusterRole.
type roleKey struct{ namespace, name string }

type role struct {
	Rules           []policyRule `json:"rules"`
	AggregationRule *struct {
		ClusterRoleSelectors []*metav1.LabelSelector `json:"clusterRoleSelectors"`
	} `json:"aggregationRule"`
	labels labels.Set
}

type policyRule struct {
	Verbs           []string `json:"verbs"`
	APIGroups       []string `json:"apiGroups"`
	Resources       []string `json:"resources"`
	ResourceNames   []string `json:"resourceNames"`
	NonResourceURLs []string `json:"nonResourceURLs"`
}

type roleBinding struct {
	RoleRef struct {
		APIGroup string `json:"apiGroup"`
		Kind     string `json:"kind"`
		Name     string `json:"name"`
	} `json:"roleRef"`
	Subjects  []subject `json:"subjects"`
	namespace string    // "" for a ClusterRoleBinding
	name      string
}

type subject struct {
	Kind      string `json:"kind"`
	APIGroup  string `json:"apiGroup"`
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func (r *rbac) add(h header, doc map[string]any) error {
	namespace := cmp.Or(h.namespace, defaultNamespace)
	if strings.HasPrefix(h.Kind, "Cluster") {
		namespace = ""
	}
	switch h.Kind {
	case "Role", "ClusterRole":
		var one role
		if err := decode(doc, &one); err != nil {
			return err
		}
		one.labels = h.labels
		r.roles[roleKey{namespace, h.name}] = &one
	case "RoleBinding", "ClusterRoleBinding":
		var one roleBinding
		if err := decode(doc, &one); err != nil {
			return err
		}
		one.namespace, one.name = namespace, h.name
		r.bindings = append(r.bindings, one)
	default:
		return fmt.Errorf("%s has no such kind: check the spelling", rbacGroup)
	}
	return nil
}

func (r *rbac) authorizer() func(Access) Authorization {
	if len(r.roles) == 0 && len(r.bindings) == 0 {
		return administers
	}
	for _, one := range r.roles {
		if one.AggregationRule == nil {
			continue
		}
		for _, s := range one.AggregationRule.ClusterRoleSelectors {
			selector, err := metav1.LabelSelectorAsSelector(s)
			if err != nil {
				continue // the controller logs an error
			}
			for key, other := range r.roles {
				if key.namespace == "" && other.AggregationRule == nil && selector.Matches(other.labels) {
					one.Rules = append(one.Rules, other.Rules...)
				}
			}
		}
	}
	// The server tries all ClusterRoleBindings first.
	slices.SortStableFunc(r.bindings, func(a, b roleBinding) int { return cmp.Compare(min(len(a.namespace), 1), min(len(b.namespace), 1)) })
	return r.decide
}

// administers allows any access to the groups that may do anything in a cluster that kubeadm made. Other accesses
// are not known.
func administers(a Access) Authorization {
	const reason = `RBAC: allowed by ClusterRoleBinding "kubeadm:cluster-admins" of ClusterRole "cluster-admin" to Group "kubeadm:cluster-admins"`
	switch {
	case slices.Contains(a.User.Groups, "system:masters"):
		return Authorization{Known: true, Allowed: true}
	case slices.Contains(a.User.Groups, "kubeadm:cluster-admins"):
		return Authorization{Known: true, Allowed: true, Reason: reason}
	}
	return Authorization{}
}

func (r *rbac) decide(a Access) Authorization {
	if decision := administers(a); decision.Known {
		return decision
	}
	for i := range r.bindings {
		b := &r.bindings[i]
		if b.namespace != "" && (a.Path != "" || b.namespace != a.Namespace) {
			continue
		}
		subject := b.subjectOf(a.User)
		if subject == nil {
			continue
		}
		key := roleKey{name: b.RoleRef.Name}
		if b.RoleRef.Kind == "Role" {
			key.namespace = b.namespace
		}
		if of := r.roles[key]; of != nil && slices.ContainsFunc(of.Rules, func(rule policyRule) bool { return rule.allows(a) }) {
			return Authorization{Known: true, Allowed: true, Reason: b.reason(subject)}
		}
	}
	return Authorization{Known: true}
}

func (b *roleBinding) reason(s *subject) string {
	kind, name, to := "ClusterRoleBinding", b.name, s.Name
	if b.namespace != "" {
		kind, name = "RoleBinding", b.name+"/"+b.namespace
	}
	if s.Kind == "ServiceAccount" {
		to += "/" + cmp.Or(s.Namespace, b.namespace)
	}
	return fmt.Sprintf("RBAC: allowed by %s %q of %s %q to %s %q", kind, name, b.RoleRef.Kind, b.RoleRef.Name, s.Kind, to)
}

func (b *roleBinding) subjectOf(u User) *subject {
	for i := range b.Subjects {
		if s := &b.Subjects[i]; s.is(u, b.namespace) {
			return s
		}
	}
	return nil
}

func (s *subject) is(u User, namespace string) bool {
	switch s.Kind {
	case "User":
		return s.Name == u.Name
	case "Group":
		return slices.Contains(u.Groups, s.Name)
	case "ServiceAccount":
		return u.Name == "system:serviceaccount:"+cmp.Or(s.Namespace, namespace)+":"+s.Name
	}
	return false
}

func (p *policyRule) allows(a Access) bool {
	if !hasOrAll(p.Verbs, a.Verb) {
		return false
	}
	if a.Path != "" {
		return slices.ContainsFunc(p.NonResourceURLs, func(url string) bool {
			prefix, open := strings.CutSuffix(url, "*")
			return url == a.Path || open && strings.HasPrefix(a.Path, prefix)
		})
	}
	return hasOrAll(p.APIGroups, a.Group) && p.allowsResource(a) && (len(p.ResourceNames) == 0 || slices.Contains(p.ResourceNames, a.Name))
}

func (p *policyRule) allowsResource(a Access) bool {
	resource := a.Resource
	if a.Subresource != "" {
		resource += "/" + a.Subresource
	}
	return hasOrAll(p.Resources, resource) || a.Subresource != "" && slices.Contains(p.Resources, "*/"+a.Subresource)
}
