package remote

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Config configures the celadon command. The zero value is valid.
type Config struct {
	// Command is the celadon command. The default is celadon, searched in PATH.
	Command string
	// Flags are additional flags of celadon check, such as --kube-version and --validate.
	Flags []string
	// Timeout limits the duration of a response. The default is one minute.
	Timeout time.Duration
}

// CRDs is a set of CRDs to test objects against. It is safe for concurrent use.
type CRDs struct{ process *process }

// Start calls Config.Start with the zero Config.
func Start(t testing.TB, crds ...string) *CRDs {
	t.Helper()
	return Config{}.Start(t, crds...)
}

// Start runs celadon with CRDs until t and its subtests end. crds are files and folders. Start ends
// the test if celadon cannot be started. CRDs that cannot be read are reported by the first write.
func (cfg Config) Start(t testing.TB, crds ...string) *CRDs {
	t.Helper()
	name := cfg.Command
	if name == "" {
		name = "celadon"
	}
	args := []string{"check", "--pipe", "--no-config"}
	for _, path := range crds {
		args = append(args, "--crd", path)
	}
	p, err := start(exec.Command(name, append(args, cfg.Flags...)...), cfg.Timeout)
	if err != nil {
		t.Fatalf("celadon: %v: install the command in PATH or set Config.Command (see docs/go.md#without-our-dependencies)", err)
	}
	t.Cleanup(p.end)
	return &CRDs{p}
}

// A Write is a kind of write. It can be applied to any object.
type Write struct {
	crds        *CRDs
	old         any
	update      bool
	subresource string
}

// Update returns an update of old.
func (c *CRDs) Update(old any) Write { return Write{crds: c, old: old, update: true} }

// Status returns an update of the status subresource of old.
func (c *CRDs) Status(old any) Write {
	return Write{crds: c, old: old, update: true, subresource: "status"}
}

// Accepts calls Write.Accepts for a create.
func (c *CRDs) Accepts(t testing.TB, obj any) map[string]any {
	t.Helper()
	return Write{crds: c}.Accepts(t, obj)
}

// Rejects calls Write.Rejects for a create.
func (c *CRDs) Rejects(t testing.TB, obj any, causes ...Cause) {
	t.Helper()
	Write{crds: c}.Rejects(t, obj, causes...)
}

// Accepts fails the test unless the object is accepted. It returns the object as it would be
// persisted, or nil if the test failed.
func (w Write) Accepts(t testing.TB, obj any) map[string]any {
	t.Helper()
	a, err := w.send(obj)
	switch {
	case err != nil:
		t.Errorf("celadon: %v", err)
	case a.Verdict != "valid":
		t.Errorf("celadon: the object was rejected, want accepted%s", a.why())
	default:
		return a.Object
	}
	return nil
}

// Rejects fails the test unless the object is rejected for exactly the given causes: each must
// match an actual cause, and each actual cause must be matched. The cause that rules were not
// checked because of other causes need not be given. Without causes, any rejection passes.
func (w Write) Rejects(t testing.TB, obj any, causes ...Cause) {
	t.Helper()
	a, err := w.send(obj)
	switch {
	case err != nil:
		t.Errorf("celadon: %v", err)
	case a.Verdict == "valid":
		t.Errorf("celadon: the object was accepted, want rejected%s", wanted(causes))
	default:
		if wrong := a.mismatch(causes); wrong != "" {
			t.Errorf("celadon: the object was rejected%s%s", wrong, a.why())
		}
	}
}

// send sends the write to celadon. It returns an error if celadon returns no verdict.
func (w Write) send(obj any) (*answer, error) {
	object, err := text(obj)
	if err != nil {
		return nil, err
	}
	request := map[string]any{"object": object, "subresource": w.subresource}
	if w.update {
		old, err := text(w.old)
		if err != nil {
			return nil, fmt.Errorf("old object: %w", err)
		}
		request["old"] = old
	}
	line, err := json.Marshal(request) // Marshal writes a single line
	if err != nil {
		return nil, err
	}
	a := &answer{}
	if err := w.crds.process.roundTrip(line, a); err != nil {
		return nil, err
	}
	if a.Verdict != "valid" && a.Verdict != "invalid" {
		return nil, fmt.Errorf("%s: %s", a.Verdict, a.Problem)
	}
	return a, nil
}

// text returns obj as JSON.
func text(obj any) (json.RawMessage, error) {
	var data []byte
	switch obj := obj.(type) {
	case string:
		data = []byte(obj)
	case []byte:
		data = obj
	default:
		var err error
		if data, err = json.Marshal(obj); err != nil {
			return nil, err
		}
	}
	var head struct{ APIVersion, Kind string }
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a JSON object: %w", err)
	}
	if head.APIVersion == "" || head.Kind == "" {
		return nil, fmt.Errorf("an object (%T) without apiVersion and kind: set them", obj)
	}
	return data, nil
}

// A Cause describes an expected cause of a rejection. Empty fields match anything. A rejection
// without causes, for example because of an unknown field, matches as a cause without a field.
type Cause struct {
	// Field is the complete path, such as "spec.ports[0].name".
	Field string
	// Message is a part of the server's message.
	Message string
	// Reason is a cause type such as "FieldValueInvalid".
	Reason string
}

// String returns the cause as it is shown in failures.
func (c Cause) String() string {
	var parts []string
	for _, part := range []string{c.Field, c.Reason, c.Message} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if len(parts) == 0 {
		return "any cause"
	}
	return strings.Join(parts, ": ")
}

func (c Cause) matches(got cause) bool {
	return (c.Field == "" || c.Field == got.Field) && (c.Reason == "" || c.Reason == got.Reason) && strings.Contains(got.Message, c.Message)
}
