package policy

import (
	"cmp"
	"fmt"
	"slices"
)

// WithExpression returns a Set in which an expression of a ValidatingAdmissionPolicy has another source: x identifies
// the expression by Policy, Part, and Index, and Source is the new source. Messages do not change. The error is an
// *ExpressionError if the source does not compile.
func (s *Set) WithExpression(x Expression) (set *Set, err error) {
	defer recovered(&x.Policy, &set, &err)
	i, p, err := s.policy(x.Policy)
	if err != nil {
		return nil, err
	}
	b := p.body
	b.sources = slices.Clone(b.sources)
	at := slices.IndexFunc(b.sources, func(s source) bool { return s.index == x.Index && partNames[s.part] == x.Part })
	if at < 0 {
		return nil, fmt.Errorf("policy %s has no %s %d", x.Policy, x.Part, x.Index)
	}
	b.sources[at].text = x.Source
	var invalid error
	changed := *p
	err = changed.use(s.settings, b, func(path, detail string, _ int) {
		if path == b.sources[at].path && invalid == nil {
			invalid = &ExpressionError{detail}
		}
	})
	if err != nil || invalid != nil {
		return nil, cmp.Or(err, invalid)
	}
	derived := *s
	derived.policies = slices.Clone(s.policies)
	derived.policies[i] = &changed
	return &derived, nil
}

func (s *Set) policy(name string) (int, *compiledPolicy, error) {
	i := slices.IndexFunc(s.policies, func(p *compiledPolicy) bool { return p.name == name })
	if i < 0 {
		return i, nil, fmt.Errorf("no policy %q", name)
	}
	return i, s.policies[i], nil
}
