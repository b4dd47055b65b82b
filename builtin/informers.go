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

// Some of the types below embed a nil interface for the methods that no plugin calls.

func (s stores) Core() coreinformers.Interface { return coreGroup{s} }

type coreGroup struct{ stores stores }

func (g coreGroup) V1() corev1informers.Interface { return coreV1{stores: g.stores} }

type coreV1 struct {
	corev1informers.Interface
	stores stores
}

func (v coreV1) Namespaces() corev1informers.TypedNamespaceInformer {
	return newInformer[corev1informers.NamespaceIndexInformer](v.stores, "Namespace", corev1listers.NewNamespaceLister)
}

func (v coreV1) LimitRanges() corev1informers.TypedLimitRangeInformer {
	return newInformer[corev1informers.LimitRangeIndexInformer](
		v.stores, "LimitRange", corev1listers.NewLimitRangeLister,
	)
}

func (v coreV1) ServiceAccounts() corev1informers.TypedServiceAccountInformer {
	return newInformer[corev1informers.ServiceAccountIndexInformer](
		v.stores, "ServiceAccount", corev1listers.NewServiceAccountLister,
	)
}

func (v coreV1) Pods() corev1informers.TypedPodInformer {
	return newInformer[corev1informers.PodIndexInformer](v.stores, "Pod", corev1listers.NewPodLister)
}

func (s stores) Scheduling() schedulinginformers.Interface { return schedulingGroup{stores: s} }

type schedulingGroup struct {
	schedulinginformers.Interface
	stores stores
}

func (g schedulingGroup) V1() schedulingv1informers.Interface { return schedulingV1{stores: g.stores} }

type schedulingV1 struct {
	schedulingv1informers.Interface
	stores stores
}

func (v schedulingV1) PriorityClasses() schedulingv1informers.TypedPriorityClassInformer {
	return newInformer[schedulingv1informers.PriorityClassIndexInformer](
		v.stores, "PriorityClass", schedulingv1listers.NewPriorityClassLister,
	)
}

func (s stores) Node() nodeinformers.Interface { return nodeGroup{stores: s} }

type nodeGroup struct {
	nodeinformers.Interface
	stores stores
}

func (g nodeGroup) V1() nodev1informers.Interface { return nodeV1{g.stores} }

type nodeV1 struct{ stores stores }

func (v nodeV1) RuntimeClasses() nodev1informers.TypedRuntimeClassInformer {
	return newInformer[nodev1informers.RuntimeClassIndexInformer](
		v.stores, "RuntimeClass", nodev1listers.NewRuntimeClassLister,
	)
}

func (s stores) Storage() storageinformers.Interface { return storageGroup{stores: s} }

type storageGroup struct {
	storageinformers.Interface
	stores stores
}

func (g storageGroup) V1() storagev1informers.Interface { return storageV1{stores: g.stores} }

type storageV1 struct {
	storagev1informers.Interface
	stores stores
}

func (v storageV1) StorageClasses() storagev1informers.TypedStorageClassInformer {
	return newInformer[storagev1informers.StorageClassIndexInformer](
		v.stores, "StorageClass", storagev1listers.NewStorageClassLister,
	)
}

func (s stores) Networking() networkinginformers.Interface { return networkingGroup{stores: s} }

type networkingGroup struct {
	networkinginformers.Interface
	stores stores
}

func (g networkingGroup) V1() networkingv1informers.Interface { return networkingV1{stores: g.stores} }

type networkingV1 struct {
	networkingv1informers.Interface
	stores stores
}

func (v networkingV1) IngressClasses() networkingv1informers.TypedIngressClassInformer {
	return newInformer[networkingv1informers.IngressClassIndexInformer](
		v.stores, "IngressClass", networkingv1listers.NewIngressClassLister,
	)
}

// noClient is a client that sends no requests. Plugins do not need it, because a Cluster has, or assumes, all
// objects that they read.
type noClient struct{ kubernetes.Interface }

func (noClient) NodeV1() nodev1client.NodeV1Interface { return noNode{} }

type noNode struct{ nodev1client.NodeV1Interface }

func (noNode) RuntimeClasses() nodev1client.RuntimeClassInterface {
	return struct {
		nodev1client.RuntimeClassInterface
	}{}
}
