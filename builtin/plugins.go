package builtin

import (
	"context"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle"
	"k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/helper"
	"k8s.io/kubernetes/pkg/apis/scheduling"
	"k8s.io/kubernetes/plugin/pkg/admission/alwayspullimages"
	"k8s.io/kubernetes/plugin/pkg/admission/antiaffinity"
	"k8s.io/kubernetes/plugin/pkg/admission/certificates/subjectrestriction"
	"k8s.io/kubernetes/plugin/pkg/admission/defaulttolerationseconds"
	"k8s.io/kubernetes/plugin/pkg/admission/extendedresourcetoleration"
	"k8s.io/kubernetes/plugin/pkg/admission/limitranger"
	"k8s.io/kubernetes/plugin/pkg/admission/network/defaultingressclass"
	"k8s.io/kubernetes/plugin/pkg/admission/network/denyserviceexternalips"
	"k8s.io/kubernetes/plugin/pkg/admission/nodetaint"
	"k8s.io/kubernetes/plugin/pkg/admission/priority"
	"k8s.io/kubernetes/plugin/pkg/admission/runtimeclass"
	"k8s.io/kubernetes/plugin/pkg/admission/security/podsecurity"
	"k8s.io/kubernetes/plugin/pkg/admission/serviceaccount"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/persistentvolume/resize"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageclass/setdefault"
	"k8s.io/kubernetes/plugin/pkg/admission/storage/storageobjectinuseprotection"
)

// knownPlugins lists the admission plugins that a Cluster can have, in the order of kube-apiserver. The others need
// more of a cluster than some objects, such as nodes, usage, permissions, and webhooks, or a file.
var knownPlugins = []struct {
	name      string
	register  func(*admission.Plugins)
	byDefault bool
}{
	{lifecycle.PluginName, lifecycle.Register, true},
	{antiaffinity.PluginName, antiaffinity.Register, false},
	{limitranger.PluginName, limitranger.Register, true},
	{serviceaccount.PluginName, serviceaccount.Register, true},
	{nodetaint.PluginName, nodetaint.Register, true},
	{alwayspullimages.PluginName, alwayspullimages.Register, false},
	{podsecurity.PluginName, podsecurity.Register, true},
	{priority.PluginName, priority.Register, true},
	{defaulttolerationseconds.PluginName, defaulttolerationseconds.Register, true},
	{extendedresourcetoleration.PluginName, extendedresourcetoleration.Register, false},
	{setdefault.PluginName, setdefault.Register, true},
	{storageobjectinuseprotection.PluginName, storageobjectinuseprotection.Register, true},
	{resize.PluginName, resize.Register, true},
	{runtimeclass.PluginName, runtimeclass.Register, true},
	{subjectrestriction.PluginName, subjectrestriction.Register, true},
	{defaultingressclass.PluginName, defaultingressclass.Register, true},
	{denyserviceexternalips.PluginName, denyserviceexternalips.Register, false},
}

var registered = sync.OnceValue(func() *admission.Plugins {
	plugins := admission.NewPlugins()
	for _, p := range knownPlugins {
		p.register(plugins)
	}
	return plugins
})

// Plugins returns the names of the admission plugins that a Cluster can have, or only of those that kube-apiserver
// enables by default.
func Plugins(byDefault bool) (names []string) {
	for _, p := range knownPlugins {
		if p.byDefault || !byDefault {
			names = append(names, p.name)
		}
	}
	return names
}

func (a *admitter) eachPlugin(attrs admission.Attributes, do func(plugin) error) error {
	c := a.write.Cluster
	if c == nil {
		return nil
	}
	if namespace := attrs.GetNamespace(); namespace != "" {
		meta := metav1.ObjectMeta{Name: namespace, Labels: map[string]string{corev1.LabelMetadataName: namespace}}
		if err := c.assume("Namespace", &corev1.Namespace{ObjectMeta: meta}); err != nil {
			return err
		}
	}
	for _, p := range c.plugins {
		if !p.Handles(attrs.GetOperation()) || a.skips(p, attrs) {
			continue
		}
		if err := do(p); err != nil {
			return err
		}
	}
	return nil
}

// skips reports whether a plugin has nothing to do for a request, or lacks an object that was not
// given. Then the object is assumed to exist and to permit the request.
func (a *admitter) skips(p plugin, attrs admission.Attributes) bool {
	c := a.write.Cluster
	switch object := attrs.GetObject().(type) {
	case *core.Pod:
		switch p.name {
		case serviceaccount.PluginName:
			return a.withoutAccount(object, attrs)
		case priority.PluginName:
			return attrs.GetOperation() == admission.Create && a.lacks("PriorityClass", object.Spec.PriorityClassName)
		case runtimeclass.PluginName:
			return object.Spec.RuntimeClassName != nil && a.lacks("RuntimeClass", *object.Spec.RuntimeClassName)
		}
	case *core.PersistentVolumeClaim:
		if p.name == resize.PluginName {
			status, _ := a.write.OldObject["status"].(map[string]any)
			return status["phase"] == nil || a.lacks("StorageClass", helper.GetPersistentVolumeClaimClass(object))
		}
	case *scheduling.PriorityClass:
		// The object can itself be the default class that the cluster has.
		return p.name == priority.PluginName
	}
	return p.name == limitranger.PluginName && !c.limited(attrs.GetNamespace())
}

// withoutAccount adds the ServiceAccount of a Pod to the cluster if it is not known. It returns
// true if it cannot, for example because the old Pod was not read from a cluster and therefore
// names no ServiceAccount.
func (a *admitter) withoutAccount(pod *core.Pod, attrs admission.Attributes) bool {
	name := pod.Spec.ServiceAccountName
	if name == "" {
		if attrs.GetOperation() != admission.Create {
			return true
		}
		name = serviceaccount.DefaultServiceAccountName
	} else if name != serviceaccount.DefaultServiceAccountName {
		a.lacks("ServiceAccount", attrs.GetNamespace()+"/"+name)
	}
	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: attrs.GetNamespace(), Name: name}}
	return a.write.Cluster.assume("ServiceAccount", account) != nil
}

// lacks reports whether an object was not given, and passes it to Assume if so. key is its name, after its
// namespace if it has one. It returns false if key is empty.
func (a *admitter) lacks(kind, key string) bool {
	object := kind + " " + key
	if key == "" || a.write.Cluster.given[object] {
		return false
	}
	if a.write.Assume != nil {
		a.write.Assume(object)
	}
	return true
}

func (a *admitter) mutateByPlugins(
	ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces,
) error {
	return a.eachPlugin(attrs, func(p plugin) error {
		m, ok := p.Interface.(admission.MutationInterface)
		if !ok {
			return nil
		}
		pod, isPod := attrs.GetObject().(*core.Pod)
		if !isPod || p.name != serviceaccount.PluginName {
			return m.Admit(ctx, attrs, o)
		}
		given := tokenVolume(pod)
		err := m.Admit(ctx, attrs, o)
		if name := tokenVolume(pod); given == "" && name != "" {
			renameVolume(pod, name, serviceaccount.ServiceAccountVolumeName+"-00000")
		}
		return err
	})
}

func (a *admitter) validateByPlugins(
	ctx context.Context, attrs admission.Attributes, o admission.ObjectInterfaces,
) error {
	return a.eachPlugin(attrs, func(p plugin) error {
		if v, ok := p.Interface.(admission.ValidationInterface); ok {
			return v.Validate(ctx, attrs, o)
		}
		return nil
	})
}

func tokenVolume(pod *core.Pod) string {
	for _, v := range pod.Spec.Volumes {
		if strings.HasPrefix(v.Name, serviceaccount.ServiceAccountVolumeName+"-") {
			return v.Name
		}
	}
	return ""
}

func renameVolume(pod *core.Pod, from, to string) {
	for i := range pod.Spec.Volumes {
		if v := &pod.Spec.Volumes[i]; v.Name == from {
			v.Name = to
		}
	}
	for _, containers := range [][]core.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		for i := range containers {
			for j := range containers[i].VolumeMounts {
				if m := &containers[i].VolumeMounts[j]; m.Name == from {
					m.Name = to
				}
			}
		}
	}
}
