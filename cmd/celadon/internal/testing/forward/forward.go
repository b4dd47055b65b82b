// Package forward runs command lines of tests in a process that is already running. A process of the command takes
// 150 ms to start, because it links the API server's code; the client takes 2 ms.
package forward

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
)

// Variable is the environment variable with the path of the socket on which a server waits.
const Variable = "CELADON_TEST_SERVER"

// A Call is a command line, with the streams of the client.
type Call struct {
	Args, Env []string
	Dir       string
	Streams   [3]*os.File `json:"-"`
}

// Send forwards this process's command line and streams to the server, and returns the exit code.
func Send() (code int, err error) {
	conn, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: os.Getenv(Variable), Net: "unix"})
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	dir, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	data, err := json.Marshal(Call{Args: os.Args, Env: os.Environ(), Dir: dir})
	if err != nil {
		return 0, err
	}
	// The streams are sent with the first byte.
	if _, _, err := conn.WriteMsgUnix([]byte{' '}, syscall.UnixRights(0, 1, 2), nil); err != nil {
		return 0, err
	}
	if _, err := conn.Write(append(data, '\n')); err != nil {
		return 0, err
	}
	if _, err := fmt.Fscan(conn, &code); err != nil {
		return 0, fmt.Errorf("%v: the server ended: %w", os.Args, err)
	}
	return code, nil
}

// Receive returns the call that a client sends. The caller must close its streams.
func Receive(conn *net.UnixConn) (*Call, error) {
	rights := make([]byte, syscall.CmsgSpace(3*4))
	_, n, _, _, err := conn.ReadMsgUnix(make([]byte, 1), rights)
	if err != nil {
		return nil, err
	}
	messages, err := syscall.ParseSocketControlMessage(rights[:n])
	if err != nil || len(messages) != 1 {
		return nil, fmt.Errorf("%d control messages: %w", len(messages), err)
	}
	fds, err := syscall.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 3 {
		return nil, fmt.Errorf("%d streams: %w", len(fds), err)
	}
	c := &Call{}
	for i, fd := range fds {
		syscall.CloseOnExec(fd)
		c.Streams[i] = os.NewFile(uintptr(fd), "stream")
	}
	return c, json.NewDecoder(conn).Decode(c)
}

// Ended returns when the client has ended.
func Ended(conn *net.UnixConn) { _, _ = io.Copy(io.Discard, conn) }
