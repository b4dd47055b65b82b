package gitrevision

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// repository is a work tree of the user's, of which git is asked. That no
// command of someone else runs rests on where git is started: at the top,
// where it finds the .git at once and looks at no other folder. All else below
// is a second door, of which an old git ignores what it does not know.
type repository struct{ top string }

// doors are the settings that could start a command or connect, all shut. A
// command line's win over any file's.
var doors = []string{
	"--no-pager", "--no-replace-objects",
	"-c", "safe.bareRepository=explicit",
	"-c", "protocol.allow=never",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.attributesFile=" + os.DevNull,
	"-c", "core.bigFileThreshold=16m", // git streams what is larger, instead of holding it
}

// kept are the variables that say whose repositories the user trusts
// (safe.directory). All others of git's could lead it elsewhere.
var kept = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT"}

// environment is the user's without git's variables, and with those that keep
// it from connecting, asking and writing.
func (r repository) environment(user []string) []string {
	env := slices.DeleteFunc(slices.Clone(user), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		settings := strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
		return strings.HasPrefix(name, "GIT_") && !settings && !slices.Contains(kept, name)
	})
	return append(env,
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(r.top),
		"GIT_ALLOW_PROTOCOL=", // none; a repository's settings cannot change it
		"GIT_NO_LAZY_FETCH=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_GRAFT_FILE="+filepath.Join(os.DevNull, "none"),
	)
}

// process is a git whose output is read as it comes.
type process struct {
	*bufio.Reader
	cmd    *exec.Cmd
	cancel context.CancelFunc
	stderr head
}

func (r repository) start(ctx context.Context, stdin string, args ...string) (*process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &process{cancel: cancel}
	p.cmd = exec.CommandContext(ctx, "git", slices.Concat(doors, args)...)
	p.cmd.Dir = r.top
	p.cmd.Env = r.environment(os.Environ())
	p.cmd.Stdin = strings.NewReader(stdin)
	p.cmd.Stderr = &p.stderr
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		cancel()
		return nil, err
	}
	p.Reader = bufio.NewReader(out)
	return p, nil
}

// end ends the process, whose reader may have failed. Where its answer was cut
// off, it says why itself.
func (p *process) end(failed error) error {
	cut := errors.Is(failed, io.EOF) || errors.Is(failed, io.ErrUnexpectedEOF)
	if failed != nil && !cut {
		p.cancel()
	}
	err := p.cmd.Wait()
	p.cancel()
	if failed != nil && !cut {
		return failed
	}
	if said := bytes.TrimSpace(p.stderr); err != nil && len(said) > 0 {
		return fmt.Errorf("%w: %s", errGit, said)
	}
	return cmp.Or(err, failed)
}

// errGit is what git says itself.
var errGit = errors.New("git")

// head keeps the begin of what is written.
type head []byte

const maxHead = 4 << 10

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), maxHead-len(*h))]...)
	return len(p), nil
}
