package requests

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/celadon-cel/celadon/engine/policy"
	"github.com/celadon-cel/celadon/x/policyrequest"
	"github.com/celadon-cel/celadon/x/valuediff"
)

var (
	literal  = regexp.MustCompile(`'([^'\\]*)'|"([^"\\]*)"`)
	number   = regexp.MustCompile(`\b\d{1,15}\b`)
	labelKey = regexp.MustCompile(`(?:labels|annotations|extra)\??\.\??(\w+)`)
)

// maxLiteral limits the length of the strings of a vocabulary, and maxParams the number of strings of a params object
// or a selector.
const (
	maxLiteral = 253
	maxParams  = 100
)

// fillers are values that occur in each vocabulary.
var fillers = []string{"", "x", "true", "false"}

type vocabulary struct {
	keys, labelValues, texts []string
	numbers                  []int64
	metadata                 []string // fields of metadata that objects get because the policy names them
	extra                    []string // keys of userInfo.extra, if the policy names it
}

// vocabulary returns the names and values that occur in the policy, and in the policies that it is compared with: the
// one of the same name, or all.
func (q *question) vocabulary() vocabulary {
	documents := []*document{q.document}
	if q.other != nil {
		others := q.other.policies
		if i := slices.IndexFunc(others, func(d *document) bool { return d.name == q.document.name }); i >= 0 {
			others = others[i : i+1]
		}
		documents = append(documents, others...)
	}
	texts, keys, numbers := map[string]bool{}, map[string]bool{}, map[int64]bool{}
	for _, filler := range fillers {
		texts[filler] = true
	}
	named := ""
	for _, d := range documents {
		d.addWords(texts, keys, numbers)
		named += strings.Join(d.expressions(), " ")
	}
	v := vocabulary{texts: slices.Sorted(maps.Keys(texts)), numbers: slices.Sorted(maps.Keys(numbers))}
	for _, field := range []string{"finalizers", "ownerReferences"} {
		if strings.Contains(named, field) {
			v.metadata = append(v.metadata, field)
		}
	}
	for _, s := range v.texts {
		if len(validation.IsQualifiedName(s)) == 0 {
			keys[s] = true
		}
		if len(validation.IsValidLabelValue(s)) == 0 {
			v.labelValues = append(v.labelValues, s)
		}
	}
	delete(keys, "")
	if v.keys = slices.Sorted(maps.Keys(keys)); slices.Contains(identifier.FindAllString(named, -1), "extra") && strings.Contains(named, "userInfo") {
		v.extra = v.keys
	}
	return v
}

func (d *document) addWords(texts, keys map[string]bool, numbers map[int64]bool) {
	for _, word := range d.words {
		texts[word] = true
	}
	for _, params := range d.params {
		for _, text := range stringsIn(params, nil) {
			texts[text] = true
		}
	}
	for _, expression := range d.expressions() {
		for _, m := range literal.FindAllStringSubmatch(expression, -1) {
			if text := m[1] + m[2]; len(text) < maxLiteral {
				texts[text] = true
				if text != "" && strings.ContainsAny(text[len(text)-1:], "/-.:") { // a prefix of keys or names
					texts[text+"x"] = true
				}
				if text != "" && strings.ContainsAny(text[:1], "-.:") { // a suffix
					texts["x"+text] = true
				}
			}
		}
		for _, text := range number.FindAllString(literal.ReplaceAllString(expression, ""), -1) {
			if n, err := strconv.ParseInt(text, 10, 64); err == nil {
				numbers[n] = true
			}
		}
		for _, m := range labelKey.FindAllStringSubmatch(expression, -1) {
			keys[m[1]] = true
		}
	}
	for _, selector := range d.selectors {
		for key := range object(selector, "matchLabels") {
			keys[key] = true
		}
		for _, one := range list(selector, "matchExpressions") {
			keys[text(one, "key")] = true
		}
		for _, text := range stringsIn(selector, nil) {
			texts[text] = true
		}
	}
}

// stringsIn appends the strings in a value to list, within the limits. It ignores metadata, apiVersion, and kind.
func stringsIn(v any, list []string) []string {
	if s, ok := v.(string); ok && len(s) <= maxLiteral && len(list) < maxParams {
		list = append(list, s)
	}
	for step, item := range valuediff.Children(v) {
		if !slices.Contains([]string{"metadata", "apiVersion", "kind"}, step.Name) {
			list = stringsIn(item, list)
		}
	}
	return list
}

func (q *question) varied(ctx context.Context, operation policy.Operation, yield func(*policy.Request) bool) {
	words := q.vocabulary()
	vary := func(req *policy.Request) bool {
		q.vary(req, &words)
		return yield(req)
	}
	for range q.cfg.Steps / 3 { // most policies match at most three forms of requests
		if q.err = ctx.Err(); q.err != nil || len(q.objects) == 0 || q.work.Empty() {
			return
		}
		if !q.try(ctx, operation, q.variant(&words), q.variant(&words), vary) {
			return
		}
	}
}

func (q *question) variant(words *vocabulary) map[string]any {
	obj := maps.Clone(pick(q.Finder, q.objects))
	meta := maps.Clone(object(obj, "metadata"))
	for _, field := range []string{"annotations", "labels"} {
		values := words.texts
		if field == "labels" {
			values = words.labelValues
		}
		set := maps.Clone(object(meta, field))
		if set == nil {
			set = map[string]any{}
		}
		for range q.random.IntN(3) {
			if len(words.keys) > 0 {
				set[pick(q.Finder, words.keys)] = pick(q.Finder, values)
			}
		}
		if delete(meta, field); len(set) > 0 {
			meta[field] = set
		}
	}
	for _, field := range words.metadata {
		switch text := pick(q.Finder, words.texts); {
		case q.random.IntN(2) == 0:
		case field == "finalizers":
			meta[field] = []any{pick(q.Finder, []string{text, "example.com/x"})}
		default:
			meta[field] = []any{map[string]any{"apiVersion": "v1", "kind": cmp.Or(text, "ConfigMap"), "name": requiredText, "uid": "1"}}
		}
	}
	if name := pick(q.Finder, words.texts); q.random.IntN(4) == 0 && len(validation.IsDNS1123Subdomain(name)) == 0 {
		meta["name"] = name
	}
	obj["metadata"] = meta
	return obj
}

func (q *question) vary(req *policy.Request, words *vocabulary) {
	if q.random.IntN(2) == 0 {
		req.User = ordinary
	}
	name := pick(q.Finder, words.texts)
	if name == "" {
		return
	}
	if len(words.extra) > 0 && q.random.IntN(2) == 0 {
		req.User = withExtra(req.User, pick(q.Finder, words.extra), name)
		name = cmp.Or(pick(q.Finder, words.texts), name)
	}
	switch q.random.IntN(4) {
	case 0:
		extra := req.User.Extra
		req.User = policyrequest.User(name, nil)
		req.User.Extra = extra
	case 1:
		req.User.Groups = append(slices.Clone(req.User.Groups), name)
	case 2:
		if !slices.Contains(fillers, name) {
			move(req, name)
		}
	}
}

func withExtra(user policy.User, key, value string) policy.User {
	extra := maps.Clone(user.Extra)
	if extra == nil {
		extra = map[string][]string{}
	}
	extra[key], user.Extra = []string{value}, extra
	return user
}

// move moves a request to another namespace, if it and its object have one and the new name is valid. It reports
// whether it did.
func move(req *policy.Request, namespace string) bool {
	namespace = strings.ToLower(namespace)
	of := req.Object
	if of == nil {
		of = req.OldObject
	}
	if len(validation.IsDNS1123Label(namespace)) > 0 || req.Namespace == "" || text(object(of, "metadata"), "namespace") != req.Namespace {
		return false
	}
	req.Namespace, req.Object, req.OldObject = namespace, inNamespace(req.Object, namespace), inNamespace(req.OldObject, namespace)
	return true
}

func inNamespace(obj map[string]any, namespace string) map[string]any {
	if obj == nil {
		return nil
	}
	return with(obj, "metadata", with(object(obj, "metadata"), "namespace", namespace))
}

func pick[T any](f *Finder, list []T) T { return list[f.random.IntN(len(list))] }
