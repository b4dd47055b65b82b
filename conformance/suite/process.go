package suite

import (
	"bufio"
	"bytes"
	"context"
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
	// maxLine is in bytes.
	maxLine = 4 << 20
	// maxStderr limits the bytes of an implementation's stderr that error messages show.
	maxStderr = 2 << 10
	// stopTimeout limits the wait for an implementation to exit after its stdin is closed.
	stopTimeout = 5 * time.Second
)

type process struct {
	command *exec.Cmd
	cancel  context.CancelFunc
	stdin   io.WriteCloser
	lines   chan []byte
	// readErr is set before lines is closed.
	readErr error
	stderr  tail
}

func start(ctx context.Context, command []string) (*process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &process{command: exec.CommandContext(ctx, command[0], command[1:]...), cancel: cancel, lines: make(chan []byte)}
	// A child of the implementation can keep the pipes open.
	p.command.WaitDelay = time.Second
	p.command.Stderr = &p.stderr
	stdout, err := p.command.StdoutPipe()
	if err == nil {
		if p.stdin, err = p.command.StdinPipe(); err == nil {
			err = p.command.Start()
		}
	}
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", command[0], err)
	}
	go p.read(ctx, stdout)
	return p, nil
}

func (p *process) read(ctx context.Context, stdout io.Reader) {
	defer close(p.lines)
	scanner := bufio.NewScanner(stdout)
	scanner.Buffer(nil, maxLine)
	for scanner.Scan() {
		select {
		case p.lines <- bytes.Clone(scanner.Bytes()):
		case <-ctx.Done():
			return
		}
	}
	p.readErr = scanner.Err()
}

// After an error, the process must be stopped.
func (p *process) exchange(ctx context.Context, req *Request, timeout time.Duration) (*Answer, error) {
	line, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	// The write blocks if the implementation does not read. It ends when the process is stopped.
	go func() { _, _ = p.stdin.Write(append(line, '\n')) }()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, fmt.Errorf("no answer within %s", timeout)
	case got, ok := <-p.lines:
		if !ok {
			return nil, p.ended()
		}
		return parseAnswer(got, req.ID)
	}
}

func (p *process) ended() error {
	if errors.Is(p.readErr, bufio.ErrTooLong) {
		return fmt.Errorf("a line has over %d bytes", maxLine)
	}
	if p.readErr != nil {
		return p.readErr
	}
	return errors.New("the implementation closed its standard output")
}

func parseAnswer(line []byte, id string) (*Answer, error) {
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	a := &Answer{}
	if err := dec.Decode(a); err != nil {
		return nil, fmt.Errorf("not an answer: %w: %s", err, shorten(string(line), 200))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("not an answer: want one JSON object per line")
	}
	if a.ID != id {
		return nil, fmt.Errorf("the answer has id %q, want %q", shorten(a.ID, 200), id)
	}
	return a, nil
}

// stop kills the implementation if it does not exit within timeout. It returns the last lines that the
// implementation wrote to stderr.
func (p *process) stop(timeout time.Duration) string {
	kill := time.AfterFunc(timeout, p.cancel)
	defer p.cancel()
	defer kill.Stop()
	p.stdin.Close()
	go func() {
		for range p.lines { // the implementation may still write
		}
	}()
	_ = p.command.Wait() // closes stdout, even if a child of the implementation keeps it open
	return p.stderr.String()
}

// A tail keeps the last bytes that were written to it.
type tail struct {
	mu   sync.Mutex
	data []byte
}

// Write implements io.Writer.
func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, data[max(0, len(data)-maxStderr):]...)
	t.data = bytes.Clone(t.data[max(0, len(t.data)-maxStderr):])
	return len(data), nil
}

// String returns the bytes as valid UTF-8 without surrounding space.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(strings.ToValidUTF8(string(t.data), "�"))
}
