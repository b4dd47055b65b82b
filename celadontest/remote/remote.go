package remote

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Config says which celadon is run, and how. The zero value is what Start takes.
type Config struct {
	// Command is the celadon command; "" is celadon, as the shell finds it.
	Command string
	// Flags are more flags of celadon check, as --kube-version and --validate.
	Flags []string
	// Timeout is how long an answer may take; 0 is a minute.
	Timeout time.Duration
}

// CRDs are what objects are tested against. They are safe for concurrent use.
type CRDs struct{ process *process }

// Start is that of the zero Config.
func Start(t testing.TB, crds ...string) *CRDs {
	t.Helper()
	return Config{}.Start(t, crds...)
}

// Start runs celadon with CRDs, which are files and folders, until t and its subtests
// have ended. What cannot be run ends the test; CRDs that cannot be read do with the
// first write.
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
		t.Fatalf("celadon: %v: want the command, in PATH or as Config.Command (see docs/go.md#without-our-dependencies)", err)
	}
	t.Cleanup(p.end)
	return &CRDs{p}
}

// Write is a kind of write, of any object.
type Write struct {
	crds        *CRDs
	old         any
	update      bool
	subresource string
}

// Update is the update of an object.
func (c *CRDs) Update(old any) Write { return Write{crds: c, old: old, update: true} }

// Status is the update of an object's status subresource.
func (c *CRDs) Status(old any) Write {
	return Write{crds: c, old: old, update: true, subresource: "status"}
}

// Accepts is Write.Accepts of a create.
func (c *CRDs) Accepts(t testing.TB, obj any) map[string]any {
	t.Helper()
	return Write{crds: c}.Accepts(t, obj)
}

// Rejects is Write.Rejects of a create.
func (c *CRDs) Rejects(t testing.TB, obj any, causes ...Cause) {
	t.Helper()
	Write{crds: c}.Rejects(t, obj, causes...)
}

// Accepts fails the test unless the object is accepted, and gives it as it would be
// persisted; nil where the test failed.
func (w Write) Accepts(t testing.TB, obj any) map[string]any {
	t.Helper()
	a, err := w.ask(obj)
	switch {
	case err != nil:
		t.Errorf("celadon: %v", err)
	case a.Verdict != "valid":
		t.Errorf("celadon: the object was refused: want it accepted%s", a.why())
	default:
		return a.Object
	}
	return nil
}

// Rejects fails the test unless the object is refused for the causes given: each
// matches one at least, and there is no other. That rules were not checked because of
// other causes is none of them. Without causes given, any will do.
func (w Write) Rejects(t testing.TB, obj any, causes ...Cause) {
	t.Helper()
	a, err := w.ask(obj)
	switch {
	case err != nil:
		t.Errorf("celadon: %v", err)
	case a.Verdict == "valid":
		t.Errorf("celadon: the object was accepted: want it refused%s", wanted(causes))
	default:
		if wrong := a.mismatch(causes); wrong != "" {
			t.Errorf("celadon: the object was refused%s%s", wrong, a.why())
		}
	}
}

// ask gives the write to celadon. The error is also for what has no verdict.
func (w Write) ask(obj any) (*answer, error) {
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
	line, err := json.Marshal(request) // which puts it on one line
	if err != nil {
		return nil, err
	}
	a := &answer{}
	if err := w.crds.process.ask(line, a); err != nil {
		return nil, err
	}
	if a.Verdict != "valid" && a.Verdict != "invalid" {
		return nil, fmt.Errorf("%s: %s", a.Verdict, a.Problem)
	}
	return a, nil
}

// text is an object's JSON.
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

// Cause describes a cause of a refusal; what is empty matches any. A refusal without
// causes, as that of an unknown field, is a cause without Field.
type Cause struct {
	// Field is the whole path, as "spec.ports[0].name".
	Field string
	// Message is a part of the server's text.
	Message string
	// Reason is as "FieldValueInvalid".
	Reason string
}

// String is the cause as failures show it.
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
