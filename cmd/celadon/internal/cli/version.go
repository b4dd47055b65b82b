package cli

import (
	"fmt"
	"runtime/debug"
)

// Version is "devel" in a build that is no release.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Versions tells of Celadon, Kubernetes and CEL, a line each.
func Versions() string {
	kube, cel := "unknown", "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, dep := range info.Deps {
			switch dep.Path {
			case "k8s.io/apiextensions-apiserver":
				kube = dep.Version
			case "github.com/google/cel-go":
				cel = dep.Version
			}
		}
	}
	return fmt.Sprintf("celadon %s\nkubernetes libraries %s\ncel-go %s\n", Version(), kube, cel)
}
