package remote

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const (
	// maxAnswer and maxStderr limit how many bytes of celadon's output are read.
	maxAnswer = 64 << 20
	maxStderr = 64 << 10
	// leave limits how long celadon may take to exit after its standard input is closed.
	leave          = 10 * time.Second
	defaultTimeout = time.Minute
)

// A process is a running celadon check --pipe.
type process struct {
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	pipe    io.Closer
	stdout  *bufio.Reader // of pipe
	stderr  *head
	timeout time.Duration

	mu     sync.Mutex // held during a request
	broken error      // why the process can no longer be used
}

func start(cmd *exec.Cmd, timeout time.Duration) (*process, error) {
	p := &process{cmd: cmd, stderr: &head{}, timeout: timeout}
	if p.timeout <= 0 {
		p.timeout = defaultTimeout
	}
	cmd.Stderr = p.stderr
	cmd.WaitDelay = time.Second // for child processes that it may have started
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.stdin, p.pipe, p.stdout = stdin, stdout, bufio.NewReader(stdout)
	return p, nil
}

// roundTrip sends a request and decodes the response into to. After an error or a timeout it kills the
// process, because a late response would be taken for the response to another request.
func (p *process) roundTrip(request []byte, to any) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return p.broken
	}
	type result struct {
		line []byte
		err  error
	}
	done := make(chan result, 1)
	go func() {
		_, err := p.stdin.Write(append(request, '\n'))
		if err == nil {
			var r result
			r.line, r.err = readLine(p.stdout)
			done <- r
			return
		}
		done <- result{err: err}
	}()
	timer := time.NewTimer(p.timeout)
	defer timer.Stop()
	var got result
	select {
	case got = <-done:
	case <-timer.C:
		got.err = fmt.Errorf("no response within %v", p.timeout)
	}
	if got.err == nil {
		got.err = json.Unmarshal(got.line, to)
	}
	if got.err != nil {
		p.broken = p.failed(got.err)
		return p.broken
	}
	return nil
}

// readLine reads a line of at most maxAnswer bytes.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line)+len(part) > maxAnswer {
			return nil, fmt.Errorf("a response of more than %d MiB", maxAnswer>>20)
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF):
			return nil, errors.New("it ended without a response")
		}
		return line, err
	}
}

// failed kills a process that can no longer be used, and returns err with the process's error
// output. This also ends a pending read.
func (p *process) failed(err error) error {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
	if message := strings.TrimSpace(p.stderr.String()); message != "" {
		return fmt.Errorf("%s: %w: %s", p.cmd.Path, err, message)
	}
	return fmt.Errorf("%s: %w", p.cmd.Path, err)
}

// end ends the process if it is still running.
func (p *process) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.broken != nil {
		return
	}
	p.broken = errors.New("the test that started celadon has ended")
	p.stdin.Close()
	p.pipe.Close() // a pending write fails
	late := time.AfterFunc(leave, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait()
}

// A head is a writer that keeps the beginning of its input.
type head struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (h *head) Write(data []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text.Write(data[:min(len(data), maxStderr-h.text.Len())])
	return len(data), nil
}

func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}
