package finding

import "github.com/celadon-cel/celadon/engine/vet"

// KubeVersion is the verdict of a Kubernetes minor version on a CRD. The JSON form is a published
// contract.
type KubeVersion struct {
	Version       string             `json:"version"`
	Accepted      bool               `json:"accepted"`
	EstimatedCost uint64             `json:"estimatedCost"`
	Causes        []KubeVersionCause `json:"causes"`
}

// KubeVersionCause is a cause of a rejection.
type KubeVersionCause struct {
	Reason  string `json:"reason"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// NewKubeVersion returns v for a report.
func NewKubeVersion(v vet.KubeVersion) KubeVersion {
	one := KubeVersion{v.Version, v.Accepted, v.EstimatedCost, []KubeVersionCause{}}
	for _, c := range v.Causes {
		one.Causes = append(one.Causes, KubeVersionCause{string(c.Reason), c.Field, c.Message})
	}
	return one
}
