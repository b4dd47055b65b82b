// Forward is the command in tests that need no process of their own. Without a server, it becomes the command.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/forward"
)

func main() {
	if os.Getenv(forward.Variable) == "" {
		fmt.Fprintln(os.Stderr, "forward:", ownProcess())
		os.Exit(70)
	}
	code, err := forward.Send()
	if err != nil {
		fmt.Fprintln(os.Stderr, "forward:", err)
		code = 70
	}
	os.Exit(code)
}

// ownProcess replaces this process by the command in the folder above. It returns only an error.
func ownProcess() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return syscall.Exec(filepath.Join(filepath.Dir(self), "..", "celadon"), os.Args, os.Environ())
}
