package vet

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/validation"

	"github.com/celadon-cel/celadon/engine"
	"github.com/celadon-cel/celadon/internal/text/phrase"
)

const largeCRD = "large-crd"

// Sizes that a CRD can exceed. The limit of client-side apply is validation.TotalAnnotationSizeLimitB.
const (
	// maxRelease is the limit of a Secret, in which Helm stores a release as base64 of compressed JSON. The release
	// holds the files of the chart, also as base64. See pkg/storage/driver in helm.sh/helm/v3.
	maxRelease = 1 << 20
	// maxEtcd is the default of etcd's --max-request-bytes. The API server stores CRDs as JSON.
	maxEtcd    = 3 << 19
	mayBeLarge = maxRelease / 2
)

const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Fields that only a server sets do not count.
func sizeLint(raw []byte) *Lint {
	if couldMarshalTo(raw) <= validation.TotalAnnotationSizeLimitB {
		return nil
	}
	crd, err := engine.Decode(raw)
	if err != nil {
		return nil
	}
	annotations := withoutServerFields(crd)
	data, _ := json.Marshal(crd) // cannot fail, because crd was decoded
	size := len(data)
	annotated := size + 1 + len(lastApplied) // kubectl adds a line break
	for key, value := range annotations {
		text, _ := value.(string)
		annotated += len(key) + len(text)
	}
	var over []string
	fix := ""
	switch {
	case size > maxEtcd:
		over = append(over, fmt.Sprintf("etcd rejects it by default, which stores at most %s bytes", phrase.Number(maxEtcd)))
	case size > mayBeLarge && releaseSize(data) > maxRelease:
		over = append(over, fmt.Sprintf("a Helm release with it has more than %s bytes, the limit of a Secret", phrase.Number(maxRelease)))
		fallthrough
	case annotated > validation.TotalAnnotationSizeLimitB:
		over = append(over, fmt.Sprintf("kubectl apply fails, because its annotation last-applied-configuration would exceed the limit of %s bytes for all annotations",
			phrase.Number(uint64(validation.TotalAnnotationSizeLimitB))))
		fix = "use kubectl apply --server-side, or "
	default:
		return nil
	}
	largest, fit := largestParts(crd, size)
	return &Lint{Name: largeCRD, Field: "spec", Message: fmt.Sprintf("the CRD has %s bytes as JSON: %s; %s: %s%s", phrase.Number(uint64(size)), strings.Join(over, ", and "), largest, fix, fit)}
}

// Marshaling JSON again may escape characters.
func couldMarshalTo(raw []byte) int {
	n := len(raw) + len(lastApplied) + len(`,"annotations":{}`) + 1
	for _, b := range raw {
		if b == '<' || b == '>' || b == '&' {
			n += len(`\u003c`) - 1
		}
	}
	return n + 3*bytes.Count(raw, []byte("\u2028")) + 3*bytes.Count(raw, []byte("\u2029"))
}

// withoutServerFields removes the fields that a server sets from a CRD that was read from it. It returns the
// annotations, which are also part of kubectl's annotation.
func withoutServerFields(crd map[string]any) (annotations map[string]any) {
	meta, _ := crd["metadata"].(map[string]any)
	if meta == nil {
		return nil
	}
	if meta["uid"] != nil {
		delete(crd, "status")
	}
	for _, name := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "selfLink"} {
		delete(meta, name)
	}
	annotations, _ = meta["annotations"].(map[string]any)
	if annotations == nil {
		annotations = map[string]any{}
		meta["annotations"] = annotations // as kubectl does
	}
	delete(annotations, lastApplied)
	return annotations
}

// The release consists of one file.
func releaseSize(file []byte) int {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // cannot fail, nor does writing to a buffer
	io.WriteString(w, base64.StdEncoding.EncodeToString(file))
	w.Close()
	return base64.StdEncoding.EncodedLen(b.Len())
}

func largestParts(crd map[string]any, size int) (largest, fix string) {
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	described, most, path, inside := 0, 0, "", ""
	for _, v := range versions {
		version, _ := v.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		n := descriptions(schema["openAPIV3Schema"])
		described += n
		if s := jsonSize(version); s > most {
			most = s
			name, _ := version["name"].(string)
			path, inside = "version "+name, heaviest(schema["openAPIV3Schema"])
		}
	}
	if schema, ok := spec["validation"].(map[string]any); ok { // v1beta1
		described += descriptions(schema["openAPIV3Schema"])
	}
	var parts []string
	if n := percent(described, size); n > 0 {
		parts = append(parts, fmt.Sprintf("descriptions are %d%% of it", n))
	}
	if path != "" {
		parts = append(parts, fmt.Sprintf("%s is %d%%%s", path, percent(most, size), inside))
	}
	largest = strings.Join(parts, ", ")
	switch {
	case described >= size/5 || size-described <= validation.TotalAnnotationSizeLimitB-1024:
		fix = fmt.Sprintf("remove or shorten descriptions (%s bytes without any; controller-gen crd:maxDescLen=0)", phrase.Number(uint64(size-described)))
	case len(versions) > 1:
		fix = "remove versions that are no longer served"
	default:
		fix = "replace embedded types, such as a Pod template, by an object with x-kubernetes-preserve-unknown-fields"
	}
	return largest, fix
}

func percent(part, whole int) int { return 100 * part / max(1, whole) }

// maxHeaviest limits the length of a path, because each step measures everything below it.
const maxHeaviest = 32

// heaviest describes the deepest field that still needs at least half of the schema's size, or returns "".
func heaviest(schema any) string {
	path, whole := "", jsonSize(schema)
	for range maxHeaviest {
		name, next, size := "", any(nil), 0
		for step, child := range childSchemas(schema) {
			if n := jsonSize(child); n > size || n == size && step < name {
				name, next, size = step, child, n
			}
		}
		if 2*size < whole || next == nil {
			break
		}
		path, schema = path+name, next
	}
	if path == "" {
		return ""
	}
	return " (most of it " + strings.TrimPrefix(path, ".") + ")"
}

// The keys are steps in a path, such as ".name" or "[*]".
func childSchemas(schema any) map[string]any {
	object, _ := schema.(map[string]any)
	children := map[string]any{}
	properties, _ := object["properties"].(map[string]any)
	for name, child := range properties {
		children["."+name] = child
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if child, ok := object[key].(map[string]any); ok {
			children["[*]"] = child
		}
	}
	return children
}

func descriptions(schema any) (n int) {
	object, _ := schema.(map[string]any)
	if text, ok := object["description"].(string); ok {
		n = len(`"description":,`) + jsonSize(text)
	}
	for _, child := range childSchemas(schema) {
		n += descriptions(child)
	}
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := object[key].([]any)
		for _, child := range list {
			n += descriptions(child)
		}
	}
	return n
}

func jsonSize(v any) int {
	data, _ := json.Marshal(v)
	return len(data)
}

func (r *Report) addSize(raw []byte, cfg Config) {
	if cfg.VerdictOnly || cfg.Stored || r.Undecided != nil || slices.Contains(cfg.WithoutLints, largeCRD) {
		return
	}
	if l := sizeLint(raw); l != nil {
		r.Lints = append(r.Lints, *l)
	}
}
