package command

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
)

// Version returns the module version of this build, or "devel" if it is not a release.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// Versions returns a line for each of the versions of Celadon, the Kubernetes libraries, and cel-go,
// and a line for the commit if go built a checkout. All come from the build information (see `go
// version -m`), so builds need no linker flags.
func Versions() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	var kube, cel string
	for _, dep := range info.Deps {
		switch dep.Path {
		case "k8s.io/apiextensions-apiserver":
			kube = dep.Version
		case "github.com/google/cel-go":
			cel = dep.Version
		}
	}
	return fmt.Sprintf("celadon %s\n%skubernetes libraries %s\ncel-go %s\n", Version(), commit(info.Settings), cmp.Or(kube, "unknown"), cmp.Or(cel, "unknown"))
}

// commit returns the line that describes the commit, or "".
func commit(settings []debug.BuildSetting) string {
	var revision, date, changed string
	for _, s := range settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			if s.Value == "true" {
				changed = ", with changes"
			}
		}
	}
	if revision == "" {
		return ""
	}
	return fmt.Sprintf("commit %s of %s%s\n", revision, date, changed)
}
