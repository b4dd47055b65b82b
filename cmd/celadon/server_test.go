package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/testing/forward"
)

func startServers(t *testing.T) (socket string) {
	t.Helper()
	socket = filepath.Join(t.TempDir(), "socket")
	listener, err := net.ListenUnix("unix", &net.UnixAddr{Name: socket, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	listener.SetUnlinkOnClose(false)
	file, err := listener.File()
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for range runtime.GOMAXPROCS(0) {
		server := exec.Command("celadon-server")
		server.ExtraFiles = []*os.File{file}
		server.Stderr = os.Stderr
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = server.Process.Kill(); _ = server.Wait() })
	}
	return socket
}

// Each server runs one command line at a time, because a working directory and an environment belong to a process.
func serveCalls() {
	listener, err := net.FileListener(os.NewFile(3, "listener"))
	for err == nil {
		var conn net.Conn
		if conn, err = listener.Accept(); err == nil {
			err = serveCall(conn.(*net.UnixConn))
		}
	}
	fmt.Fprintln(os.Stderr, "celadon-server:", err)
	os.Exit(1)
}

func serveCall(conn *net.UnixConn) error {
	defer conn.Close()
	call, err := forward.Receive(conn)
	if err != nil {
		return err
	}
	for _, s := range call.Streams {
		defer s.Close()
	}
	os.Clearenv()
	for _, v := range call.Env {
		name, value, _ := strings.Cut(v, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	if err := os.Chdir(call.Dir); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	go func() { forward.Ended(conn); cancel() }()
	a := &app{stdin: call.Streams[0], stdout: call.Streams[1], stderr: call.Streams[2], name: command.Called(call.Args[0])}
	code := a.run(ctx, call.Args[1:])
	_, err = fmt.Fprintln(conn, code)
	return err
}
