package gotree

import (
	"errors"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

type goMod struct {
	module   string
	requires map[string]string  // version by module
	replaces map[string]replace // by module, or module@version
	uses     []string           // folders of a go.work
}

// replace is the replacement of a module: another module, or a folder if version is "". The folder
// is relative to the repository unless its path is absolute.
type replace struct{ path, version string }

func (m *goMod) replacement(module string) (replace, bool) {
	by, ok := m.replaces[module+"@"+m.requires[module]]
	if !ok {
		by, ok = m.replaces[module]
	}
	return by, ok
}

// readMod reads a go.mod or go.work file of the repository, or returns nil if the file does not exist.
func (t *Tree) readMod(name string) (*goMod, error) {
	data, err := t.read(t.repository, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	m := parseMod(string(data))
	for old, by := range m.replaces {
		if by.version == "" && !path.IsAbs(by.path) {
			m.replaces[old] = replace{path: path.Join(path.Dir(name), by.path)}
		}
	}
	return m, nil
}

// parseMod parses the directives that this package needs and ignores everything else, including
// errors, which the go command reports.
func parseMod(text string) *goMod {
	m := &goMod{requires: map[string]string{}, replaces: map[string]replace{}}
	block := ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "//")
		words := strings.Fields(line)
		for i := range words {
			if s, err := strconv.Unquote(words[i]); err == nil {
				words[i] = s
			}
		}
		switch {
		case len(words) == 0:
		case block != "" && words[0] == ")":
			block = ""
		case block != "":
			m.line(block, words)
		case len(words) == 2 && words[1] == "(":
			block = words[0]
		default:
			m.line(words[0], words[1:])
		}
	}
	return m
}

func (m *goMod) line(verb string, words []string) {
	switch {
	case verb == "module" && len(words) == 1:
		m.module = words[0]
	case verb == "require" && len(words) == 2:
		m.requires[words[0]] = words[1]
	case verb == "use" && len(words) == 1:
		m.uses = append(m.uses, words[0])
	case verb == "replace":
		m.replace(words)
	}
}

// replace parses old [version] => new [version].
func (m *goMod) replace(words []string) {
	for i, word := range words {
		if word != "=>" || i == 0 || i+1 == len(words) {
			continue
		}
		by := replace{path: words[i+1]}
		if i+2 < len(words) {
			by.version = words[i+2]
		}
		m.replaces[strings.Join(words[:i], "@")] = by
	}
}

// escape returns a module path or version in the escaped form of the module cache.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if 'A' <= r && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

func inModule(importPath, module string) (string, bool) {
	rest, ok := strings.CutPrefix(importPath, module)
	if !ok || module == "" || rest != "" && rest[0] != '/' {
		return "", false
	}
	return path.Clean("." + rest), true
}
