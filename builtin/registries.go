package builtin

import (
	"context"
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
	deploymentstore "k8s.io/kubernetes/pkg/registry/apps/deployment/storage"
	replicasetstore "k8s.io/kubernetes/pkg/registry/apps/replicaset/storage"
	statefulsetstore "k8s.io/kubernetes/pkg/registry/apps/statefulset/storage"
	certificatesstore "k8s.io/kubernetes/pkg/registry/certificates/certificates/storage"
	podcertificaterequeststore "k8s.io/kubernetes/pkg/registry/certificates/podcertificaterequest/storage"
	eventstore "k8s.io/kubernetes/pkg/registry/core/event/storage"
	namespacestore "k8s.io/kubernetes/pkg/registry/core/namespace/storage"
	nodestore "k8s.io/kubernetes/pkg/registry/core/node/storage"
	podstore "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	replicationcontrollerstore "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	serviceaccountstore "k8s.io/kubernetes/pkg/registry/core/serviceaccount/storage"
	resourceclaimstore "k8s.io/kubernetes/pkg/registry/resource/resourceclaim/storage"
	resourceclaimtemplatestore "k8s.io/kubernetes/pkg/registry/resource/resourceclaimtemplate/storage"
	csidriverstore "k8s.io/kubernetes/pkg/registry/storage/csidriver/storage"
	csinodestore "k8s.io/kubernetes/pkg/registry/storage/csinode/storage"
	csistoragecapacitystore "k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity/storage"
	volumeattachmentstore "k8s.io/kubernetes/pkg/registry/storage/volumeattachment/storage"
	"k8s.io/utils/clock"
)

// A resource is a resource of the API server. Objects are stored in the first of its versions.
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

// A newStorage creates the registries of a resource by subresource. "" is the resource itself. one
// makes it for a resource without subresources, and two for a resource with the subresource status.
type newStorage func(restOptions) (map[string]rest.Storage, error)

func one[S rest.Storage](create func(generic.RESTOptionsGetter) (S, error)) newStorage {
	return func(options restOptions) (map[string]rest.Storage, error) {
		main, err := create(options)
		return map[string]rest.Storage{"": main}, err
	}
}

func two[S, T rest.Storage](create func(generic.RESTOptionsGetter) (S, T, error)) newStorage {
	return func(options restOptions) (map[string]rest.Storage, error) {
		main, status, err := create(options)
		return map[string]rest.Storage{"": main, "status": status}, err
	}
}

// allowed permits all requests, because this package does not check permissions.
var allowed authorizer.Authorizer = authorizerfactory.NewAlwaysAllowAuthorizer()

func definitions(options restOptions) (map[string]rest.Storage, error) {
	main, err := definitionstore.NewREST(legacyscheme.Scheme, options)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"": main, "status": definitionstore.NewStatusREST(legacyscheme.Scheme, main)}, nil
}

func events(options restOptions) (map[string]rest.Storage, error) {
	main, err := eventstore.NewREST(options, 0)
	return map[string]rest.Storage{"": main}, err
}

func namespaces(options restOptions) (map[string]rest.Storage, error) {
	main, status, finalize, err := namespacestore.NewREST(options)
	return map[string]rest.Storage{"": main, "status": status, "finalize": finalize}, err
}

func nodes(options restOptions) (map[string]rest.Storage, error) {
	s, err := nodestore.NewStorage(options, kubeletclient.KubeletClientConfig{}, nil)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"": s.Node, "status": s.Status}, nil
}

func pods(options restOptions) (map[string]rest.Storage, error) {
	s, err := podstore.NewStorage(options, nil, nil, noBudgets{}, allowed)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{
		"": s.Pod, "status": s.Status, "ephemeralcontainers": s.EphemeralContainers, "resize": s.Resize,
		"binding": s.Binding, "eviction": s.Eviction,
	}, nil
}

func replicationControllers(options restOptions) (map[string]rest.Storage, error) {
	s, err := replicationcontrollerstore.NewStorage(options)
	return map[string]rest.Storage{"": s.Controller, "status": s.Status, "scale": s.Scale}, err
}

func serviceAccounts(options restOptions) (map[string]rest.Storage, error) {
	main, err := serviceaccountstore.NewREST(options, nil, nil, allowed, 0, nil, nil, nil, nil, nil, false, 0)
	return map[string]rest.Storage{"": main}, err
}

func deployments(options restOptions) (map[string]rest.Storage, error) {
	s, err := deploymentstore.NewStorage(options)
	return map[string]rest.Storage{"": s.Deployment, "status": s.Status, "scale": s.Scale}, err
}

func replicaSets(options restOptions) (map[string]rest.Storage, error) {
	s, err := replicasetstore.NewStorage(options)
	return map[string]rest.Storage{"": s.ReplicaSet, "status": s.Status, "scale": s.Scale}, err
}

func statefulSets(options restOptions) (map[string]rest.Storage, error) {
	s, err := statefulsetstore.NewStorage(options)
	return map[string]rest.Storage{"": s.StatefulSet, "status": s.Status, "scale": s.Scale}, err
}

func validatingPolicies(options restOptions) (map[string]rest.Storage, error) {
	main, status, err := validatingadmissionpolicystore.NewREST(options, nil, nil)
	return map[string]rest.Storage{"": main, "status": status}, err
}

func validatingBindings(options restOptions) (map[string]rest.Storage, error) {
	main, err := validatingadmissionpolicybindingstore.NewREST(options, nil, nil, noParams)
	return map[string]rest.Storage{"": main}, err
}

func mutatingPolicies(options restOptions) (map[string]rest.Storage, error) {
	main, err := mutatingadmissionpolicystore.NewREST(options, nil, nil)
	return map[string]rest.Storage{"": main}, err
}

func mutatingBindings(options restOptions) (map[string]rest.Storage, error) {
	main, err := mutatingadmissionpolicybindingstore.NewREST(options, nil, nil, noParams)
	return map[string]rest.Storage{"": main}, err
}

func certificates(options restOptions) (map[string]rest.Storage, error) {
	main, status, approval, err := certificatesstore.NewREST(options)
	return map[string]rest.Storage{"": main, "status": status, "approval": approval}, err
}

func podCertificates(options restOptions) (map[string]rest.Storage, error) {
	main, status, err := podcertificaterequeststore.NewREST(options, allowed, clock.RealClock{})
	return map[string]rest.Storage{"": main, "status": status}, err
}

func resourceClaims(options restOptions) (map[string]rest.Storage, error) {
	main, status, err := resourceclaimstore.NewREST(options, namespaceGetter{}, allowed)
	return map[string]rest.Storage{"": main, "status": status}, err
}

func resourceClaimTemplates(options restOptions) (map[string]rest.Storage, error) {
	main, err := resourceclaimtemplatestore.NewREST(options, namespaceGetter{})
	return map[string]rest.Storage{"": main}, err
}

func csiDrivers(options restOptions) (map[string]rest.Storage, error) {
	s, err := csidriverstore.NewStorage(options)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"": s.CSIDriver}, nil
}

func csiNodes(options restOptions) (map[string]rest.Storage, error) {
	s, err := csinodestore.NewStorage(options)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"": s.CSINode, "status": s.Status}, nil
}

func csiCapacities(options restOptions) (map[string]rest.Storage, error) {
	s, err := csistoragecapacitystore.NewStorage(options)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"": s.CSIStorageCapacity}, nil
}

func volumeAttachments(options restOptions) (map[string]rest.Storage, error) {
	s, err := volumeattachmentstore.NewStorage(options)
	if err != nil {
		return nil, err
	}
	return map[string]rest.Storage{"": s.VolumeAttachment, "status": s.Status}, nil
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
	if c := clusterOf(ctx); c != nil {
		if known, ok, _ := c.stores.byKind["Namespace"].GetByKey(name); ok {
			return known.(*corev1.Namespace), nil
		}
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, name)
}
