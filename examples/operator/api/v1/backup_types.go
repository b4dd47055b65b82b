package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// BackupSpec selects the volumes to back up, and the time.
// +kubebuilder:validation:XValidation:rule="self.keep <= self.keepAtMost",message="keep must not be more than keepAtMost",fieldPath=".keep"
type BackupSpec struct {
	// Schedule is when to back up, in cron format.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.split(' ').size() == 5",message="must have five fields"
	Schedule string `json:"schedule"`

	// Volume is the volume to back up.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="is immutable"
	Volume string `json:"volume"`

	// Keep is the number of backups to keep.
	// +kubebuilder:default=3
	// +kubebuilder:validation:Minimum=1
	// +optional
	Keep *int32 `json:"keep,omitempty"`

	// +kubebuilder:default=10
	// +kubebuilder:validation:Minimum=1
	// +optional
	KeepAtMost *int32 `json:"keepAtMost,omitempty"`
}

// BackupStatus describes the last backup.
type BackupStatus struct {
	// +kubebuilder:validation:Enum=Pending;Scheduled
	// +optional
	Phase string `json:"phase,omitempty"`

	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// Backup is a volume that is backed up.
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Backup struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   BackupSpec   `json:"spec"`
	Status BackupStatus `json:"status,omitempty"`
}

// BackupList is a list of Backups.
// +kubebuilder:object:root=true
type BackupList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Backup `json:"items"`
}
