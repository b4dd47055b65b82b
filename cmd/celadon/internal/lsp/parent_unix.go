//go:build unix

package lsp

import "syscall"

// gone is true of a process that there is not.
func gone(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH }
