//go:build unix

package lsp

import "syscall"

// gone reports whether a process has ended.
func gone(pid int) bool { return pid > 0 && syscall.Kill(pid, 0) == syscall.ESRCH }
