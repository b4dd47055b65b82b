package check

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/celadon-cel/celadon/builtin"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/command"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/finding"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/resource/verdict"
)

// How it works. Each shard reads all input and validates its own objects. Objects are assigned to shards by kind,
// namespace, and name, so an object and its old version always land in the same shard. Documents
// without an apiVersion or kind belong to the first shard.

// shardOf returns the shard of an object. The algorithm is a published contract: the first eight
// bytes of the SHA-256 of the key, as a big-endian number, modulo of.
func shardOf(key string, of int) int {
	if key == "" {
		return 0
	}
	sum := sha256.Sum256([]byte(key))
	return int(binary.BigEndian.Uint64(sum[:8]) % uint64(of))
}

func parseShard(text string) (finding.Shard, error) {
	if text == "" {
		return finding.Shard{Of: 1}, nil
	}
	index, of, ok := strings.Cut(text, "/")
	i, err1 := strconv.Atoi(index)
	n, err2 := strconv.Atoi(of)
	if !ok || err1 != nil || err2 != nil || i < 0 || n < 1 || i >= n || n > finding.MaxShards {
		return finding.Shard{}, fmt.Errorf("--shard %q: want I/N, I from 0 to N-1 and N up to %d", text, finding.MaxShards)
	}
	return finding.Shard{Index: i, Of: n}, nil
}

func (o *Options) partial() bool { return o.Shard != "" || o.Source != "" }

func (o *Options) checkParts() (err error) {
	if o.shard, err = parseShard(o.Shard); err != nil {
		return err
	}
	if o.Source != "" {
		if err := finding.CheckSource(o.Source); err != nil {
			return fmt.Errorf("--source: %w", err)
		}
	}
	if o.Run != "" {
		if err := finding.CheckSource(o.Run); err != nil {
			return fmt.Errorf("--run: %w", err)
		}
	}
	switch {
	case o.Sources < 0 || o.Sources > finding.MaxShards:
		return fmt.Errorf("--sources %d: want 1 to %d, or 0 if unknown", o.Sources, finding.MaxShards)
	case o.Sources > 0 && o.Source == "":
		return errors.New("--sources: use it with --source")
	case o.Run != "" && !o.partial():
		return errors.New("--run: use it with --shard or --source")
	case o.partial() && o.Output == "jsonl" && o.MaxFindings > 0:
		return errors.New("--max-findings: a report to merge must have all findings: use it with celadon merge")
	case o.Shard != "" && o.BaselineOut != "":
		return errors.New("--baseline-out: a shard does not have all findings: use it with celadon merge")
	}
	return o.checkReport()
}

// elsewhere returns false for an object that could not be read from a cluster, because another shard may have read
// it.
func (o *Options) elsewhere(rep *finding.Object) bool {
	return (rep.Key != "" || !o.Cluster.On) && !o.owns(rep.Key)
}

func (o *Options) owns(key string) bool {
	return o.shard.Of <= 1 || shardOf(key, o.shard.Of) == o.shard.Index
}

// reportsPart reports whether the report is for celadon merge.
func (o *Options) reportsPart() bool { return o.partial() && o.Output == "jsonl" }

// head returns nil if the report is not partial. The digest of the CRDs is added later.
func (o *Options) head(kubeVersion string) *finding.PartHead {
	if !o.reportsPart() {
		return nil
	}
	return &finding.PartHead{
		Kind: finding.Kind, APIVersion: finding.APIVersion, KubeVersion: kubeVersion, Version: command.Version(),
		Source: o.Source, Sources: o.Sources, Run: o.Run, Shard: o.shard, Live: o.Cluster.On, Flags: o.significantFlags(),
	}
}

// The flags that affect verdicts or the report: those whose values must be equal in all shards, and those whose values are
// paths, which may differ, or that have no value.
var (
	flagsWithValue = []string{
		"validate", "subresource", "field-selector", "base", "namespace", "selector", "convert", "ignore-field", "apply",
		"field-manager", "admission-plugins", "as", "as-group", "as-user-extra", "operation", "exclude",
	}
	flagsWithout = []string{
		"all-namespaces", "convert-ca", "old", "kustomize", "helm", "substitute", "force-conflicts", "crd-old", "strict-kinds",
		"no-vet", "persisted", "summary", "baseline", "policy",
	}
)

func (o *Options) significantFlags() []string {
	flags := []string{}
	for _, name := range slices.Concat(flagsWithValue, flagsWithout) {
		f := o.flags.Lookup(name)
		value, isDefault := f.Value.String(), f.Value.String() == f.DefValue
		switch name {
		case "validate": // whose values have synonyms
			value, isDefault = o.validation, o.validation == "Strict"
		case "admission-plugins": // empty for no plugins
			isDefault = slices.Equal(o.Plugins, builtin.Plugins(true))
		}
		switch {
		case isDefault:
		case slices.Contains(flagsWithValue, name):
			flags = append(flags, "--"+name+"="+value)
		default:
			flags = append(flags, "--"+name)
		}
	}
	return flags
}

func (c *checker) digest() string {
	h := sha256.New()
	for _, d := range []*verdict.CRDs{c.CRDs, c.Before} {
		if d == nil {
			continue
		}
		for _, def := range d.All {
			spec := def.CRD.Spec
			if conversion := spec.Conversion; conversion != nil { // its CA bundle changes when the certificate is renewed
				spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: conversion.Strategy}
			}
			data, err := json.Marshal(spec)
			fmt.Fprintf(h, "%q %d %v\n", def.CRD.Name, len(data), err)
			h.Write(data)
		}
		for _, problem := range d.Problems {
			fmt.Fprintf(h, "%q\n", problem)
		}
		h.Write([]byte{0})
	}
	if c.Admission != nil {
		c.Admission.Policies.Hash(h)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// inputDigest counts the documents that a part read, including documents of other shards, and hashes their
// locations and keys.
type inputDigest struct {
	documents int64
	input     hash.Hash
}

// add sets r.At to the number of the document.
func (s *inputDigest) add(r *finding.Object) {
	if s.input == nil {
		s.input = sha256.New()
	}
	r.At = s.documents
	s.documents++
	fmt.Fprintf(s.input, "%q %d %d %q\n", r.File, r.Document, r.Item, r.Key)
}

func (s *inputDigest) digest() string {
	if s.input == nil {
		return ""
	}
	return hex.EncodeToString(s.input.Sum(nil))
}

// Results holds the results of other runs, in the order of their input. The functions return the errors of take
// unchanged; their own errors are *command.ExitError.
type Results struct {
	// Head holds the settings that all runs share.
	Head *finding.PartHead
	// CRDs yields all CRDs. Objects yields all objects and the end of each part.
	CRDs    func(take func(*finding.CRD) error) error
	Objects func(take func(*finding.Object) error, end func(source string, l *finding.PartLine)) error
	// Missing lists the parts without a report. Unclear is set if there was another problem, which has been printed.
	Missing []string
	Unclear bool
}

// WriteMerged writes the report of other runs' results, as a single run over all the input would.
func WriteMerged(ctx context.Context, s command.Streams, o *Options, d *Results) error {
	if err := o.checkReport(); err != nil {
		return err
	}
	o.NoVet = true // the CRDs were vetted by the other runs
	o.StrictKinds, o.Summary = d.Head.Has(finding.StrictKinds), d.Head.Has(finding.WithTables)
	r := &runner{s}
	t, err := r.tally(ctx, o, d.Head.KubeVersion)
	if err != nil {
		return err
	}
	defer t.to.discard()
	t.summary.Missing, t.parts.unclear = d.Missing, d.Unclear
	steps := []func() error{
		func() error {
			defer t.to.bar.Done()
			return d.Objects(func(r *finding.Object) error {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				return t.again(r)
			}, t.ended)
		},
		func() error {
			if d.Head.Has(finding.NoVet) {
				return nil
			}
			t.summary.CRDs = &finding.CRDSummary{}
			return d.CRDs(t.crd)
		},
	}
	if o.Output == "text" || o.Reports.Has("text") { // as in a single run
		slices.Reverse(steps)
	}
	for _, step := range steps {
		if err == nil {
			err = step()
		}
	}
	if err == nil {
		err = t.to.flush()
	}
	if ctx.Err() != nil {
		err = nil // finish reports the interruption
	}
	return r.finish(ctx, t, err)
}

func (t *tally) ended(source string, l *finding.PartLine) {
	s, end := l.Summary, l.End
	t.summary.Vanished += s.Vanished
	t.addOld(source, s.Old)
	t.unselected += end.Unselected
	if t.parts.problems == nil {
		t.parts.problems = map[string]bool{}
	}
	for _, text := range end.Problems {
		if text = finding.InSource(source, text); !t.parts.problems[text] { // not yet reported by another shard
			t.parts.problems[text] = true
			t.problems = append(t.problems, errors.New(text))
		}
	}
	t.stale = append(t.stale, end.Stale...)
	if t.tables != nil {
		t.tables.AddPart(s.Kinds, end.Rules)
	}
	if s.Baseline != nil && t.summary.Baseline == nil {
		t.summary.Baseline = &finding.BaselineSummary{}
	}
}

// addOld adds the counts of old objects of a part. All shards of a source read the same old objects, so they are
// counted as given once per source.
func (t *tally) addOld(source string, part *finding.OldSummary) {
	if part == nil {
		return
	}
	if t.summary.Old == nil {
		t.summary.Old, t.parts.olds = &finding.OldSummary{}, map[string]bool{}
	}
	if !t.parts.olds[source] {
		t.parts.olds[source] = true
		t.summary.Old.Given += part.Given
	}
	t.summary.Old.Matched += part.Matched
}

func (t *tally) again(r *finding.Object) error {
	if t.baseline != nil {
		t.baseline.see(r.Source, r.File)
	}
	t.to.bar.Add(1)
	if !t.options.explains() {
		r.Following = nil
		for i := range r.Causes {
			r.Causes[i].Values, r.Causes[i].NotShown = nil, ""
		}
	}
	return t.object(r)
}
