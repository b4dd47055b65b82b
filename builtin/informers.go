package builtin

import (
	"k8s.io/client-go/informers"
	coreinformers "k8s.io/client-go/informers/core"
	corev1informers "k8s.io/client-go/informers/core/v1"
	networkinginformers "k8s.io/client-go/informers/networking"
	networkingv1informers "k8s.io/client-go/informers/networking/v1"
	nodeinformers "k8s.io/client-go/informers/node"
	nodev1informers "k8s.io/client-go/informers/node/v1"
	schedulinginformers "k8s.io/client-go/informers/scheduling"
	schedulingv1informers "k8s.io/client-go/informers/scheduling/v1"
	storageinformers "k8s.io/client-go/informers/storage"
	storagev1informers "k8s.io/client-go/informers/storage/v1"
	"k8s.io/client-go/kubernetes"
	nodev1client "k8s.io/client-go/kubernetes/typed/node/v1"
	corev1listers "k8s.io/client-go/listers/core/v1"
	networkingv1listers "k8s.io/client-go/listers/networking/v1"
	nodev1listers "k8s.io/client-go/listers/node/v1"
	schedulingv1listers "k8s.io/client-go/listers/scheduling/v1"
	storagev1listers "k8s.io/client-go/listers/storage/v1"
	"k8s.io/client-go/tools/cache"
)

// A stores holds the stores of a Cluster by kind. It makes informers that list the objects there,
// and implements informers.SharedInformerFactory as far as plugins need it: the factory of
// client-go would add 14 MB to a program.
type stores struct {
	informers.SharedInformerFactory // nil
	byKind                          map[string]cache.Indexer
}

func newStores() stores {
	s := stores{byKind: map[string]cache.Indexer{}}
	for _, kind := range append(ReadKinds(), "Pod") {
		byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
		s.byKind[kind] = cache.NewIndexer(cache.MetaNamespaceKeyFunc, byNamespace)
	}
	return s
}

// An informer lists the objects of a kind. L is the type of its lister, and T the type of its TypedInformer.
type informer[T, L any] struct{ lister L }

func newInformer[T, L any](s stores, kind string, lister func(cache.Indexer) L) informer[T, L] {
	return informer[T, L]{lister(s.byKind[kind])}
}

func (i informer[T, L]) Lister() L { return i.lister }

// Informer returns a value whose methods do not work. Plugins only check whether it is ready, and NewCluster
// replaces that check.
func (informer[T, L]) Informer() cache.SharedIndexInformer {
	return struct{ cache.SharedIndexInformer }{}
}

func (informer[T, L]) TypedInformer() (none T) { return none }

// Each type below implements the interface of a group and that of its version v1, as far as plugins need them: the
// embedded interfaces are nil.

func (s stores) Core() coreinformers.Interface { return coreGroup{stores: s} }

type coreGroup struct {
	corev1informers.Interface
	stores stores
}

func (g coreGroup) V1() corev1informers.Interface { return g }

func (g coreGroup) Namespaces() corev1informers.TypedNamespaceInformer {
	return newInformer[corev1informers.NamespaceIndexInformer](g.stores, "Namespace", corev1listers.NewNamespaceLister)
}

func (g coreGroup) LimitRanges() corev1informers.TypedLimitRangeInformer {
	return newInformer[corev1informers.LimitRangeIndexInformer](
		g.stores, "LimitRange", corev1listers.NewLimitRangeLister,
	)
}

func (g coreGroup) ServiceAccounts() corev1informers.TypedServiceAccountInformer {
	return newInformer[corev1informers.ServiceAccountIndexInformer](
		g.stores, "ServiceAccount", corev1listers.NewServiceAccountLister,
	)
}

func (g coreGroup) Pods() corev1informers.TypedPodInformer {
	return newInformer[corev1informers.PodIndexInformer](g.stores, "Pod", corev1listers.NewPodLister)
}

func (s stores) Scheduling() schedulinginformers.Interface { return schedulingGroup{stores: s} }

type schedulingGroup struct {
	schedulinginformers.Interface
	stores stores
}

func (g schedulingGroup) V1() schedulingv1informers.Interface { return g }

func (g schedulingGroup) PriorityClasses() schedulingv1informers.TypedPriorityClassInformer {
	return newInformer[schedulingv1informers.PriorityClassIndexInformer](
		g.stores, "PriorityClass", schedulingv1listers.NewPriorityClassLister,
	)
}

func (s stores) Node() nodeinformers.Interface { return nodeGroup{stores: s} }

type nodeGroup struct {
	nodeinformers.Interface
	stores stores
}

func (g nodeGroup) V1() nodev1informers.Interface { return g }

func (g nodeGroup) RuntimeClasses() nodev1informers.TypedRuntimeClassInformer {
	return newInformer[nodev1informers.RuntimeClassIndexInformer](
		g.stores, "RuntimeClass", nodev1listers.NewRuntimeClassLister,
	)
}

func (s stores) Storage() storageinformers.Interface { return storageGroup{stores: s} }

type storageGroup struct {
	groupOfStorage
	storagev1informers.Interface
	stores stores
}

type groupOfStorage = storageinformers.Interface

func (g storageGroup) V1() storagev1informers.Interface { return g }

func (g storageGroup) StorageClasses() storagev1informers.TypedStorageClassInformer {
	return newInformer[storagev1informers.StorageClassIndexInformer](
		g.stores, "StorageClass", storagev1listers.NewStorageClassLister,
	)
}

func (s stores) Networking() networkinginformers.Interface { return networkingGroup{stores: s} }

type networkingGroup struct {
	groupOfNetworking
	networkingv1informers.Interface
	stores stores
}

type groupOfNetworking = networkinginformers.Interface

func (g networkingGroup) V1() networkingv1informers.Interface { return g }

func (g networkingGroup) IngressClasses() networkingv1informers.TypedIngressClassInformer {
	return newInformer[networkingv1informers.IngressClassIndexInformer](
		g.stores, "IngressClass", networkingv1listers.NewIngressClassLister,
	)
}

// noClient is a client that sends no requests. Plugins do not need it, because a Cluster has, or assumes, all
// objects that they read.
type noClient struct{ kubernetes.Interface }

func (noClient) NodeV1() nodev1client.NodeV1Interface { return noNode{} }

type noNode struct{ nodev1client.NodeV1Interface }

func (noNode) RuntimeClasses() nodev1client.RuntimeClassInterface { return noRuntimeClasses{} }

type noRuntimeClasses struct {
	nodev1client.RuntimeClassInterface
}
