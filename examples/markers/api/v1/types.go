// Package v1 is an API with mistakes in its rules.
//
// +groupName=example.com
// +kubebuilder:object:generate=true
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Backup copies volumes to stores.
//
// +kubebuilder:object:root=true
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec BackupSpec `json:"spec"`
}

// BackupSpec selects the volumes to copy, and the destination.
//
// +kubebuilder:validation:XValidation:rule="self.from.url != self.to.url",message="from and to are the same"
type BackupSpec struct {
	From Store `json:"from"`
	To   Store `json:"to"`

	// +kubebuilder:validation:XValidation:rule=`self.all(v, self.exists_one(w, w == v))`,message="a volume is named twice"
	Volumes []string `json:"volumes"`
}

// Store is where copies are.
type Store struct {
	// +kubebuilder:validation:XValidation:rule="self.startsWith(\"s3://\") || slef.startsWith(\"file://\")",message="want s3:// or file://"
	URL string `json:"url"`
}

// Mode is how a copy is made.
//
// +kubebuilder:validation:XValidation:rule="self != ”",message="want a mode"
type Mode string
