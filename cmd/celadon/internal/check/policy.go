package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/builtins"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/policies"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/types"
	"github.com/celadon-cel/celadon/x/policyrequest"
)

type policyOptions struct {
	paths     []string
	as        string
	asGroups  []string
	asExtra   []string
	operation string
}

func (o *policyOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVar(&o.paths, "policy", nil, "evaluate the admission policies in `PATH`, with the bindings, params, Namespaces, and RBAC objects there: a file, a folder, or - (repeatable; see docs/policies.md)")
	f.StringVar(&o.as, "as", "", "with --policy: `USER` who sends the requests (default: kubernetes-admin, as in a new cluster)")
	f.StringArrayVar(&o.asGroups, "as-group", nil, "with --as: `GROUP` of the user (repeatable)")
	f.StringArrayVar(&o.asExtra, "as-user-extra", nil, "with --as: `KEY=VALUE` of the user's extra fields (repeatable)")
	f.StringVar(&o.operation, "operation", "", "with --policy: create, update, delete, or deletecollection each object (default: update objects with an old version, and create the others)")
}

func (o *Options) checkPolicy() error {
	p := &o.policy
	switch {
	case len(p.paths) == 0 && (p.as != "" || len(p.asGroups)+len(p.asExtra) > 0 || p.operation != ""):
		return errors.New("--as, --as-group, --as-user-extra, and --operation describe requests to policies: use them with --policy PATH")
	case p.as == "" && len(p.asGroups)+len(p.asExtra) > 0:
		return errors.New("--as-group and --as-user-extra have no effect without a user: use --as USER, too")
	case slices.ContainsFunc(p.asExtra, func(text string) bool { return !strings.Contains(text, "=") }):
		return fmt.Errorf("--as-user-extra: got %s, want KEY=VALUE", strings.Join(p.asExtra, " "))
	case p.operation == "connect":
		return errors.New("--operation connect: custom resources have no subresource to connect to: want create, update, delete, or deletecollection")
	case !slices.Contains([]string{"", verdict.Create, verdict.Update, verdict.Delete, verdict.DeleteCollection}, p.operation):
		return fmt.Errorf("--operation %q: want create, update, delete, or deletecollection", p.operation)
	case p.operation == verdict.Create && (len(o.Olds) > 0 || o.Base != ""):
		return errors.New("--operation create: a create has no old object: do not set --old or --base")
	case p.operation != "" && p.operation != verdict.Update && o.Subresource != "":
		return fmt.Errorf("--operation %s: a subresource can only be updated: do not set --subresource", p.operation)
	case len(p.paths) > 0 && o.upgrades():
		return fmt.Errorf("--policy: an upgrade check compares CRDs: do not set %s", o.upgrade())
	}
	return nil
}

// admission reads the policies and prints notes about them, for example which have no binding. It returns nil if no
// policies are requested. The problems are invalid policies and bindings. The CRDs define the scope of params.
func (r *runner) admission(
	ctx context.Context, o *Options, crds *verdict.CRDs,
) (_ *verdict.Admission, problems []error, err error) {
	if len(o.policy.paths) == 0 {
		return nil, nil, nil
	}
	cfg := policy.Config{KubeVersion: o.KubeVersion, Namespaced: crds.Namespaced()}
	p, err := policies.Read(ctx, r.Stdin, o.policy.paths, o.selection(), cfg)
	if err != nil {
		return nil, nil, fmt.Errorf("--policy: %w", err)
	}
	version, err := types.ParseVersion(o.KubeVersion)
	if err != nil {
		return nil, nil, fmt.Errorf("--kube-version: %w", err)
	}
	for _, note := range slices.Concat(p.Unserved(builtins.Server{}, version.Minor), p.Misspelled(builtins.Nearest), p.Unbound) {
		r.Complain(note)
	}
	if len(p.Problems) == 0 && len(p.Unbound) == len(p.Set.Policies()) && p.Set.Webhooks() == 0 {
		return nil, nil, fmt.Errorf("--policy: no policy in %s has an effect", strings.Join(o.policy.paths, ", "))
	}
	user := policyrequest.User(o.policy.as, o.policy.asGroups)
	for _, text := range o.policy.asExtra {
		if user.Extra == nil {
			user.Extra = map[string][]string{}
		}
		key, value, _ := strings.Cut(text, "=")
		user.Extra[key] = append(user.Extra[key], value)
	}
	return &verdict.Admission{Policies: p, User: user, Operation: o.policy.operation}, p.Problems, nil
}
