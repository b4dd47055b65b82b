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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
)

// A repository is the user's work tree, in which git commands run. A repository can contain settings
// that make git run commands. Celadon prevents that by starting git in the top folder, where git
// finds .git immediately and searches no other folder. The settings and variables below are a second
// line of defense; old versions of git ignore those that they do not support.
type repository struct{ top string }

// doors are options that prevent git from starting commands or connecting. Options on the command
// line override all configuration files.
var doors = []string{
	"--no-pager", "--no-replace-objects",
	"-c", "safe.bareRepository=explicit",
	"-c", "protocol.allow=never",
	"-c", "core.fsmonitor=false",
	"-c", "core.hooksPath=" + os.DevNull,
	"-c", "core.attributesFile=" + os.DevNull,
	"-c", "core.bigFileThreshold=16m", // larger files are streamed instead of held in memory
}

// keptVariables, and the keys and values of GIT_CONFIG_COUNT, determine which repositories the user trusts
// (safe.directory). Other GIT_ variables are removed, because they could redirect git.
var keptVariables = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_COUNT"}

// environment returns the user's environment without git's other variables, and with variables that prevent git from
// connecting, prompting, and writing.
func (r repository) environment(user []string) []string {
	env := slices.DeleteFunc(slices.Clone(user), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		settings := strings.HasPrefix(name, "GIT_CONFIG_KEY_") || strings.HasPrefix(name, "GIT_CONFIG_VALUE_")
		return strings.HasPrefix(name, "GIT_") && !settings && !slices.Contains(keptVariables, name)
	})
	return append(env,
		"GIT_CEILING_DIRECTORIES="+filepath.Dir(r.top),
		"GIT_ALLOW_PROTOCOL=", // no protocol; a repository's settings cannot override it
		"GIT_NO_LAZY_FETCH=1",
		"GIT_OPTIONAL_LOCKS=0",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_GRAFT_FILE="+filepath.Join(os.DevNull, "none"),
	)
}

type process struct {
	*bufio.Reader
	cmd    *exec.Cmd
	cancel context.CancelFunc
	stderr input.Head
}

func (r repository) start(ctx context.Context, stdin string, args ...string) (*process, error) {
	ctx, cancel := context.WithCancel(ctx)
	p := &process{cancel: cancel, stderr: input.Head{Limit: maxHead}}
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

// end waits for the process and returns its error. If failed is an error other than the end of the output, end
// stops the process and returns failed.
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
	if message := bytes.TrimSpace(p.stderr.Bytes()); err != nil && len(message) > 0 {
		return fmt.Errorf("%w: %s", errGit, message)
	}
	return cmp.Or(err, failed)
}

var errGit = errors.New("git")

const maxHead = 4 << 10
