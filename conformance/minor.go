package conformance

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/celadon-cel/celadon/conformance/minors/server"
)

const stopTimeout = time.Minute

// StartMinor starts the server of an older minor version, such as "1.31". Its program is in the folder
// programs, with the name of the version.
func StartMinor(programs, kubeVersion string) (*Server, error) {
	cmd := exec.Command(filepath.Join(programs, kubeVersion))
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	s := &Server{kubeVersion: kubeVersion, stop: func() { stopProgram(cmd, in) }}
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("the server of %s does not start: %w", kubeVersion, err)
	}
	var endpoint server.Endpoint
	if err := json.Unmarshal(line, &endpoint); err != nil {
		s.Stop()
		return nil, fmt.Errorf("the server of %s does not start: %s", kubeVersion, line)
	}
	return s, s.connect(&endpoint)
}

func stopProgram(cmd *exec.Cmd, in io.Closer) {
	in.Close()
	kill := time.AfterFunc(stopTimeout, func() { _ = cmd.Process.Kill() })
	defer kill.Stop()
	_ = cmd.Wait()
}
