//go:build unix

package converter

import (
	"os/exec"
	"syscall"
)

// ownGroup starts the program in a process group of its own, which is killed when its time
// is over.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// endGroup kills the rest of the process group of a program that has ended. While the group
// has a process, the system does not reuse its number.
func endGroup(cmd *exec.Cmd) {
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // mostly there is nothing
	}
}
