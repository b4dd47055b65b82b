package builtin

import (
	"context"
	"reflect"
	"strings"

	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	policyv1 "k8s.io/api/policy/v1"
	definitionstore "k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/registry/rest"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	policyv1client "k8s.io/client-go/kubernetes/typed/policy/v1"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	kubeletclient "k8s.io/kubernetes/pkg/kubelet/client"
	mutatingadmissionpolicystore "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy/storage"
	mutatingadmissionpolicybindingstore "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding/storage"
	"k8s.io/kubernetes/pkg/registry/admissionregistration/resolver"
	validatingadmissionpolicystore "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy/storage"
	validatingadmissionpolicybindingstore "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding/storage"
	certificatesstore "k8s.io/kubernetes/pkg/registry/certificates/certificates/storage"
	podcertificaterequeststore "k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest/storage"
	eventstore "k8s.io/kubernetes/pkg/registry/core/event/storage"
	namespacestore "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	nodestore "k8s.io/kubernetes/pkg/registry/core/node/storage"
	podstore "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	serviceaccountstore "k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage"
	resourceclaimstore "k8s.io/kubernetes/pkg/registry/resource/resourceclaim/storage"
	resourceclaimtemplatestore "k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate/storage"
	"k8s.io/utils/clock"
)

// A resource is a resource of the API server. Objects except Events are stored in the first of its versions.
type resource struct {
	group, versions, name, kind string
	new                         newStorage
}

func (r *resource) stored() schema.GroupVersion {
	if r.group == eventsv1.GroupName {
		return corev1.SchemeGroupVersion // Events of both groups are the same objects
	}
	version, _, _ := strings.Cut(r.versions, " ")
	return schema.GroupVersion{Group: r.group, Version: version}
}

// storages holds the registries of a resource by subresource. "" is the resource itself.
type storages = map[string]rest.Storage

type newStorage func(restOptions) (storages, error)

// one returns the newStorage of a resource without subresources, and two that of a resource with the subresource
// status.
func one[S rest.Storage](create func(generic.RESTOptionsGetter) (S, error)) newStorage {
	return func(options restOptions) (storages, error) { return single(create(options)) }
}

func two[S, T rest.Storage](create func(generic.RESTOptionsGetter) (S, T, error)) newStorage {
	return func(options restOptions) (storages, error) { return withStatus(create(options)) }
}

func single(main rest.Storage, err error) (storages, error) { return storages{"": main}, err }

func withStatus(main, status rest.Storage, err error) (storages, error) {
	return storages{"": main, "status": status}, err
}

// fieldsOf returns the newStorage of a resource whose registries are the fields of a struct, or of a pointer to it: the
// first is the resource itself, and each subresource has the field of its name.
func fieldsOf[S any](create func(generic.RESTOptionsGetter) (S, error), subresources ...string) newStorage {
	return func(options restOptions) (storages, error) {
		s, err := create(options)
		if err != nil {
			return nil, err
		}
		v := reflect.Indirect(reflect.ValueOf(s))
		all := storages{"": v.Field(0).Interface().(rest.Storage)}
		for _, name := range subresources {
			field := v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
			all[name] = field.Interface().(rest.Storage)
		}
		return all, nil
	}
}

// allowed permits all requests, because this package does not check permissions.
var allowed authorizer.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()

func definitions(options restOptions) (storages, error) {
	main, err := definitionstore.NewREST(legacyscheme.Scheme, options)
	if err != nil {
		return nil, err
	}
	return withStatus(main, definitionstore.NewStatusREST(legacyscheme.Scheme, main), nil)
}

func events(options restOptions) (storages, error) { return single(eventstore.NewREST(options, 0)) }

func namespaces(options restOptions) (storages, error) {
	main, status, finalize, err := namespacestore.NewREST(options)
	return storages{"": main, "status": status, "finalize": finalize}, err
}

func nodes(options generic.RESTOptionsGetter) (*nodestore.NodeStorage, error) {
	return nodestore.NewStorage(options, kubeletclient.KubeletClientConfig{}, nil)
}

func pods(options generic.RESTOptionsGetter) (podstore.PodStorage, error) {
	return podstore.NewStorage(options, nil, nil, noBudgets{}, allowed)
}

func serviceAccounts(options restOptions) (storages, error) {
	return single(serviceaccountstore.NewREST(options, nil, nil, allowed, 0, nil, nil, nil, nil, nil, false, 0))
}

func validatingPolicies(options restOptions) (storages, error) {
	return withStatus(validatingadmissionpolicystore.NewREST(options, nil, nil))
}

func validatingBindings(options restOptions) (storages, error) {
	return single(validatingadmissionpolicybindingstore.NewREST(options, nil, nil, noParams))
}

func mutatingPolicies(options restOptions) (storages, error) {
	return single(mutatingadmissionpolicystore.NewREST(options, nil, nil))
}

func mutatingBindings(options restOptions) (storages, error) {
	return single(mutatingadmissionpolicybindingstore.NewREST(options, nil, nil, noParams))
}

func certificates(options restOptions) (storages, error) {
	main, status, approval, err := certificatesstore.NewREST(options)
	return storages{"": main, "status": status, "approval": approval}, err
}

func podCertificates(options restOptions) (storages, error) {
	return withStatus(podcertificaterequeststore.NewREST(options, allowed, clock.RealClock{}))
}

func resourceClaims(options restOptions) (storages, error) {
	return withStatus(resourceclaimstore.NewREST(options, namespaceGetter{}, allowed))
}

func resourceClaimTemplates(options restOptions) (storages, error) {
	return single(resourceclaimtemplatestore.NewREST(options, namespaceGetter{}))
}

// noParams resolves no kinds of params. The registries require it, but never call it, because they
// have no authorizer.
var noParams resolver.ResourceResolverFunc = func(kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
	return schema.GroupVersionResource{}, &meta.NoKindMatchError{GroupKind: kind.GroupKind()}
}

// noBudgets has no PodDisruptionBudgets, so that evictions are not limited.
type noBudgets struct {
	policyv1client.PodDisruptionBudgetInterface
}

func (b noBudgets) PodDisruptionBudgets(string) policyv1client.PodDisruptionBudgetInterface { return b }

func (noBudgets) List(context.Context, metav1.ListOptions) (*policyv1.PodDisruptionBudgetList, error) {
	return &policyv1.PodDisruptionBudgetList{}, nil
}

// namespaceGetter gets the Namespaces of the request's Cluster. The registries call it for claims
// with admin access, whose Namespace must have a label.
type namespaceGetter struct {
	corev1client.NamespaceInterface
}

func (namespaceGetter) Get(ctx context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	if c := writeOf(ctx).Cluster; c != nil {
		if known, ok, _ := c.stores.byKind["Namespace"].GetByKey(name); ok {
			return known.(*corev1.Namespace), nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
}
