package fakeclient

import (
	"context"
	"errors"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clienttesting "k8s.io/client-go/testing"
)

// react reports writes to client-go's dynamic fake client, and stores seeds in it.
func (r *reporter) react(fake *clienttesting.Fake, seeds []runtime.Object) {
	chain := slices.Clone(fake.ReactionChain)
	others := func(action clienttesting.Action) (bool, runtime.Object, error) {
		for _, reactor := range chain {
			if !reactor.Handles(action) {
				continue
			}
			if handled, obj, err := reactor.React(action.DeepCopy()); handled {
				return true, obj, err
			}
		}
		return false, nil, nil
	}
	for _, seed := range seeds {
		gvk, k, err := r.known(seed)
		if err == nil && k == nil {
			err = errors.New("it has no CRD")
		}
		if err == nil {
			u := &unstructured.Unstructured{}
			if u.Object, err = sent(seed, gvk); err == nil {
				_, _, err = others(clienttesting.NewCreateAction(k.resource.WithVersion(gvk.Version), u.GetNamespace(), u))
			}
		}
		if err != nil {
			r.t.Errorf("fakeclient: a seed: %v", err)
		}
	}
	fake.PrependReactor("*", "*", func(action clienttesting.Action) (bool, runtime.Object, error) { return r.action(others, action) })
}

// action passes an action on, and reports it if it is a write.
func (r *reporter) action(others clienttesting.ReactionFunc, action clienttesting.Action) (handled bool, ret runtime.Object, err error) {
	r.eachSeed(func(k *kind, version string) (runtime.Object, error) {
		_, all, err := others(clienttesting.NewListAction(k.resource.WithVersion(version), schema.GroupVersionKind{Group: k.group.Group, Version: version, Kind: k.group.Kind}, metav1.NamespaceAll, metav1.ListOptions{}))
		if err == nil && all == nil {
			err = errors.New("no list")
		}
		return all, err
	})
	k := r.kindOf(action.GetResource())
	if sub := action.GetSubresource(); k == nil || sub != "" && sub != "status" {
		return others(action)
	}
	o := observed{verb: action.GetVerb(), kind: k, at: endpoint{action.GetResource().Version, action.GetSubresource()}}
	o.key.namespace = action.GetNamespace()
	var body runtime.Object
	switch a := action.(type) {
	case clienttesting.CreateActionImpl:
		body = a.Object
	case clienttesting.UpdateActionImpl:
		body = a.Object
	case clienttesting.PatchActionImpl:
		o.key.name = a.Name
	default:
		return others(action)
	}
	if u, ok := body.(*unstructured.Unstructured); ok {
		o.key.name = u.GetName()
		if o.sent, err = decoded(u); err != nil {
			return others(action)
		}
	}
	err = r.observe(context.Background(), o, func() map[string]any {
		_, obj, err := others(clienttesting.NewGetAction(action.GetResource(), o.key.namespace, o.key.name))
		if u, ok := obj.(*unstructured.Unstructured); ok && err == nil {
			if stored, err := decoded(u); err == nil {
				return stored
			}
		}
		return nil
	}, func() (string, error) {
		handled, ret, err = others(action)
		return o.key.name, err
	})
	return handled, ret, err
}
