//go:build unix

package input

import "syscall"

// nonblock lets no pipe wait for its writer where it is opened.
const nonblock = syscall.O_NONBLOCK
