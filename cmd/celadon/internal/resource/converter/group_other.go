//go:build !unix

package converter

import "os/exec"

// ownGroup and endGroup do nothing: only the program itself is killed.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
