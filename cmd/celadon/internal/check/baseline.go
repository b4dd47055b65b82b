package check

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/command/outfile"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding/print"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/gitrevision"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input/worktree"
	"github.com/celadon-cel/celadon/internal/text/phrase"
	"github.com/celadon-cel/celadon/internal/text/untrusted"
)

// How it works. A finding is identified by its source, file, object, and subresource, and by the problem: a reason
// with a field and a rule, or with a message. The file has one line of JSON for each distinct finding, with a count,
// sorted for readable diffs. An object is known if all its findings are known.

type knownFinding struct {
	Source string `json:"source,omitempty"`
	File   string `json:"file"`
	// Object is the kind, group, namespace, and name.
	Object      string `json:"object"`
	Subresource string `json:"subresource,omitempty"`
	Reason      string `json:"reason"`
	Field       string `json:"field,omitempty"`
	Rule        string `json:"rule,omitempty"`
	// Message is the server's message if the rejection has no causes, or the policy and binding that deny the object.
	Message string `json:"message,omitempty"`
}

type counted struct {
	knownFinding
	Count int `json:"count"`
}

type baselineFile struct {
	Kind       string          `json:"kind"`
	APIVersion string          `json:"apiVersion"`
	Findings   json.RawMessage `json:"findings"` // a list of counted, decoded item by item because it can be long
}

const baselineKind = "Baseline"

// maxKnown limits the findings of a baseline, because a short finding takes ten times its size in memory. A file of
// the maximum size with findings of the usual length has fewer.
const maxKnown = 250_000

// Reasons that are Celadon's, not the server's.
const (
	lost           = "Lost"          // an upgrade removes or changes a field
	rejectedUpdate = "UpdateRefused" // an update is rejected even if the object is unchanged
)

func findingsOf(r *finding.Object, strictKinds bool) (all []knownFinding) {
	if !r.Wrong(strictKinds) || r.Verdict == finding.Undecided {
		return nil
	}
	one := knownFinding{Source: r.Source, File: filepath.ToSlash(filepath.Clean(r.File)), Object: cmp.Or(r.Key, r.Called()), Subresource: r.Subresource}
	add := func(reason, field, rule, message string) {
		one.Reason, one.Field, one.Rule, one.Message = reason, field, rule, message
		all = append(all, one)
	}
	switch {
	case r.Verdict == finding.Skipped:
		add(finding.Skipped, "", "", "")
	case r.Denied():
		for _, d := range r.Policies {
			if d.Action == finding.Deny {
				add(r.Status.Reason, fmt.Sprintf("spec.validations[%d]", d.Validation), d.Expression, "policy "+d.Policy+", binding "+d.Binding)
			}
		}
	case r.Verdict == finding.Invalid && len(r.Causes) == 0:
		add(r.Status.Reason, "", "", r.Status.Message)
	case r.Verdict == finding.Invalid:
		for _, c := range r.Causes {
			add(c.Reason, c.Field, c.Rule, "")
		}
	}
	if u := r.Upgrade; u != nil {
		if u.RejectedOnUpdate() {
			add(rejectedUpdate, "", "", "")
		}
		for _, c := range u.Changes {
			if c.Before != "" {
				add(lost, c.Field, "", "")
			}
		}
	}
	return all
}

func (o *Options) baselined() bool { return o.Baseline != "" || o.BaselineOut != "" }

type baseline struct {
	name    string
	left    map[knownFinding]int // findings of the file that have not occurred yet, with their count
	files   map[[2]string]bool   // by source and name: whether the file was read
	current map[knownFinding]int // findings of this run; nil unless a baseline is written
}

// readBaseline returns nil if o uses no baseline. With --base, it reads a baseline in the work tree as of that
// revision, so that the author of a change cannot declare its findings known.
func readBaseline(ctx context.Context, o *Options, complain func(error)) (*baseline, error) {
	if !o.baselined() {
		return nil, nil
	}
	b := &baseline{name: o.Baseline, left: map[knownFinding]int{}, files: map[[2]string]bool{}}
	if o.BaselineOut != "" {
		b.current = map[knownFinding]int{}
	}
	if o.Baseline == "" {
		return b, nil
	}
	data, err := baselineData(ctx, o, complain)
	if err == nil && data != nil {
		err = b.read(data)
	}
	if err != nil {
		return nil, fmt.Errorf("--baseline: %w", err)
	}
	return b, nil
}

func baselineData(ctx context.Context, o *Options, complain func(error)) ([]byte, error) {
	tree, err := worktree.Top(".")
	if err != nil {
		return nil, err
	}
	if o.Base == "" || tree == "" || !worktree.Inside(tree, o.Baseline) {
		data, err := input.ReadFile(o.Baseline, input.MaxFile)
		if err != nil {
			err = fmt.Errorf("%s: %w", o.Baseline, err)
		}
		return data, err
	}
	data, err := gitrevision.File(ctx, o.Base, o.Baseline, input.MaxFile)
	if err == nil && data == nil {
		complain(fmt.Errorf("%s does not exist at --base %s: the baseline is empty", o.Baseline, o.Base))
	}
	return data, err
}

func (b *baseline) read(data []byte) error {
	var f baselineFile
	if err := input.UnmarshalStrict(data, &f); err != nil {
		return fmt.Errorf("%s: not a baseline, as --baseline-out writes: %w", b.name, err)
	}
	if f.Kind != baselineKind || f.APIVersion != finding.APIVersion {
		return fmt.Errorf("%s: kind %.40q, apiVersion %.40q (want %s and %s, as --baseline-out writes)", b.name, f.Kind, f.APIVersion, baselineKind, finding.APIVersion)
	}
	list := json.NewDecoder(bytes.NewReader(f.Findings))
	if begin, err := list.Token(); begin == nil && (err == nil || err == io.EOF) {
		return nil // null or missing
	} else if begin != json.Delim('[') {
		return fmt.Errorf("%s: findings: want a list", b.name)
	}
	for i := 0; list.More(); i++ {
		var item json.RawMessage
		var c counted
		err := list.Decode(&item)
		if err == nil {
			err = input.UnmarshalStrict(item, &c)
		}
		if err == nil && i >= maxKnown {
			return fmt.Errorf("%s: more than %d findings", b.name, maxKnown)
		}
		if err == nil && (c.Count < 1 || c.Object == "" || c.Reason == "") {
			err = errors.New("want object, reason, and a count of 1 or more")
		}
		if err != nil {
			return fmt.Errorf("%s: findings[%d]: %w", b.name, i, err)
		}
		b.left[c.knownFinding] += c.Count
		b.files[[2]string{c.Source, c.File}] = false
	}
	return nil
}

func (b *baseline) see(source, file string) {
	key := [2]string{source, filepath.ToSlash(filepath.Clean(file))}
	if was, named := b.files[key]; named && !was {
		b.files[key] = true
	}
}

func (b *baseline) markKnown(r *finding.Object, strictKinds bool) {
	all := findingsOf(r, strictKinds)
	fresh := 0
	for _, f := range all {
		if b.current != nil {
			b.current[f]++
		}
		if b.left[f]--; b.left[f] < 0 {
			delete(b.left, f)
			fresh++
		}
	}
	if len(all) > 0 && fresh == 0 {
		r.Known = true
	}
}

// stale returns the lines of the baseline whose findings occurred less often than their count. It includes only
// lines of this shard's objects for which the run is conclusive: it read the file, or, if here is set, it can
// determine that the file no longer exists.
func (b *baseline) stale(o *Options, here bool) []string {
	var lines []string
	for f, n := range b.left {
		read := b.files[[2]string{f.Source, f.File}]
		gone := here && f.Source == o.Source && !o.Cluster.On && !there(f.File) // a cluster may have been read partially
		if n > 0 && o.owns(f.Object) && (read || gone) {
			lines = append(lines, f.String())
		}
	}
	slices.Sort(lines)
	return lines
}

func there(file string) bool {
	if file == "-" {
		return true
	}
	_, err := os.Lstat(filepath.FromSlash(file))
	return !errors.Is(err, fs.ErrNotExist)
}

func (f knownFinding) String() string {
	text := f.File + ": " + f.Object
	if f.Source != "" {
		text = f.Source + ": " + text
	}
	for _, part := range []string{f.Subresource, f.Field, f.Reason, f.Rule, f.Message} {
		if part != "" {
			text += ": " + part
		}
	}
	return text
}

const maxStale = 20

func (r *runner) listStale(t *tally) {
	if t.options.BaselineOut != "" {
		return // the new baseline has no stale lines
	}
	for _, line := range t.stale[:min(maxStale, len(t.stale))] {
		r.Complain(fmt.Errorf("stale in the baseline: %s", line))
	}
	if more := len(t.stale) - maxStale; more > 0 {
		r.Complain(fmt.Errorf("%s more", phrase.Count(more, "stale line")))
	}
}

func (r *runner) writeBaseline(t *tally) error {
	text, err := t.baseline.text()
	if err == nil {
		err = outfile.Write(t.options.BaselineOut, text)
	}
	if err == nil {
		findings := phrase.Count(len(t.baseline.current), "finding")
		untrusted.Fprintf(r.Stderr, "celadon: %s: %s added to the baseline\n", t.options.BaselineOut, findings)
	}
	return err
}

func (b *baseline) text() ([]byte, error) {
	all := slices.SortedFunc(maps.Keys(b.current), func(x, y knownFinding) int {
		return cmp.Or(strings.Compare(x.Source, y.Source), strings.Compare(x.File, y.File), strings.Compare(x.Object, y.Object),
			strings.Compare(x.Subresource, y.Subresource), strings.Compare(x.Field, y.Field), strings.Compare(x.Reason, y.Reason),
			strings.Compare(x.Rule, y.Rule), strings.Compare(x.Message, y.Message))
	})
	var out bytes.Buffer
	w := untrusted.NewWriter(&out)
	fmt.Fprintf(w, `{"kind":%q,"apiVersion":%q,"findings":[`, baselineKind, finding.APIVersion)
	for i, f := range all {
		var line bytes.Buffer
		if err := print.Encoder(&line).Encode(counted{f, b.current[f]}); err != nil {
			return nil, err
		}
		if i > 0 {
			fmt.Fprint(w, ",")
		}
		fmt.Fprintf(w, "\n%s", bytes.TrimSuffix(line.Bytes(), []byte("\n")))
	}
	_, err := fmt.Fprint(w, "\n]}\n")
	return out.Bytes(), err
}
