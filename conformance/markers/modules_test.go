//go:build never

package markers

// These imports keep the API modules that the tests read in go.mod. They are never compiled.
import (
	_ "github.com/openshift/api/config/v1"
	_ "sigs.k8s.io/gateway-api/apis/v1"
	_ "sigs.k8s.io/karpenter/pkg/apis/v1"
)
