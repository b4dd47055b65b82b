// Package convertcrd is celadon convert-crd: it rewrites CRDs of v1beta1 as v1, and
// keeps comments.
package convertcrd

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/cli"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/internal/foreign"
)

// most is how much of a file is read.
const most = 32 << 20

// converter goes through files.
type converter struct {
	cli.Streams
	out io.Writer
	// found counts the CRDs of v1beta1, refused those that v1 will not take.
	found, refused int
	written        bool
}

// Run is the whole of celadon convert-crd. Its error carries the exit code.
func Run(ctx context.Context, s cli.Streams, paths []string) error {
	c := &converter{Streams: s, out: foreign.NewWriter(s.Stdout)}
	for _, path := range paths {
		data, err := c.read(path)
		if err == nil {
			err = c.file(ctx, path, data)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	switch {
	case c.found == 0:
		return errors.New("no CustomResourceDefinition of apiextensions.k8s.io/v1beta1 in what was given")
	case c.refused > 0:
		return &cli.ExitError{Code: cli.Findings}
	}
	return nil
}

func (c *converter) read(path string) ([]byte, error) {
	if path == "-" {
		return input.ReadAll(c.Stdin, most)
	}
	return input.ReadFile(path, most)
}

// file writes all documents of a file. What is no CRD of v1beta1 stays as it is.
func (c *converter) file(ctx context.Context, path string, data []byte) error {
	for i, d := range documents(data) {
		text, err := c.document(ctx, path, d)
		if err == nil {
			text, err = readable(text)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = c.write(text)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", i+1, err)
		}
	}
	return nil
}

func (c *converter) write(text []byte) error {
	if c.written {
		if _, err := io.WriteString(c.out, "---\n"); err != nil {
			return err
		}
	}
	c.written = true
	if !bytes.HasSuffix(text, []byte("\n")) {
		text = append(text, '\n')
	}
	_, err := c.out.Write(text)
	return err
}

// document is a document with its CRDs rewritten: itself, or those of a List.
func (c *converter) document(ctx context.Context, path string, d document) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(d.text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 {
		return d.text, nil
	}
	place := func(n *yaml.Node) string { return fmt.Sprintf("%s:%d", path, d.line+n.Line-1) }
	before, root := c.found, doc.Content[0]
	if beta(root) {
		if err := c.crd(ctx, place(root), root); err != nil {
			return nil, err
		}
	} else if items := get(root, "items"); items != nil && items.Kind == yaml.SequenceNode {
		for i, item := range items.Content {
			if !beta(item) {
				continue
			}
			if err := c.crd(ctx, fmt.Sprintf("%s: items[%d]", place(item), i), item); err != nil {
				return nil, fmt.Errorf("items[%d]: %w", i, err)
			}
		}
	}
	switch {
	case c.found == before:
		return d.text, nil
	case json.Valid(d.text):
		return asJSON(&doc)
	}
	return encoded(&doc)
}

// crd rewrites one, holds that it is the same, and tells of what v1 will say.
func (c *converter) crd(ctx context.Context, place string, crd *yaml.Node) error {
	c.found++
	spec, err := specNode(crd)
	if err != nil {
		return err
	}
	before, err := encoded(crd)
	if err != nil {
		return err
	}
	was, err := specOf(before)
	if err != nil {
		return err
	}
	did, err := rewrite(crd, spec, was["preserveUnknownFields"] == true)
	if err != nil {
		return err
	}
	foreign.Quote(crd)
	after, err := encoded(crd)
	if err != nil {
		return err
	}
	after = []byte(foreign.Text(string(after)))
	if err := same(was, after, did); err != nil {
		return err
	}
	if did.declared {
		foreign.Fprintf(c.Stderr, "%s: unknown fields were kept everywhere: v1 keeps them at the root, and below it where x-kubernetes-preserve-unknown-fields stands\n", place)
	}
	text, err := refusal(ctx, place, after)
	if err == nil && text != "" {
		c.refused++
		foreign.Fprintf(c.Stderr, "%s: v1 will refuse it as it is:\n", place)
		_, err = io.WriteString(c.Stderr, text)
	}
	return err
}

// encoded is a tree as YAML, with its comments.
func encoded(n *yaml.Node) ([]byte, error) {
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

func asJSON(n *yaml.Node) ([]byte, error) {
	var v any
	if err := n.Decode(&v); err != nil {
		return nil, err
	}
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}
