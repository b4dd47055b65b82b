// Package v1 has a kind that can be made, and one that cannot.
//
// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Whole struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// +kubebuilder:object:root=true
type Half struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

// +kubebuilder:validation:ExactlyOneOf=a;b
type Spec struct {
	A string `json:"a"`
	B string `json:"b,omitempty"`
}
