//go:build unix

package input

import "syscall"

// nonblock prevents opening a pipe from blocking until another process writes to it.
const nonblock = syscall.O_NONBLOCK
