package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/celadon-cel/celadon/internal/minors"
)

// How it works: a document is decoded JSON that is copied into nodes only where operations reach it. The
// semantics are those of gopkg.in/evanphx/json-patch.v4, which the server uses, with its quirks: the text
// before the first slash of a path is ignored, replace adds fields, and negative indexes count from the end.

// Limits of a patch.
const (
	// maxCopied is the server's limit on the bytes that the copy operations of a patch add.
	maxCopied = 3 << 20
	// maxPatchWork limits the items that are moved and the bytes that are read by a patch.
	maxPatchWork = 1 << 31
)

// Errors of patches.
var (
	errMissing      = errors.New("missing value")
	errTestFailed   = errors.New("test failed")
	errInvalidIndex = errors.New("invalid index referenced")
	// errCrash is returned where the server's library panics.
	errCrash = &undecidedError{"the JSON patch reaches a null or absent value on which an API server crashes"}
)

// A patchOperation is an operation of a JSON patch.
type patchOperation struct {
	op, path, from string
	value          *patchNode // nil if absent
}

// quotedText returns text as the server reads it: it quotes text like Go and reads it like JSON, which fails
// for some control characters.
func quotedText(text string) (out string, err error) {
	if !strings.ContainsFunc(text, needsQuotes) {
		return text, nil
	}
	err = json.Unmarshal([]byte(strconv.Quote(text)), &out)
	return out, err
}

func needsQuotes(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

// A patcher applies the operations of a patch.
type patcher struct {
	root   *patchNode
	minor  int
	copied int
	work   int // done so far
}

// applyPatch returns the document after the operations. It does not modify object, but the result shares
// memory with it and with the operations. The error is errTestFailed if a test failed, or that of
// spend, which is called with the work.
func applyPatch(object map[string]any, operations []patchOperation, minor int, spend spendFunc) (out any, err error) {
	p := &patcher{root: &patchNode{value: object}, minor: minor}
	defer func() {
		if over := spend(uint64(p.work)); over != nil {
			out, err = nil, over
		}
	}()
	p.root.expand()
	for i := range operations {
		if err := p.apply(&operations[i]); err != nil {
			return nil, err
		}
		if p.work > maxPatchWork {
			return nil, &undecidedError{"the JSON patch moves or reads too much data"}
		}
	}
	return p.result()
}

func (p *patcher) apply(o *patchOperation) error {
	p.work += len(o.path) + len(o.from) + 1
	op, err := quotedText(o.op)
	if err != nil {
		op = "unknown"
	}
	switch op {
	case "add":
		return p.add(o)
	case "remove":
		return p.remove(o)
	case "replace":
		return p.replace(o)
	case "move":
		return p.move(o)
	case "test":
		return p.test(o)
	case "copy":
		return p.copy(o)
	}
	return errorText("Unexpected kind: " + op)
}

// find returns the list or object that a path leads into, and the last part of the path. It returns nil if
// there is none.
func (p *patcher) find(path string) (in *patchNode, key string) {
	parts := strings.Split(path, "/")
	if len(parts) < 2 {
		return nil, ""
	}
	in = p.root
	for _, part := range parts[1 : len(parts)-1] {
		next, err := in.get(unescapeKey(part))
		if err != nil || next == nil || !next.expand() {
			return nil, ""
		}
		in = next
	}
	return in, unescapeKey(parts[len(parts)-1])
}

var keyUnescaper = strings.NewReplacer("~1", "/", "~0", "~")

func unescapeKey(key string) string { return keyUnescaper.Replace(key) }

func (p *patcher) add(o *patchOperation) error {
	path, err := quotedText(o.path)
	if err != nil {
		return fmt.Errorf("add operation failed to decode path: %w", errMissing)
	}
	in, key := p.find(path)
	if in == nil {
		return fmt.Errorf("add operation does not apply: doc is missing path: \"%s\": %w", path, errMissing)
	}
	return wrapf(p.addTo(in, key, o.value), "error in add for path: '%s'", path)
}

func (p *patcher) addTo(in *patchNode, key string, value *patchNode) error {
	p.work += len(in.list)
	return in.add(key, value)
}

// wrapf adds context to an error, unless it is nil or the result is undecided.
func wrapf(err error, format string, args ...any) error {
	var undecided *undecidedError
	if err == nil || errors.As(err, &undecided) {
		return err
	}
	return fmt.Errorf("%s: %w", fmt.Sprintf(format, args...), err)
}

func (p *patcher) remove(o *patchOperation) error {
	path, err := quotedText(o.path)
	if err != nil {
		return fmt.Errorf("remove operation failed to decode path: %w", errMissing)
	}
	in, key := p.find(path)
	if in == nil {
		return fmt.Errorf("remove operation does not apply: doc is missing path: \"%s\": %w", path, errMissing)
	}
	p.work += len(in.list)
	return wrapf(in.remove(key), "error in remove for path: '%s'", path)
}

// replaceFails are the versions in which replacing the document by a scalar is an error.
var replaceFails = minors.Since(35) // json-patch.v4 4.13.0, patch.go, replace

func (p *patcher) replace(o *patchOperation) error {
	path, err := quotedText(o.path)
	if err != nil {
		return fmt.Errorf("replace operation failed to decode path: %w", err)
	}
	if path == "" {
		return p.replaceRoot(o.value)
	}
	in, key := p.find(path)
	if in == nil {
		return fmt.Errorf("replace operation does not apply: doc is missing path: %s: %w", path, errMissing)
	}
	if _, err := in.get(key); err != nil {
		return fmt.Errorf("replace operation does not apply: doc is missing key: %s: %w", path, errMissing)
	}
	return wrapf(in.set(key, o.value), "error in remove for path: '%s'", path)
}

func (p *patcher) replaceRoot(value *patchNode) error {
	switch {
	case value == nil:
		return errCrash
	case value.expand():
		p.root = value
	case replaceFails.Include(p.minor):
		return errors.New("replace operation value must be object or array: %!w(<nil>)")
	}
	return nil
}

func (p *patcher) move(o *patchOperation) error {
	from, err := o.decodeFrom()
	if err != nil {
		return fmt.Errorf("move operation failed to decode from: %w", err)
	}
	in, key := p.find(from)
	if in == nil {
		return fmt.Errorf("move operation does not apply: doc is missing from path: %s: %w", from, errMissing)
	}
	value, err := in.get(key)
	if err == nil {
		p.work += len(in.list)
		err = in.remove(key)
	}
	if err != nil {
		return wrapf(err, "error in move for path: '%s'", key)
	}
	path, err := quotedText(o.path)
	if err != nil {
		return fmt.Errorf("move operation failed to decode path: %w", err)
	}
	if in, key = p.find(path); in == nil {
		return fmt.Errorf("move operation does not apply: doc is missing destination path: %s: %w", path, errMissing)
	}
	return wrapf(p.addTo(in, key, value), "error in move for path: '%s'", path)
}

func (o *patchOperation) decodeFrom() (string, error) {
	if o.from == "" {
		return "", fmt.Errorf("operation, missing from field: %w", errMissing)
	}
	return quotedText(o.from)
}

func (p *patcher) copy(o *patchOperation) error {
	from, err := o.decodeFrom()
	if err != nil {
		return fmt.Errorf("copy operation failed to decode from: %w", err)
	}
	in, key := p.find(from)
	if in == nil {
		return fmt.Errorf("copy operation does not apply: doc is missing from path: %s: %w", from, errMissing)
	}
	value, err := in.get(key)
	if err != nil {
		return wrapf(err, "error in copy for from: '%s'", from)
	}
	path, err := quotedText(o.path)
	if err != nil {
		return fmt.Errorf("copy operation failed to decode path: %w", errMissing)
	}
	if in, key = p.find(path); in == nil {
		return fmt.Errorf("copy operation does not apply: doc is missing destination path: %s: %w", path, errMissing)
	}
	copied, err := p.clone(value)
	if err != nil {
		return wrapf(err, "error while performing deep copy")
	}
	if p.copied > maxCopied {
		return errorText(fmt.Sprintf("Unable to complete the copy, the accumulated size increase of copy is %d, exceeding the limit %d", p.copied, maxCopied))
	}
	return wrapf(p.addTo(in, key, copied), "error while adding value during copy")
}

func (p *patcher) test(o *patchOperation) error {
	path, err := quotedText(o.path)
	if err != nil {
		return fmt.Errorf("test operation failed to decode path: %w", err)
	}
	value := p.root
	if path != "" {
		in, key := p.find(path)
		if in == nil {
			return fmt.Errorf("test operation does not apply: is missing path: %s: %w", path, errMissing)
		}
		if value, err = in.get(key); err != nil {
			return wrapf(err, "error in test for path: '%s'", path)
		}
	}
	failed := fmt.Errorf("testing value %s failed: %w", path, errTestFailed)
	switch {
	case value == nil && o.value == nil:
		if replaceFails.Include(p.minor) {
			return nil
		}
		return errCrash
	case value == nil || o.value == nil && path != "":
		return failed
	case o.value == nil:
		return errCrash
	}
	equal, err := p.equal(value, o.value)
	if err != nil || equal {
		return err
	}
	return failed
}
