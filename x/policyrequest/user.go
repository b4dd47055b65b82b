package policyrequest

import (
	"slices"
	"strings"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/celadon-cel/celadon/engine/policy"
)

// User returns a user as the API server impersonates it: in the given groups or, for a service account without
// groups, in the groups of its namespace, and in the group of all authenticated or unauthenticated users. If name is
// empty, User ignores groups and returns the administrator of a new cluster.
func User(name string, groups []string) policy.User {
	if name == "" {
		return policy.User{Name: "kubernetes-admin", Groups: []string{"kubeadm:cluster-admins", user.AllAuthenticated}}
	}
	u := policy.User{Name: name, Groups: slices.Clone(groups)}
	if account, ok := strings.CutPrefix(name, "system:serviceaccount:"); ok && len(u.Groups) == 0 {
		if namespace, name, ok := strings.Cut(account, ":"); ok && name != "" {
			u.Groups = []string{"system:serviceaccounts", "system:serviceaccounts:" + namespace}
		}
	}
	group := user.AllAuthenticated
	if name == user.Anonymous {
		group = user.AllUnauthenticated
	}
	if !slices.Contains(u.Groups, user.AllAuthenticated) && !slices.Contains(u.Groups, user.AllUnauthenticated) {
		u.Groups = append(u.Groups, group)
	}
	return u
}
