package vet

import (
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// prepareCreate resets the fields that clients do not set, so that a CRD read from a cluster can be vetted as new.
func prepareCreate(crd *apiextensions.CustomResourceDefinition) {
	meta := &crd.ObjectMeta // a CRD is cluster-scoped, so it has no namespace
	meta.Namespace, meta.UID, meta.ResourceVersion, meta.Generation = "", "", "", 1
	meta.CreationTimestamp, meta.DeletionTimestamp, meta.DeletionGracePeriodSeconds = metav1.Time{}, nil, nil
	meta.ManagedFields = nil
	crd.Status = apiextensions.CustomResourceDefinitionStatus{}
	storeVersion(crd)
}

func storeVersion(crd *apiextensions.CustomResourceDefinition) {
	for i := range crd.Spec.Versions {
		if name := crd.Spec.Versions[i].Name; crd.Spec.Versions[i].Storage {
			if !apiextensions.IsStoredVersion(crd, name) {
				stored := crd.Status.StoredVersions
				crd.Status.StoredVersions = append(stored[:len(stored):len(stored)], name)
			}
			return
		}
	}
}

// prepareOld completes a CRD from a file as if it were stored in a cluster with accepted names.
func prepareOld(crd *apiextensions.CustomResourceDefinition) {
	crd.Namespace = ""
	if crd.ResourceVersion == "" {
		crd.ResourceVersion = "1"
	}
	if crd.Generation == 0 {
		crd.Generation = 1
	}
	storeVersion(crd)
	if len(crd.Status.Conditions) == 0 {
		crd.Status.AcceptedNames = crd.Spec.Names
		crd.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{
			{Type: apiextensions.NamesAccepted, Status: apiextensions.ConditionTrue},
			{Type: apiextensions.Established, Status: apiextensions.ConditionTrue},
		}
	}
}

// prepareUpdate takes from the old CRD the fields that a client cannot set. A deletionTimestamp that the old CRD does
// not have and another deletionGracePeriodSeconds are kept, because the server rejects them later.
func prepareUpdate(crd, old *apiextensions.CustomResourceDefinition) {
	crd.Namespace = ""
	crd.UID = old.UID
	crd.ResourceVersion = old.ResourceVersion
	crd.CreationTimestamp = old.CreationTimestamp
	if old.DeletionTimestamp != nil {
		crd.DeletionTimestamp = old.DeletionTimestamp
	}
	if crd.DeletionGracePeriodSeconds == nil {
		crd.DeletionGracePeriodSeconds = old.DeletionGracePeriodSeconds
	}
	crd.ManagedFields = nil
	crd.Generation = old.Generation
	crd.Status = *old.Status.DeepCopy()
	if !apiequality.Semantic.DeepEqual(old.Spec, crd.Spec) {
		crd.Generation++
	}
	storeVersion(crd)
}
