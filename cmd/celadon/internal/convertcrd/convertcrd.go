// Package convertcrd is celadon convert-crd: it rewrites CRDs of v1beta1 as v1, and
// keeps comments.
package convertcrd

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

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
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for n := 1; ; n++ {
		text, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			text, err = c.document(ctx, path, text)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err == nil && len(bytes.TrimSpace(text)) > 0 {
			err = c.write(text)
		}
		if err != nil {
			return fmt.Errorf("document %d: %w", n, err)
		}
	}
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
func (c *converter) document(ctx context.Context, path string, text []byte) ([]byte, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) != 1 {
		return text, nil
	}
	crds := betas(doc.Content[0])
	for _, crd := range crds {
		if err := c.crd(ctx, path, crd); err != nil {
			return nil, err
		}
	}
	if len(crds) == 0 {
		return text, nil
	}
	if bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) {
		return asJSON(&doc)
	}
	return encoded(&doc)
}

// betas are the CRDs of v1beta1 in a document.
func betas(root *yaml.Node) (crds []*yaml.Node) {
	if beta(root) {
		return []*yaml.Node{root}
	}
	if items := get(root, "items"); items != nil && items.Kind == yaml.SequenceNode {
		for _, item := range items.Content {
			if beta(item) {
				crds = append(crds, item)
			}
		}
	}
	return crds
}

// crd rewrites one, holds that it is the same, and tells of what v1 will say.
func (c *converter) crd(ctx context.Context, path string, crd *yaml.Node) error {
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
	line := crd.Line
	did, err := rewrite(crd, spec, was["preserveUnknownFields"] == true)
	if err != nil {
		return err
	}
	after, err := encoded(crd)
	if err != nil {
		return err
	}
	if err := same(was, after, did); err != nil {
		return err
	}
	place := fmt.Sprintf("%s:%d", path, line)
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
