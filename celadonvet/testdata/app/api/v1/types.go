// Package v1 is an API.
//
// +groupName=example.com
package v1

// TypeMeta stands for Kubernetes' own.
type TypeMeta struct{}

// App is one.
type App struct {
	TypeMeta `json:",inline"`

	Spec AppSpec `json:"spec"`
}

// AppSpec has rules.
//
// +kubebuilder:validation:XValidation:rule="self.front.port != self.bakc.port"
type AppSpec struct {
	Front Port `json:"front"`
	Back  Port `json:"back"`

	// +kubebuilder:validation:XValidation:rule=`self.all(h, self.exists_one(g, g == h))`
	Hosts []string `json:"hosts"`
}

// Port is of both sides.
type Port struct {
	// +kubebuilder:validation:XValidation:rule="self > 0 && porrt < 9"
	Port int32 `json:"port"`
}

// +kubebuilder:validation:XValidation:rule="true"

var _ Port
