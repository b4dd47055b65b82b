//go:build !unix

package converter

import "os/exec"

// ownGroup and endGroup have no means here: the program alone is ended.
func ownGroup(*exec.Cmd) {}

func endGroup(*exec.Cmd) {}
