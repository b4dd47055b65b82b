// Command kubectl is kubectl of the Kubernetes version that Celadon follows. make -C conformance explain runs it
// to record the output of kubectl explain and to compare it. It is a separate module, because
// nothing else needs its dependencies.
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
