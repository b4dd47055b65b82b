// +groupName=example.com
// +kubebuilder:object:generate=true
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// App is one.
// +kubebuilder:object:root=true
type App struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec AppSpec `json:"spec"`
}

// AppSpec has each kind of marker.
//
// +kubebuilder:validation:XValidation:rule="self.front.port != self.back.port",message="ports differ"
// +kubebuilder:validation:ExactlyOneOf=image;template
type AppSpec struct {
	Ports `json:",inline"`

	// +kubebuilder:validation:items:XValidation:rule=`self != "none"`
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MaxLength=63
	Hosts []Host `json:"hosts"`
	Image string `json:"image,omitempty"`
	// +k8s:immutable
	// +kubebuilder:validation:MaxLength=63
	Template string `json:"template,omitempty"`
}

// Ports are of both sides.
type Ports struct {
	Front Port `json:"front"`
	Back  Port `json:"back"`
}

// +kubebuilder:validation:XValidation:rule="self.port >= 0"

// Port feeds two places.
type Port struct {
	Port int32 `json:"port"`
}

// Host is a name.
// +kubebuilder:validation:XValidation:rule="self.size() > 2"
type Host string
