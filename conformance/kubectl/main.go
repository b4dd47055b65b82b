// Command kubectl is kubectl of the Kubernetes version that Celadon follows, to
// record and hold what kubectl explain says: make explain runs it. It is a module
// of its own because its packages are nobody else's need.
package main

import (
	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
