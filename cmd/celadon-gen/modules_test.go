//go:build never

package main

// The API modules that tests read. They are never compiled.
import (
	_ "github.com/openshift/api/config/v1"
	_ "sigs.k8s.io/gateway-api/apis/v1"
	_ "sigs.k8s.io/karpenter/pkg/apis/v1"
)
