package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/report"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/engine/trace"
	"github.com/celadon-cel/celadon/repl"
)

// host gives a session files and the report of check.
func (a *app) host() repl.Host {
	return repl.Host{Load: a.loadDocuments, Save: saveDocument, Files: filesBelow, Check: checkDocument}
}

// loadDocuments reads what a path holds.
func (a *app) loadDocuments(path string) (docs []repl.Document, err error) {
	input.Scan(a.stdin, []string{path}, func() {}, func(c input.Chunk) bool {
		return c.Each(func(d *input.Document) bool {
			var doc repl.Document
			if doc, err = editable(d); err != nil {
				return false
			}
			docs = append(docs, doc)
			return true
		})
	})
	return docs, err
}

func editable(d *input.Document) (repl.Document, error) {
	data, err := d.JSON()
	if err != nil {
		return repl.Document{}, fmt.Errorf("%s: %w", d.Place(), err)
	}
	text, line, inList := d.Source()
	return repl.Document{File: d.File, Text: text, Line: line, InList: inList, Item: d.Item, JSON: data}, nil
}

// saveDocument writes text in place of what doc was read from. A file that
// holds something else by now is left alone.
func saveDocument(doc repl.Document, text []byte, file string) error {
	if doc.File == "-" && file == "" {
		return errors.New("the CRD came from standard input: want :save FILE")
	}
	whole := doc.Text
	if doc.File != "-" {
		var err error
		if whole, err = os.ReadFile(doc.File); err != nil {
			return fmt.Errorf("%s: %w", doc.File, withoutPath(err))
		}
	}
	start := lineOffset(whole, doc.Line)
	if at := bytes.Index(whole[start:], doc.Text); at < 0 {
		return fmt.Errorf("%s: the file has changed since it was read: :load it again, or :save to another FILE", doc.File)
	} else {
		start += at
	}
	after := append(append(bytes.Clone(whole[:start]), text...), whole[start+len(doc.Text):]...)
	if file == "" {
		file = doc.File
	}
	return replaceFile(file, after)
}

func lineOffset(data []byte, line int) int {
	offset := 0
	for ; line > 1; line-- {
		end := bytes.IndexByte(data[offset:], '\n')
		if end < 0 {
			return offset
		}
		offset += end + 1
	}
	return offset
}

// replaceFile writes a file whole or not at all, behind a link too.
func replaceFile(file string, data []byte) error {
	mode := fs.FileMode(0o644)
	if target, err := filepath.EvalSymlinks(file); err == nil {
		file = target
	}
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	temp, err := os.CreateTemp(filepath.Dir(file), ".celadon-*")
	if err != nil {
		return fmt.Errorf("%s: %w", file, withoutPath(err))
	}
	_, err = temp.Write(data)
	err = errors.Join(err, temp.Chmod(mode), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// filesBelow are the paths that begin so: folders, and files that may hold
// objects.
func filesBelow(prefix string) []string {
	folder, name := filepath.Split(prefix)
	entries, err := os.ReadDir(filepath.Join(".", folder))
	if filepath.IsAbs(folder) {
		entries, err = os.ReadDir(folder)
	}
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range entries {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(name, ".")
		switch path := folder + e.Name(); {
		case hidden || !strings.HasPrefix(e.Name(), name):
		case e.IsDir():
			out = append(out, path+string(filepath.Separator))
		case input.Readable(path):
			out = append(out, path)
		}
	}
	return out
}

// withoutPath drops the path from an error that is printed after it.
func withoutPath(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

// checkDocument is celadon check on one object, with its text report.
func checkDocument(ctx context.Context, e *engine.Engine, obj, old *repl.Document) (string, error) {
	value, err := engine.Decode(obj.JSON)
	if err != nil {
		return "", err
	}
	def := &definition{engine: e, explainer: trace.NewExplainer(e)}
	c := &checker{options: &checkOptions{output: "text", validation: "Strict"}}
	doc := input.Edited(obj.File, obj.Text, obj.Line, obj.Item, obj.InList, value)
	rep := newReport(doc)
	rep.Identity = identify(value).Identity
	req := engine.Request{Object: value, FieldValidation: "Strict"}
	rep.Operation = "create"
	if old != nil {
		rep.Operation = "update"
		if req.OldObject, err = engine.Decode(old.JSON); err != nil {
			return "", err
		}
	}
	c.request(ctx, def, req, doc, rep)
	if rep.Bug != nil {
		return "", rep.Bug
	}
	var b bytes.Buffer
	p, err := report.New("text", &b, report.Options{StrictKinds: true})
	if err != nil {
		return "", err
	}
	t := tally{checker: c}
	t.count(rep)
	err = errors.Join(p.Object(rep), p.End(&t.summary))
	return b.String(), err
}
