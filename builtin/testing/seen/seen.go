// Package seen returns the objects of built-in kinds that the policies of recorded scenes saw.
package seen

import (
	"context"
	"errors"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/internal/testing/exchange"
)

// In returns a function for the objects that validating policies see in a cluster with the documents. As in the
// recorded API server, all default admission plugins except ServiceAccount are on.
func In(ctx context.Context, documents []exchange.Object) (exchange.Seen, error) {
	plugins := slices.DeleteFunc(builtin.Plugins(true), func(name string) bool { return name == "ServiceAccount" })
	cluster, err := builtin.NewCluster(ctx, plugins, documents)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, r *exchange.Request, kind schema.GroupVersionKind) (exchange.Object, error) {
		in := &admission{}
		res, err := builtin.Validate(ctx, builtin.Request{
			Kind: kind, Object: r.Object, OldObject: r.Old, Namespace: r.Namespace, Name: r.Name, Subresource: r.Subresource,
			User:    &user.DefaultInfo{Name: r.User.Name, UID: r.User.UID, Groups: r.User.Groups, Extra: r.User.Extra},
			Cluster: cluster, Admission: in,
		})
		switch {
		case err != nil:
			return nil, err
		case in.object == nil && res.Failure != nil:
			return nil, errors.New(res.Failure.Message)
		}
		return in.object, nil
	}, nil
}

type admission struct{ object exchange.Object }

func (*admission) Mutate(context.Context, builtin.Review, builtin.PluginsAgain) (map[string]any, error) {
	return nil, nil
}

func (a *admission) Validate(_ context.Context, r builtin.Review) error {
	a.object = r.Object
	return nil
}
