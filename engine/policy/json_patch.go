package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	celtypes "github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	strictjson "sigs.k8s.io/json"

	"github.com/celadon-cel/celadon/engine/x/celenv"
)

// How it works: the server's own library applies JSON patches. It encodes the lists and objects on the paths of operations
// again for each level above them, and keeps the memory, so the work is estimated before.

// maxCopied is the server's limit on the bytes that the copy operations of a patch add.
const maxCopied = 3 << 20

// applyPatch returns the object after a patch, which shares no memory with object. The error wraps
// jsonpatch.ErrTestFailed if a test failed, and is a StatusError if the server cannot decode the result.
func applyPatch(object map[string]any, patch jsonpatch.Patch, spend spendFunc) (map[string]any, error) {
	data, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("failed to create JSON patch: %w", err)
	}
	if err := spend(patchWork(data, patch)); err != nil {
		return nil, err
	}
	if err := checkCopies(data, patch, spend); err != nil {
		return nil, err
	}
	if data, err = patch.Apply(data); err != nil {
		return nil, fmt.Errorf("JSON Patch: %w", err)
	}
	if len(data) > maxMutated {
		return nil, errTooLarge
	}
	patched, err := decoded(data)
	if err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return patched, nil
}

// decoded decodes an object as the server does, which first looks for its kind.
func decoded(data []byte) (object map[string]any, err error) {
	var typeMeta struct { // as in the server, whose errors name its type
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	if err := json.Unmarshal(data, &typeMeta); err != nil {
		return nil, fmt.Errorf("couldn't get version/kind; json parse error: %w", err)
	}
	if _, err := schema.ParseGroupVersion(typeMeta.APIVersion); err != nil {
		return nil, err
	}
	if err := strictjson.UnmarshalCaseSensitivePreserveInts(data, &object); err != nil {
		return nil, err
	}
	if textOf(object, "kind") == "" {
		return nil, runtime.NewMissingKindErr(string(data))
	}
	return object, nil
}

// patchWork returns an upper bound of the work of applying a patch to the JSON of an object.
func patchWork(object []byte, patch jsonpatch.Patch) uint64 {
	// The library decodes the levels of the paths, moves put them below others, and tests decode everything.
	size, copied, levels, moved, whole, tests := len(object), 0, 1, 0, depth(object), false
	for _, o := range patch {
		for _, field := range []string{"path", "from"} {
			if text := o[field]; text != nil {
				levels = max(levels, bytes.Count(*text, []byte("/")))
			}
		}
		if value := o["value"]; value != nil {
			size, whole = size+len(*value), whole+depth(*value)
		}
		switch o.Kind() {
		case "move":
			moved += bytes.Count(*o["path"], []byte("/"))
		case "copy":
			more := min(size, maxCopied-copied)
			size, copied = size+more, copied+more
		case "test":
			tests = true
		}
	}
	if levels += moved; tests {
		levels += whole
	}
	return uint64(size) * uint64(levels*levelWork+len(patch))
}

// checkCopies returns an error if the copy operations of a patch add more bytes than the server permits. The library
// has that limit in a global variable, which only the program may set.
func checkCopies(object []byte, patch jsonpatch.Patch, spend spendFunc) error {
	most := len(object)
	for _, o := range patch {
		if value := o["value"]; value != nil {
			most += len(*value)
		}
		if o.Kind() == "copy" && most <= maxCopied {
			most *= 2
		}
	}
	if most <= maxCopied {
		return nil
	}
	copied, done := 0, 0
	for i, o := range patch {
		if o.Kind() != "copy" {
			continue
		}
		if err := spend(2 * patchWork(object, patch[done:i+1])); err != nil {
			return err
		}
		const field = "celadon copy" // a field that no object has
		before, err := patch[done:i].Apply(object)
		if err != nil {
			return errWork
		}
		after, err := jsonpatch.Patch{{"op": o["op"], "from": o["from"], "path": rawText("/" + field)}}.Apply(before)
		if err != nil {
			return errWork
		}
		copied += len(after) - len(before) - len(`,"":`+field)
		if copied > maxCopied {
			return fmt.Errorf("JSON Patch: %w", jsonpatch.NewAccumulatedCopySizeError(maxCopied, int64(copied)))
		}
		object, done = before, i
	}
	return nil
}

func depth(data []byte) (most int) {
	quoted, level := false, 0
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			level++
			most = max(most, level)
		case c == '}' || c == ']':
			level--
		}
	}
	return most
}

func patchOf(value ref.Val) (patch jsonpatch.Patch, err error) {
	list, ok := value.(traits.Lister)
	if !ok {
		return nil, errors.New("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	for it := list.Iterator(); it.HasNext() == celtypes.True; {
		item := it.Next()
		given, ok := item.(*celenv.JSONPatchValue)
		if !ok {
			_, err := item.ConvertToNative(reflect.TypeFor[*celenv.JSONPatchValue]())
			return nil, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch: %w", err)
		}
		// The server quotes strings like Go, and its library reads them like JSON.
		o := jsonpatch.Operation{"op": rawText(given.Op), "path": rawText(given.Path)}
		if given.From != "" {
			o["from"] = rawText(given.From)
		}
		if given.Val != nil {
			if o["value"], err = patchValue(given.Val); err != nil {
				return nil, err
			}
		}
		patch = append(patch, o)
	}
	return patch, nil
}

func rawText(text string) *json.RawMessage {
	raw := json.RawMessage(strconv.Quote(text))
	return &raw
}

// patchValue converts numbers to doubles, like the server.
func patchValue(v ref.Val) (*json.RawMessage, error) {
	if object, ok := v.(*celenv.ObjectValue); ok {
		if err := object.CheckTypes(); err != nil {
			return nil, fmt.Errorf("type mismatch: %w", err)
		}
	}
	native, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	var data json.RawMessage
	if err == nil {
		data, err = json.Marshal(native)
	}
	if err != nil {
		return nil, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
	}
	return &data, nil
}

// maxMutated limits an object or patch in bytes. No server stores an object of that size.
const maxMutated = 16 << 20

// maxDepth is the number of levels that encoding/json decodes.
const maxDepth = 10_000

var (
	errTooDeep  = &undecidedError{fmt.Sprintf("the object would have over %d levels, which an API server cannot decode", maxDepth)}
	errTooLarge = &undecidedError{fmt.Sprintf("the object would have over %d MiB", maxMutated>>20)}
)

// nodeBytes is the size of a value without its strings.
const nodeBytes = 16

// copy returns a deep copy. The error is an *undecidedError.
func (r *run) copy(object map[string]any) (map[string]any, error) {
	left := maxMutated
	if err := measure(object, maxDepth, &left); err != nil {
		return nil, err
	}
	if err := r.spend(copyWork * uint64(maxMutated-left)); err != nil {
		return nil, err
	}
	return runtime.DeepCopyJSON(object), nil
}

// measure subtracts the size of v from left. levels is the number of levels that v may have.
func measure(v any, levels int, left *int) error {
	if *left -= nodeBytes; *left < 0 {
		return errTooLarge
	}
	switch v.(type) {
	case []any, map[string]any:
		if levels == 0 {
			return errTooDeep
		}
	}
	switch v := v.(type) {
	case nil, bool, int64, float64:
	case string:
		if *left -= len(v); *left < 0 {
			return errTooLarge
		}
	case []any:
		for _, item := range v {
			if err := measure(item, levels-1, left); err != nil {
				return err
			}
		}
	case map[string]any:
		for name, field := range v {
			*left -= len(name)
			if err := measure(field, levels-1, left); err != nil {
				return err
			}
		}
	default:
		return &undecidedError{fmt.Sprintf("the patch has a value of type %T, on which an API server crashes", v)}
	}
	return nil
}

// sameJSON treats a nil list or map as equal to an empty one, like the server.
func sameJSON(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && maps.EqualFunc(a, b, sameJSON)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, sameJSON)
	}
	return a == b
}
