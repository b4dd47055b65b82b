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

	"github.com/celadon-cel/celadon/cmd/celadon/internal/check"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/input"
	"github.com/celadon-cel/celadon/cmd/celadon/internal/sweep"
	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/repl"
)

// host gives a session files and the report of check.
func (a *app) host() repl.Host {
	load := func(path string) ([]repl.Document, error) { return a.loadDocuments(context.Background(), path) }
	return repl.Host{Load: load, Save: saveDocument, Files: filesBelow, Check: checkDocument}
}

// loadDocuments reads what a path holds; of "", nothing.
func (a *app) loadDocuments(ctx context.Context, path string) (docs []repl.Document, err error) {
	if path == "" {
		return nil, nil
	}
	err = sweep.All(ctx, a.stdin, []string{path}, editable, func(e editableRead) error {
		docs = append(docs, e.doc)
		return e.err
	})
	return docs, err
}

type editableRead struct {
	doc repl.Document
	err error
}

func editable(d *input.Document) editableRead {
	data, err := d.JSON()
	if err != nil {
		return editableRead{err: fmt.Errorf("%s: %w", d.Place(), err)}
	}
	text, line, inList := d.Source()
	return editableRead{doc: repl.Document{File: d.File, Text: text, Line: line, InList: inList, Item: d.Item, JSON: data}}
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
			return fmt.Errorf("%s: %w", doc.File, input.WithoutPath(err))
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
		return fmt.Errorf("%s: %w", file, input.WithoutPath(err))
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

// checkDocument is celadon check on one object, with its text report.
func checkDocument(ctx context.Context, e *engine.Engine, obj, old *repl.Document) (string, error) {
	value, err := engine.Decode(obj.JSON)
	if err != nil {
		return "", err
	}
	var before map[string]any
	if old != nil {
		if before, err = engine.Decode(old.JSON); err != nil {
			return "", err
		}
	}
	return check.One(ctx, e, input.Edited(obj.File, obj.Text, obj.Line, obj.Item, obj.InList, value), before)
}
