//go:build !(minor30 || minor31 || minor32 || minor33 || minor34)

package main

import "k8s.io/apiserver/pkg/cel/environment"

func envSet() *environment.EnvSet {
	return environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
}
