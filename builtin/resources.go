package builtin

import (
	mutatingwebhookconfigurationstore "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration/storage"
	validatingwebhookconfigurationstore "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration/storage"
	storageversionstore "k8s.io/kubernetes/pkg/registry/apiserverinternal/storageversion/storage"
	controllerrevisionstore "k8s.io/kubernetes/pkg/registry/apps/controllerrevision/storage"
	daemonsetstore "k8s.io/kubernetes/pkg/registry/apps/daemonset/storage"
	deploymentstore "k8s.io/kubernetes/pkg/registry/apps/deployment/storage"
	replicasetstore "k8s.io/kubernetes/pkg/registry/apps/replicaset/storage"
	statefulsetstore "k8s.io/kubernetes/pkg/registry/apps/statefulset/storage"
	horizontalpodautoscalerstore "k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler/storage"
	cronjobstore "k8s.io/kubernetes/pkg/registry/batch/cronjob/storage"
	jobstore "k8s.io/kubernetes/pkg/registry/batch/job/storage"
	clustertrustbundlestore "k8s.io/kubernetes/pkg/registry/certificates/clustertrustbundle/storage"
	leasestore "k8s.io/kubernetes/pkg/registry/coordination/lease/storage"
	leasecandidatestore "k8s.io/kubernetes/pkg/registry/coordination/leasecandidate/storage"
	configmapstore "k8s.io/kubernetes/pkg/registry/core/configmap/storage"
	endpointstore "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	limitrangestore "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	persistentvolumestore "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	persistentvolumeclaimstore "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	podtemplatestore "k8s.io/kubernetes/pkg/registry/core/podtemplate/storage"
	replicationcontrollerstore "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	resourcequotastore "k8s.io/kubernetes/pkg/registry/core/resourcequota/storage"
	secretstore "k8s.io/kubernetes/pkg/registry/core/secret/storage"
	endpointslicestore "k8s.io/kubernetes/pkg/registry/discovery/endpointslice/storage"
	flowschemastore "k8s.io/kubernetes/pkg/registry/flowcontrol/flowschema/storage"
	prioritylevelconfigurationstore "k8s.io/kubernetes/pkg/registry/flowcontrol/prioritylevelconfiguration/storage"
	ingressstore "k8s.io/kubernetes/pkg/registry/networking/ingress/storage"
	ingressclassstore "k8s.io/kubernetes/pkg/registry/networking/ingressclass/storage"
	ipaddressstore "k8s.io/kubernetes/pkg/registry/networking/ipaddress/storage"
	networkpolicystore "k8s.io/kubernetes/pkg/registry/networking/networkpolicy/storage"
	servicecidrstore "k8s.io/kubernetes/pkg/registry/networking/servicecidr/storage"
	runtimeclassstore "k8s.io/kubernetes/pkg/registry/node/runtimeclass/storage"
	poddisruptionbudgetstore "k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget/storage"
	clusterrolestore "k8s.io/kubernetes/pkg/registry/rbac/clusterrole/storage"
	clusterrolebindingstore "k8s.io/kubernetes/pkg/registry/rbac/clusterrolebinding/storage"
	rolestore "k8s.io/kubernetes/pkg/registry/rbac/role/storage"
	rolebindingstore "k8s.io/kubernetes/pkg/registry/rbac/rolebinding/storage"
	deviceclassstore "k8s.io/kubernetes/pkg/registry/resource/deviceclass/storage"
	devicetaintrulestore "k8s.io/kubernetes/pkg/registry/resource/devicetaintrule/storage"
	resourcepoolstatusrequeststore "k8s.io/kubernetes/pkg/registry/resource/resourcepoolstatusrequest/storage"
	resourceslicestore "k8s.io/kubernetes/pkg/registry/resource/resourceslice/storage"
	priorityclassstore "k8s.io/kubernetes/pkg/registry/scheduling/priorityclass/storage"
	csidriverstore "k8s.io/kubernetes/pkg/registry/storage/csidriver/storage"
	csinodestore "k8s.io/kubernetes/pkg/registry/storage/csinode/storage"
	csistoragecapacitystore "k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity/storage"
	storageclassstore "k8s.io/kubernetes/pkg/registry/storage/storageclass/storage"
	volumeattachmentstore "k8s.io/kubernetes/pkg/registry/storage/volumeattachment/storage"
	volumeattributesclassstore "k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass/storage"
	storagemigrationstore "k8s.io/kubernetes/pkg/registry/storagemigration/storagemigration/storage"
)

// resources lists the resources of the API server that store objects. Bindings, and the reviews of
// authentication.k8s.io and authorization.k8s.io, are not stored.
var resources = []resource{
	{"", "v1", "configmaps", "ConfigMap", one(configmapstore.NewREST)},
	{"", "v1", "endpoints", "Endpoints", one(endpointstore.NewREST)},
	{"", "v1", "events", "Event", events},
	{"", "v1", "limitranges", "LimitRange", one(limitrangestore.NewREST)},
	{"", "v1", "namespaces", "Namespace", namespaces},
	{"", "v1", "nodes", "Node", fieldsOf(nodes, "status")},
	{"", "v1", "persistentvolumeclaims", "PersistentVolumeClaim", two(persistentvolumeclaimstore.NewREST)},
	{"", "v1", "persistentvolumes", "PersistentVolume", two(persistentvolumestore.NewREST)},
	{"", "v1", "pods", "Pod", fieldsOf(pods, "status", "ephemeralcontainers", "resize", "binding", "eviction")},
	{"", "v1", "podtemplates", "PodTemplate", one(podtemplatestore.NewREST)},
	{"", "v1", "replicationcontrollers", "ReplicationController", fieldsOf(replicationcontrollerstore.NewStorage, "status", "scale")},
	{"", "v1", "resourcequotas", "ResourceQuota", two(resourcequotastore.NewREST)},
	{"", "v1", "secrets", "Secret", one(secretstore.NewREST)},
	{"", "v1", "serviceaccounts", "ServiceAccount", serviceAccounts},
	{"", "v1", "services", "Service", services},
	{"admissionregistration.k8s.io", "v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", one(validatingwebhookconfigurationstore.NewREST)},
	{"admissionregistration.k8s.io", "v1", "mutatingwebhookconfigurations", "MutatingWebhookConfiguration", one(mutatingwebhookconfigurationstore.NewREST)},
	{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicies", "ValidatingAdmissionPolicy", validatingPolicies},
	{"admissionregistration.k8s.io", "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", validatingBindings},
	{"admissionregistration.k8s.io", "v1 v1beta1 v1alpha1", "mutatingadmissionpolicies", "MutatingAdmissionPolicy", mutatingPolicies},
	{"admissionregistration.k8s.io", "v1 v1beta1 v1alpha1", "mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding", mutatingBindings},
	{"internal.apiserver.k8s.io", "v1alpha1", "storageversions", "StorageVersion", two(storageversionstore.NewREST)},
	{"apiextensions.k8s.io", "v1", "customresourcedefinitions", "CustomResourceDefinition", definitions},
	{"apps", "v1", "controllerrevisions", "ControllerRevision", one(controllerrevisionstore.NewREST)},
	{"apps", "v1", "daemonsets", "DaemonSet", two(daemonsetstore.NewREST)},
	{"apps", "v1", "deployments", "Deployment", fieldsOf(deploymentstore.NewStorage, "status", "scale")},
	{"apps", "v1", "replicasets", "ReplicaSet", fieldsOf(replicasetstore.NewStorage, "status", "scale")},
	{"apps", "v1", "statefulsets", "StatefulSet", fieldsOf(statefulsetstore.NewStorage, "status", "scale")},
	{"autoscaling", "v2 v1", "horizontalpodautoscalers", "HorizontalPodAutoscaler", two(horizontalpodautoscalerstore.NewREST)},
	{"batch", "v1", "cronjobs", "CronJob", two(cronjobstore.NewREST)},
	{"batch", "v1", "jobs", "Job", two(jobstore.NewREST)},
	{"certificates.k8s.io", "v1", "certificatesigningrequests", "CertificateSigningRequest", certificates},
	{"certificates.k8s.io", "v1beta1 v1", "clustertrustbundles", "ClusterTrustBundle", one(clustertrustbundlestore.NewREST)},
	{"certificates.k8s.io", "v1beta1 v1", "podcertificaterequests", "PodCertificateRequest", podCertificates},
	{"coordination.k8s.io", "v1", "leases", "Lease", one(leasestore.NewREST)},
	{"coordination.k8s.io", "v1beta1 v1alpha2", "leasecandidates", "LeaseCandidate", one(leasecandidatestore.NewREST)},
	{"discovery.k8s.io", "v1", "endpointslices", "EndpointSlice", one(endpointslicestore.NewREST)},
	{"events.k8s.io", "v1", "events", "Event", events},
	{"flowcontrol.apiserver.k8s.io", "v1", "flowschemas", "FlowSchema", two(flowschemastore.NewREST)},
	{"flowcontrol.apiserver.k8s.io", "v1", "prioritylevelconfigurations", "PriorityLevelConfiguration", two(prioritylevelconfigurationstore.NewREST)},
	{"networking.k8s.io", "v1", "ingressclasses", "IngressClass", one(ingressclassstore.NewREST)},
	{"networking.k8s.io", "v1", "ingresses", "Ingress", two(ingressstore.NewREST)},
	{"networking.k8s.io", "v1", "ipaddresses", "IPAddress", one(ipaddressstore.NewREST)},
	{"networking.k8s.io", "v1", "networkpolicies", "NetworkPolicy", one(networkpolicystore.NewREST)},
	{"networking.k8s.io", "v1", "servicecidrs", "ServiceCIDR", two(servicecidrstore.NewREST)},
	{"node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", one(runtimeclassstore.NewREST)},
	{"policy", "v1", "poddisruptionbudgets", "PodDisruptionBudget", two(poddisruptionbudgetstore.NewREST)},
	{"rbac.authorization.k8s.io", "v1", "clusterroles", "ClusterRole", one(clusterrolestore.NewREST)},
	{"rbac.authorization.k8s.io", "v1", "clusterrolebindings", "ClusterRoleBinding", one(clusterrolebindingstore.NewREST)},
	{"rbac.authorization.k8s.io", "v1", "roles", "Role", one(rolestore.NewREST)},
	{"rbac.authorization.k8s.io", "v1", "rolebindings", "RoleBinding", one(rolebindingstore.NewREST)},
	{"resource.k8s.io", "v1 v1beta2 v1beta1", "deviceclasses", "DeviceClass", one(deviceclassstore.NewREST)},
	{"resource.k8s.io", "v1beta2 v1 v1alpha3", "devicetaintrules", "DeviceTaintRule", two(devicetaintrulestore.NewRESTLegacy)},
	{"resource.k8s.io", "v1 v1beta2 v1beta1", "resourceclaims", "ResourceClaim", resourceClaims},
	{"resource.k8s.io", "v1 v1beta2 v1beta1", "resourceclaimtemplates", "ResourceClaimTemplate", resourceClaimTemplates},
	{"resource.k8s.io", "v1alpha3", "resourcepoolstatusrequests", "ResourcePoolStatusRequest", two(resourcepoolstatusrequeststore.NewREST)},
	{"resource.k8s.io", "v1 v1beta2 v1beta1", "resourceslices", "ResourceSlice", one(resourceslicestore.NewREST)},
	{"scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", one(priorityclassstore.NewREST)},
	{"storage.k8s.io", "v1", "csidrivers", "CSIDriver", fieldsOf(csidriverstore.NewStorage)},
	{"storage.k8s.io", "v1", "csinodes", "CSINode", fieldsOf(csinodestore.NewStorage, "status")},
	{"storage.k8s.io", "v1", "csistoragecapacities", "CSIStorageCapacity", fieldsOf(csistoragecapacitystore.NewStorage)},
	{"storage.k8s.io", "v1", "storageclasses", "StorageClass", one(storageclassstore.NewREST)},
	{"storage.k8s.io", "v1", "volumeattachments", "VolumeAttachment", fieldsOf(volumeattachmentstore.NewStorage, "status")},
	{"storage.k8s.io", "v1", "volumeattributesclasses", "VolumeAttributesClass", one(volumeattributesclassstore.NewREST)},
	{"storagemigration.k8s.io", "v1beta1 v1", "storageversionmigrations", "StorageVersionMigration", two(storagemigrationstore.NewREST)},
}
